/* SPDX-License-Identifier: MIT */
#include "rr/recabout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "out/jread.h"
#include "out/json.h"
#include "out/outstream.h"
#include "out/shellword.h"
#include "tracer/version.h"

#define ABOUT_VERSION 1
#define BYTES_MOST ((size_t)16 << 20)	/* of arguments there are 2 MiB, escaped */

extern char **environ;

/* The first "model name" of /proc/cpuinfo. */
static void add_processor(struct buf *name)
{
	struct buf b = BUF_INIT;
	char *at, *end;

	if (!io_read_file("/proc/cpuinfo", &b, BYTES_MOST) && b.data &&
	    (at = strstr(b.data, "model name")) && (at = strchr(at, ':')) &&
	    (end = strchr(at, '\n'))) {
		*end = '\0';
		buf_adds(name, at + 1 + (at[1] == ' '));
	}
	buf_release(&b);
}

static void put_processor(struct json *j)
{
	struct buf name = BUF_INIT;

	add_processor(&name);
	if (name.len)
		json_str(j, "processor", name.data);
	buf_release(&name);
}

/* By which a replay tells whether programs find the same processor. */
static void put_cpuid(struct json *j)
{
	uint32_t word[CPUID_WORDS];

	cpuid_read(word);
	json_array(j, "cpuid");
	for (int i = 0; i < CPUID_WORDS; i++)
		json_u64(j, NULL, word[i]);
	json_end(j);
}

static void put_machine(struct json *j, const struct caller *who)
{
	const struct passwd *pw = getpwuid(who->uid);
	char cwd[PATH_MAX];
	uint64_t n = 0;
	struct utsname un;

	json_str(j, "cwd", getcwd(cwd, sizeof(cwd)) ? cwd : "");
	while (environ[n])
		n++;
	json_u64(j, "environment", n);
	json_u64(j, "uid", who->uid);
	json_str(j, "user", pw ? pw->pw_name : "");
	uname(&un);
	json_str(j, "host", un.nodename);
	json_str(j, "kernel", un.release);
	json_str(j, "machine", un.machine);
	put_processor(j);
	put_cpuid(j);
}

static void put_end(struct json *j, const struct recabout *end)
{
	json_u64(j, "ended_ns", end->ended_ns);
	json_u64(j, "events", end->events);
	if (end->error.len)
		json_str(j, "error", end->error.data);
	if (end->warnings.len)
		json_str(j, "warnings", end->warnings.data);
	if (WIFSIGNALED(end->status))
		json_u64(j, "signal", (uint64_t)WTERMSIG(end->status));
	else
		json_u64(j, "exit", (uint64_t)WEXITSTATUS(end->status));
}

static int write_to(int fd, const char *name, const struct recabout_opts *o, struct err *err)
{
	struct out_stream s;
	struct json j;
	int r = out_stream_init(&s, fd, name, 0, err);

	if (r)
		return r;
	json_init(&j, &s);
	json_object(&j, NULL);
	json_u64(&j, "about", ABOUT_VERSION);
	json_str(&j, "tracer", TRACER_VERSION);
	json_array(&j, "argv");
	for (char **arg = o->argv; *arg; arg++)
		json_str(&j, NULL, *arg);
	json_end(&j);
	json_u64(&j, "began_ns", o->began_ns);
	put_machine(&j, o->who);
	if (o->end)
		put_end(&j, o->end);
	json_end(&j);
	json_finish(&j);
	return out_stream_close(&s, err);
}

/* Whoever reads it sees it whole. */
int recabout_write(const struct recabout_opts *o, struct err *err)
{
	char path[PATH_MAX], now[PATH_MAX];
	int fd, r;

	snprintf(path, sizeof(path), "%s/about", o->dir);
	snprintf(now, sizeof(now), "%.*s.new", (int)sizeof(now) - 8, path);
	r = caller_lower(o->who);
	if (r)
		return err_sys(err, -r, "cannot write as the user");
	fd = open(now, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	r = fd < 0 ? err_sys(err, errno, "cannot make %s", now) : write_to(fd, now, o, err);
	if (fd >= 0)
		close(fd);
	if (!r && rename(now, path))
		r = err_sys(err, errno, "cannot make %s", path);
	if (r && fd >= 0)
		unlink(now);
	if (caller_raise(o->who) && !r)
		r = err_sys(err, EPERM, "cannot go on as root");
	return r;
}

static int read_argv(struct jread *j, struct buf *command)
{
	struct buf word = BUF_INIT;
	int r = jread_array(j);

	while (!r && (r = jread_element(j)) > 0) {
		buf_reset(&word);
		r = jread_string(j);
		if (r || buf_add(&word, j->s, j->n) || buf_addc(&word, '\0'))
			break;
		if (command->len)
			buf_addc(command, ' ');
		shellword_add(command, word.data);
	}
	buf_release(&word);
	return r;
}

static int read_signal(struct jread *j, struct recabout *a, bool signal)
{
	uint64_t v;
	int r = jread_u64(j, &v);

	a->ended = true;
	a->status = (int)(signal ? v & 0x7f : (v & 0xff) << 8);
	return r;
}

static int read_cpuid(struct jread *j, struct recabout *a)
{
	uint64_t v;
	int r = jread_array(j);

	for (a->ncpuid = 0; !r && (r = jread_element(j)) > 0; a->ncpuid++) {
		r = jread_u64(j, &v);
		if (!r && a->ncpuid < CPUID_WORDS)
			a->cpuid[a->ncpuid] = (uint32_t)v;
	}
	return r;
}

static int read_text(struct jread *j, struct buf *to)
{
	return jread_string(j) || buf_add(to, j->s, j->n) ? -EINVAL : 0;
}

static int read_member(struct jread *j, struct recabout *a)
{
	static const struct { const char *key; size_t at; } numbers[] = {
		{ "began_ns", offsetof(struct recabout, began_ns) },
		{ "ended_ns", offsetof(struct recabout, ended_ns) },
		{ "events", offsetof(struct recabout, events) },
	};
	char key[16];

	snprintf(key, sizeof(key), "%.*s", (int)(j->n < sizeof(key) ? j->n : 0), j->s);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(key, numbers[i].key))
			return jread_u64(j, (uint64_t *)(void *)((char *)a + numbers[i].at));
	if (!strcmp(key, "argv"))
		return read_argv(j, &a->command);
	if (!strcmp(key, "exit") || !strcmp(key, "signal"))
		return read_signal(j, a, *key == 's');
	if (!strcmp(key, "error"))
		return read_text(j, &a->error);
	if (!strcmp(key, "warnings"))
		return read_text(j, &a->warnings);
	if (!strcmp(key, "processor"))
		return read_text(j, &a->processor);
	if (!strcmp(key, "cpuid"))
		return read_cpuid(j, a);
	return jread_skip(j);
}

int recabout_read(struct recabout *a, const char *dir)
{
	struct err err = { 0 };
	struct buf b = BUF_INIT;
	char path[PATH_MAX];
	struct jread j;
	int r;

	*a = (struct recabout){ 0 };
	snprintf(path, sizeof(path), "%s/about", dir);
	r = io_read_file(path, &b, BYTES_MOST);
	if (!r) {
		jread_init(&j, b.data ? b.data : "", b.len, &err);
		r = jread_object(&j);
		while (!r && (r = jread_member(&j)) > 0)
			r = read_member(&j, a);
		jread_release(&j);
	}
	buf_release(&b);
	return r;
}

bool recabout_fits(const struct recabout *a, struct err *why)
{
	const char *was = a->processor.len ? a->processor.data : "another";
	struct buf is = BUF_INIT;
	uint32_t word[CPUID_WORDS];

	cpuid_read(word);
	if (a->ncpuid != CPUID_WORDS || !memcmp(word, a->cpuid, sizeof(word)))
		return true;
	add_processor(&is);
	if (is.len && !strcmp(is.data, was))
		err_set(why, ENOTSUP, "this processor, %.200s, has other features than that of the "
			"recording, of the same name", was);
	else
		err_set(why, ENOTSUP, "the recording was made on another processor: %.200s; this "
			"is %.200s", was, is.len ? is.data : "none of a name");
	err_hint(why, "programs and libraries choose code by what the processor can do: the replay "
		 "may diverge, or end by an instruction that is not known here");
	buf_release(&is);
	return false;
}

void recabout_release(struct recabout *a)
{
	buf_release(&a->command);
	buf_release(&a->error);
	buf_release(&a->warnings);
	buf_release(&a->processor);
}
