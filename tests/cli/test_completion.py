#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The completions: bash's by running it; of tape also under its own name."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from harness import TRACER, contains, equal, main, run, test

# What is asked of a word, with a stand-in for bash-completion's own way to hand over.
ASK = """_command_offset() {
local w=("${COMP_WORDS[@]:$1}"); COMPREPLY=("to ${w[*]}, $COMP_LINE")
}
eval "$(%s __completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
spec=$(complete -p "${1##*/}"); f=${spec##*-F }; ${f%% *}
echo "${COMPREPLY[*]}"
"""


def ask(*words):
    return run(["bash", "-c", ASK % TRACER, "bash", *words]).ok().out.strip()


@test(root=False)
def options_by_both_names():
    for words in (["tracer", "tape"], ["tape"], ["/usr/bin/tape"]):
        equal(ask(*words, "--on"), "--only-matching --onig", f"{words}")
        equal(ask(*words, "-f", ""), "", f"{words}: a list")
    equal(ask("tracer", "ta"), "tape", "a command")


@test(root=False)
def recordings_are_directories():
    for command in ("replay", "dump", "ps", "pack"):
        equal(ask("tracer", command, "/usr/li")[:8], "/usr/lib", command)
    equal(ask("tracer", "pack", "--q"), "--quiet", "an option")
    contains(ask("tracer", "record", "--", "ls", "-"), "to ls -, ", "record")


@test(root=False)
def a_command_completes_itself():
    equal(ask("tape", "-f", "2", "--", "sed", "-"), "to sed -, tracer tape -f 2 -- sed -", "tape")
    contains(ask("tracer", "tape", "-og", ".", "--", "sed", "-"), "to sed -, ", "tracer tape")
    contains(ask("tracer", "run", "--", "ls", "-"), "to ls -, ", "run")


@test(root=False)
def other_shells_know_the_name():
    zsh, fish = (run([TRACER, "__completion", s]).ok().out for s in ("zsh", "fish"))
    contains(zsh, "#compdef tracer tape\n", "zsh")
    tape = zsh.split("\n\ttape)\n")[1].split(";;")[0]
    contains(tape, "'(-)1:command: _command_names -e'", "zsh's command")
    contains(fish, "complete -c tape -s o -l only-matching", "fish")
    contains(fish, "complete -c tape -x -a '(__fish_complete_subcommand)'", "fish's command")


main()
