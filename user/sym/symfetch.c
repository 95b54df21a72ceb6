/* SPDX-License-Identifier: MIT */
#include "sym/symfetch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/clock.h"
#include "base/err.h"
#include "sym/symproto.h"

#define CLIENT "debuginfod-find"

/* Of the system's directories alone: root does not run what PATH leads to. */
static const char *find_client(void)
{
	static const char *const places[] = { "/usr/bin/" CLIENT, "/usr/local/bin/" CLIENT };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (!access(places[i], X_OK))
			return places[i];
	}
	return NULL;
}

int symfetch_ready(struct err *err)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct caller c;

	int rc = 0;

	if (!urls || !*urls) {
		rc = err_set(err, EINVAL, "cannot ask debuginfod: DEBUGINFOD_URLS is not set");
		err_hint(err, "it names the servers; sudo hides it, unless told "
			 "'sudo --preserve-env=DEBUGINFOD_URLS'");
	} else if (caller_find(&c)) {
		rc = err_set(err, EPERM, "cannot ask debuginfod: root is nobody to ask as");
		err_hint(err, "started by sudo, tracer asks as the user who called it");
	} else if (!find_client()) {
		rc = err_set(err, ENOENT, "cannot ask debuginfod: " CLIENT " is not in /usr/bin");
		err_hint(err, "Debian has it in the package debuginfod");
	}
	return rc;
}

/* What the client may know of the environment of a caller who is not ours. */
static const char *const kept[] = {
	"DEBUGINFOD_URLS", "DEBUGINFOD_TIMEOUT", "DEBUGINFOD_MAXTIME", "DEBUGINFOD_CACHE_PATH",
	"http_proxy", "https_proxy", "no_proxy", "LANG",
};

#define KEPT (sizeof(kept) / sizeof(*kept))

/* Fills @env, which the caller frees entry by entry; 0 or -ENOMEM. */
static int environment(const struct caller *c, char *env[KEPT + 3])
{
	size_t n = 0;

	for (size_t i = 0; i < KEPT; i++) {
		const char *value = getenv(kept[i]);

		if (value && asprintf(&env[n], "%s=%s", kept[i], value) < 0)
			goto fail;
		n += value != NULL;
	}
	if (asprintf(&env[n], "HOME=%s", c->home) < 0)
		goto fail;
	n++;
	if (asprintf(&env[n], "PATH=/usr/bin:/bin") < 0)
		goto fail;
	return 0;
fail:
	env[n] = NULL;
	return -ENOMEM;
}

/* Between fork and exec: system calls only. */
static void run_client(const struct caller *c, char *const argv[], char *const envp[], int out)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (caller_become(c))
		_exit(127);
	sigemptyset(&none);
	for (int s = 1; s < NSIG; s++)
		sigaction(s, &dfl, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	out = fcntl(out, F_DUPFD_CLOEXEC, 3);
	null = fcntl(null, F_DUPFD_CLOEXEC, 3);
	if (out < 0 || null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0 ||
	    chdir("/"))
		_exit(127);
	execve(argv[0], argv, envp);
	_exit(127);
}

/* Reads the client's line to its end; 0, -ETIMEDOUT, -ENAMETOOLONG. */
static int read_line(int fd, char *line, size_t bytes, uint64_t deadline_ns)
{
	size_t got = 0;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = clock_mono_ns();
		int ms = now >= deadline_ns ? 0 : (int)((deadline_ns - now) / 1000000) + 1, n;
		ssize_t r;

		n = poll(&p, 1, ms);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ETIMEDOUT;
		r = read(fd, line + got, bytes - 1 - got);
		if (r < 0)
			return -errno;
		got += (size_t)r;
		line[got] = 0;
		if (!r)
			break;
		if (got == bytes - 1)
			return -ENAMETOOLONG;
	}
	line[strcspn(line, "\n")] = 0;
	return 0;
}

/* The file that the client names must be the caller's own: it was written as the caller. */
static int open_cached(const char *path, const struct caller *c)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != c->uid) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

static int ask(const struct caller *c, char *const argv[], char *const envp[], int timeout_ms)
{
	uint64_t deadline_ns = clock_mono_ns() + (uint64_t)timeout_ms * 1000000;
	char line[PATH_MAX];
	int out[2], status, rc;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		run_client(c, argv, envp, out[1]);
	rc = pid < 0 ? -errno : 0;
	close(out[1]);
	if (!rc) {
		rc = read_line(out[0], line, sizeof(line), deadline_ns);
		/* It has said all: what it may do yet is of no use. */
		if (rc)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (!rc && (!WIFEXITED(status) || WEXITSTATUS(status)))
			rc = -ENOENT;
	}
	close(out[0]);
	return rc ? rc : open_cached(line, c);
}

int symfetch_debug(const unsigned char *id, unsigned int bytes, int timeout_ms)
{
	char path[sizeof("/usr/local/bin/" CLIENT)], name[] = "debuginfo";
	char hex[2 * SYMP_BUILD_ID_MAX + 1];
	char *env[KEPT + 3] = { NULL }, *argv[] = { path, name, hex, NULL };
	const char *client = find_client();
	struct caller c;
	int rc;

	if (!client || bytes < 3 || bytes > SYMP_BUILD_ID_MAX)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s", client);
	for (unsigned int i = 0; i < bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	rc = caller_find(&c);
	if (!rc && c.change)
		rc = environment(&c, env);
	if (!rc)
		rc = ask(&c, argv, c.change ? env : environ, timeout_ms);
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	return rc;
}
