/* SPDX-License-Identifier: MIT */
#include "collect/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/clock.h"
#include "base/io.h"
#include "out/escape.h"

#define FILE_BYTES ((size_t)1 << 20)
#define GIT_MS 10000	/* a repository that takes longer has no commit for us */

/* ---- the machine ---- */

static char *first_line(char *s)
{
	s[strcspn(s, "\n")] = '\0';
	return s;
}

/* The value of "NAME<blanks>: VALUE" in what /proc/cpuinfo and its like hold; NULL. */
static char *field(char *text, const char *name)
{
	size_t n = strlen(name);
	char *line = text, *next;

	for (; line && *line; line = next ? next + 1 : NULL) {
		next = strchr(line, '\n');
		if (strncmp(line, name, n) || !strchr(" \t:", line[n]))
			continue;
		line = strchr(line, ':');
		if (!line)
			return NULL;
		line++;
		return first_line(line + strspn(line, " \t"));
	}
	return NULL;
}

/* A copy of @s, made printable, in the machine's text: its offset. */
static size_t keep(struct machine *m, const char *s)
{
	size_t at = m->text.len;

	if (s)
		escape_term(&m->text, s, strlen(s), false);
	buf_addc(&m->text, '\0');
	return at;
}

static size_t keep_file(struct machine *m, const char *path)
{
	struct buf b = BUF_INIT;
	size_t at = keep(m, io_read_file(path, &b, FILE_BYTES) || !b.data ? NULL :
			    first_line(b.data));

	buf_release(&b);
	return at;
}

static size_t keep_cpu(struct machine *m)
{
	struct buf b = BUF_INIT;
	char *name = NULL;
	size_t at;

	if (!io_read_file("/proc/cpuinfo", &b, FILE_BYTES) && b.data)
		name = field(b.data, "model name");
	at = keep(m, name);
	buf_release(&b);
	return at;
}

static uint64_t memory_bytes(void)
{
	struct buf b = BUF_INIT;
	char *kib = NULL;
	uint64_t bytes;

	if (!io_read_file("/proc/meminfo", &b, FILE_BYTES) && b.data)
		kib = field(b.data, "MemTotal");
	bytes = kib ? strtoull(kib, NULL, 10) * 1024 : 0;
	buf_release(&b);
	return bytes;
}

/* proc(5): user nice system idle iowait irq softirq steal; guests are in user. */
static double steal_share(void)
{
	struct buf b = BUF_INIT;
	uint64_t ticks, all = 0, stolen = 0;
	char *at, *end;
	int i = 0;

	if (!io_read_file("/proc/stat", &b, FILE_BYTES) && b.data && !strncmp(b.data, "cpu ", 4)) {
		for (at = b.data + 4; i < 8; i++, at = end) {
			ticks = strtoull(at, &end, 10);
			if (end == at)
				break;
			all += ticks;
			stolen = ticks;
		}
	}
	buf_release(&b);
	return i == 8 && all ? (double)stolen / (double)all : NAN;
}

int machine_look(struct machine *m)
{
	size_t cpu, governor, kernel, vendor;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname un;

	memset(m, 0, sizeof(*m));
	cpu = keep_cpu(m);
	governor = keep_file(m, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	kernel = keep(m, uname(&un) ? NULL : un.release);
	vendor = keep_file(m, "/sys/class/dmi/id/sys_vendor");
	m->steal = steal_share();
	if (getloadavg(&m->load, 1) != 1)
		m->load = NAN;
	if (m->text.failed)
		return -ENOMEM;
	m->facts.cpu_model = m->text.data + cpu;
	m->facts.governor = m->text.data + governor;
	m->facts.kernel = m->text.data + kernel;
	m->facts.vendor = m->text.data + vendor;
	m->facts.cores = cores > 0 ? (uint64_t)cores : 0;
	m->facts.memory_bytes = memory_bytes();
	return 0;
}

void machine_release(struct machine *m)
{
	buf_release(&m->text);
}

/* ---- the commit ---- */

static void run_git(const struct caller *c, const char *const argv[], int out)
{
	int null = open("/dev/null", O_RDWR);

	if (caller_become(c) || null < 0 || dup2(null, 0) < 0 || dup2(null, 2) < 0 ||
	    dup2(out < 0 ? null : out, 1) < 0)
		_exit(127);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* Reads all that it prints, for at most GIT_MS; false: too long. */
static bool drain(int fd, struct buf *text)
{
	uint64_t end = clock_mono_ns() + GIT_MS * 1000000ull, now;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char part[256];
	ssize_t n;

	for (;;) {
		now = clock_mono_ns();
		if (now >= end || (poll(&p, 1, (int)((end - now) / 1000000 + 1)) < 0 &&
				   errno != EINTR))
			return false;
		if (!p.revents)
			continue;
		n = read(fd, part, sizeof(part));
		if (n <= 0)
			return n == 0;
		if (text->len < FILE_BYTES)
			buf_add(text, part, (size_t)n);
	}
}

/* Its exit code, and what it printed in @text; -1: it did not end well, or there is none. */
static int git(const struct caller *c, const char *const argv[], struct buf *text)
{
	int ends[2], status = -1;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		run_git(c, argv, ends[1]);
	close(ends[1]);
	if (pid > 0) {
		if (!drain(ends[0], text))
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void machine_commit(char commit[MACHINE_COMMIT + 1], bool *dirty)
{
	static const char *const head[] = { "git", "rev-parse", "--verify", "-q", "HEAD", NULL };
	static const char *const diff[] = { "git", "diff-index", "--quiet", "HEAD", "--", NULL };
	struct buf text = BUF_INIT;
	struct caller c;
	size_t n = 0;

	*dirty = false;
	commit[0] = '\0';
	(void)caller_find(&c);
	if (!git(&c, head, &text) && text.data)
		n = strspn(text.data, "0123456789abcdef");
	if (n && n <= MACHINE_COMMIT && text.data[n] == '\n') {
		memcpy(commit, text.data, n);
		commit[n] = '\0';
		buf_reset(&text);
		*dirty = git(&c, diff, &text) == 1;
	}
	buf_release(&text);
}
