# SPDX-License-Identifier: MIT
# Reads what `make demo` printed; ends with 1, and says why, when a table of one of
# its two programs is missing or does not have what that program is known to do.

function want(where, pattern, what) {
	if (text[where] !~ pattern) {
		printf "demo: %s: %s\n", program[where], what
		bad = 1
	}
}

function has_tables(where,   i, n, name) {
	n = split("TRACED|FINDINGS|THREADS|LOCKS|PIPES|SYSTEM CALLS|SCHEDULING", name, "|")
	for (i = 1; i <= n; i++)
		want(where, "\n" name[i] "  ", "no table " name[i])
	want(where, "\n +100[.]00 .* total\n", "no total of the system calls")
	want(where, "exit code 0", "no exit code 0")
}

/^\$ tracer run / { n++ }
{ text[n] = text[n] "\n" $0 }

END {
	program[1] = "the workload"
	program[2] = "xz"
	if (n != 2) {
		printf "demo: %d programs were traced, not 2\n", n
		exit 1
	}
	has_tables(1)
	has_tables(2)
	want(1, "accounts_lock", "the contended lock is not named")
	want(1, "\nTHREADS  3,00[0-9] created", "no storm of 3,000 threads")
	want(1, "produce [(][0-9]+[)] → transform [(]", "no first edge of the pipeline")
	want(1, "transform [(][0-9]+[)] → store [(]", "no second edge of the pipeline")
	want(2, "\nTHREADS  2 created, 2 ended", "xz made no two threads")
	want(2, " condvar", "xz's threads were not seen to wait for each other")
	exit bad
}
