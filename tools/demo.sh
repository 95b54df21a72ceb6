#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces two real programs and prints the tables: demo.sh BUILD.
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:-build}
tracer=$build/tracer

say() {
	printf '\n\033[1m$ %s\033[0m\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat
	else sed 's/\x1b\[[0-9]*m//g'; fi
}

tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT INT TERM

# Something large and real to compress: what clang is made of.
data=
for f in /usr/lib/*/libLLVM-*.so* /usr/lib/*/libclang-cpp.so* /usr/lib/*/libc.so.6; do
	[ -f "$f" ] && data=$f && break
done
[ -n "$data" ] || { echo "demo: no large library is there to compress" >&2; exit 2; }

say "tracer run $build/tests/workloads/demo"
"$tracer" run -o "$tmp/demo.txt" -- "$build/tests/workloads/demo" >/dev/null || {
	code=$?
	cat "$tmp/demo.txt" 2>/dev/null
	echo "demo: tracer run ended with exit code $code" >&2
	exit "$code"
}
cat "$tmp/demo.txt"

head -c 32000000 "$data" >"$tmp/data"
say "tracer run -- xz -T2 -2 -k $(basename "$data")   (its first 32 MB)"
"$tracer" run -o "$tmp/xz.txt" -- xz -T2 -2 -k "$tmp/data" || {
	code=$?
	cat "$tmp/xz.txt" 2>/dev/null
	echo "demo: tracer run ended with exit code $code" >&2
	exit "$code"
}
cat "$tmp/xz.txt"
echo
echo "The first program's pace is set by one lock, 3000 threads and a slow pipeline stage; the"
echo "source says where: tests/workloads/demo.c. Your own: sudo $tracer run -- COMMAND"
