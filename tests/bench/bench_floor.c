/* SPDX-License-Identifier: MIT */
/*
 * bench_floor exact|wait|empty [CMD...]: attaches empty BPF programs where the
 * tracer attaches its own in that mode, then runs CMD as `tracer run` does and
 * returns its code. Without CMD it says "attached" on stderr and stays until it
 * is interrupted or its parent is gone.
 *
 *   exact   scheduler, births and system calls, whose programs read the clock
 *   wait    scheduler and births
 *   empty   as exact, and no program does anything: what does not count needs no
 *           clock
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_floor.skel.h"

static int failed(const char *what, int error)
{
	fprintf(stderr, "bench_floor: cannot %s: %s\n", what, strerror(error));
	return 125;
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return failed("fork", errno);
	if (!pid) {
		execvp(argv[0], argv);
		_exit(errno == ENOENT ? 127 : 126);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return failed("wait", errno);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	bool calls = !strcmp(mode, "exact") || !strcmp(mode, "empty");
	struct bench_floor *b;
	int r;

	if (!calls && strcmp(mode, "wait")) {
		fprintf(stderr, "usage: bench_floor exact|wait|empty [CMD...]\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	b = bench_floor__open();
	if (!b)
		return failed("open the programs", errno);
	b->rodata->read_clock = !strcmp(mode, "exact");
	bpf_program__set_autoload(b->progs.floor_enter, calls);
	bpf_program__set_autoload(b->progs.floor_exit, calls);
	r = bench_floor__load(b);
	if (r)
		return failed("load the programs", -r);
	r = bench_floor__attach(b);
	if (r)
		return failed("attach the programs", -r);
	if (argc > 2) {
		r = run(argv + 2);
	} else {
		fprintf(stderr, "attached\n");
		r = pause();
	}
	bench_floor__destroy(b);
	return r < 0 ? 0 : r;
}
