/* SPDX-License-Identifier: MIT */
#ifndef FIXTURE_PG_H
#define FIXTURE_PG_H

/*
 * A PostgreSQL server of the test's own, in a directory and on a unix socket of its
 * own. A keeper in a session of its own ends it and removes the directory as soon as
 * the test is gone, however that ended: it waits for the end of a pipe.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIXTURE_PG_USER "tracer"
#define FIXTURE_PG_PASSWORD "s3cret/p@ss"
#define FIXTURE_PG_PASSWORD_URL "s3cret%2Fp%40ss"

struct fixture_pg {
	char dir[64];
	char bin[256];		/* where initdb is; "": there is none */
	pid_t keeper;
	int alive;		/* the pipe's end that the keeper waits for */
};

static inline int fixture_pg_unlink(const char *path, const struct stat *st, int type,
				    struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void fixture_pg_remove_tree(const char *dir)
{
	nftw(dir, fixture_pg_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* Debian keeps each version in a directory that is in nobody's PATH. */
static inline bool fixture_pg_installed(struct fixture_pg *pg)
{
	glob_t g;

	pg->bin[0] = '\0';
	if (!glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &g)) {
		snprintf(pg->bin, sizeof(pg->bin), "%s", g.gl_pathv[g.gl_pathc - 1]);
		*strrchr(pg->bin, '/') = '\0';
		globfree(&g);
	}
	return pg->bin[0];
}

/* A child without rights of its own: the server refuses to run as root. Its pid. */
static inline pid_t fixture_pg_child(const struct fixture_pg *pg, const char *const argv[])
{
	const struct passwd *user = getpwnam("postgres") ? getpwnam("postgres") :
							   getpwnam("nobody");
	pid_t pid = fork();
	int null, log;

	if (pid)
		return pid;
	if (chdir(pg->dir) || (null = open("/dev/null", O_RDWR)) < 0 ||
	    (log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0666)) < 0)
		_exit(126);
	dup2(null, 0);
	dup2(log, 1);
	dup2(log, 2);
	if (!geteuid() && (setgroups(0, NULL) || setgid(user->pw_gid) || setuid(user->pw_uid)))
		_exit(126);
	/* Even when the keeper is killed: an immediate shutdown. */
	prctl(PR_SET_PDEATHSIG, SIGQUIT);
	setenv("LC_ALL", "C", 1);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

static inline bool fixture_pg_wait(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && !status;
}

/* The cluster, with a superuser whose password is wanted. */
static inline bool fixture_pg_init(const struct fixture_pg *pg)
{
	char initdb[300], data[100], pwfile[100];
	const char *const argv[] = { initdb, "-D", data, "-U", FIXTURE_PG_USER, "--pwfile", pwfile,
				     "--auth=scram-sha-256", "-E", "UTF8", "--locale=C",
				     "--no-sync", NULL };
	FILE *f;

	snprintf(initdb, sizeof(initdb), "%s/initdb", pg->bin);
	snprintf(data, sizeof(data), "%s/data", pg->dir);
	snprintf(pwfile, sizeof(pwfile), "%s/pw", pg->dir);
	f = fopen(pwfile, "w");
	if (!f)
		return false;
	fputs(FIXTURE_PG_PASSWORD "\n", f);
	fclose(f);
	chmod(pwfile, 0644);
	return fixture_pg_wait(fixture_pg_child(pg, argv));
}

/* fsync is off: what is tested is what a client's death leaves, not a power cut's. */
static inline pid_t fixture_pg_serve(const struct fixture_pg *pg)
{
	char postgres[300], data[100], socket_dir[100];
	const char *const argv[] = { postgres, "-D", data, "-k", socket_dir, "-c", "fsync=off",
				     "-c", "listen_addresses=", "-c", "shared_buffers=16MB", NULL };

	snprintf(postgres, sizeof(postgres), "%s/postgres", pg->bin);
	snprintf(data, sizeof(data), "%s/data", pg->dir);
	snprintf(socket_dir, sizeof(socket_dir), "%s", pg->dir);
	return fixture_pg_child(pg, argv);
}

/* In the keeper: 's' stops the server, 'r' starts it again, the pipe's end ends all. */
static inline void fixture_pg_keep(const struct fixture_pg *pg, int alive)
{
	pid_t server;
	char byte = 0;
	ssize_t n;

	setsid();
	if (!fixture_pg_init(pg)) {
		fixture_pg_remove_tree(pg->dir);
		_exit(1);
	}
	server = fixture_pg_serve(pg);
	while ((n = read(alive, &byte, 1)) == 1 || (n < 0 && errno == EINTR)) {
		if (n == 1 && byte == 'r')
			server = fixture_pg_serve(pg);
		if (n != 1 || byte != 's')
			continue;
		kill(server, SIGQUIT);
		waitpid(server, NULL, 0);
	}
	if (byte != 's') {
		kill(server, SIGQUIT);
		waitpid(server, NULL, 0);
	}
	fixture_pg_remove_tree(pg->dir);
	_exit(0);
}

/* Whether the server says in its pid file that it takes connections. */
static inline bool fixture_pg_says_ready(const struct fixture_pg *pg)
{
	char path[100], text[1000];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/data/postmaster.pid", pg->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "\nready") != NULL;
}

static inline bool fixture_pg_ready(const struct fixture_pg *pg)
{
	int i;

	for (i = 0; i < 6000; i++) {
		if (fixture_pg_says_ready(pg))
			return true;
		if (waitpid(pg->keeper, NULL, WNOHANG))
			return false;
		usleep(10000);
	}
	return false;
}

/* False: there is no PostgreSQL, or (with a message) it does not start. */
static inline bool fixture_pg_start(struct fixture_pg *pg)
{
	int fds[2], null;

	if (!fixture_pg_installed(pg))
		return false;
	strcpy(pg->dir, "/tmp/tracer-pg-XXXXXX");
	if (!mkdtemp(pg->dir) || pipe2(fds, O_CLOEXEC))
		abort();
	chmod(pg->dir, 0777);
	pg->keeper = fork();
	if (!pg->keeper) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		close(fds[1]);
		fixture_pg_keep(pg, fds[0]);
	}
	close(fds[0]);
	pg->alive = fds[1];
	if (fixture_pg_ready(pg))
		return true;
	fprintf(stderr, "# PostgreSQL in %s does not start\n", pg->dir);
	abort();
}

/* Ends the server hard, as a crash would; comes back when its socket is closed. */
static inline void fixture_pg_halt(const struct fixture_pg *pg)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/data/postmaster.pid", pg->dir);
	if (write(pg->alive, "s", 1) != 1)
		abort();
	while (!access(path, F_OK))
		usleep(10000);
}

/* Starts it again; comes back when it takes connections. */
static inline void fixture_pg_restart(const struct fixture_pg *pg)
{
	if (write(pg->alive, "r", 1) != 1 || !fixture_pg_ready(pg))
		abort();
}

static inline void fixture_pg_stop(struct fixture_pg *pg)
{
	if (!pg->keeper)
		return;
	close(pg->alive);
	waitpid(pg->keeper, NULL, 0);
	pg->keeper = 0;
}

/* A URL of the database @name, with @user and @password as they stand in URLs. */
static inline void fixture_pg_url(const struct fixture_pg *pg, const char *user,
				  const char *password, const char *name, char *url, size_t n)
{
	snprintf(url, n, "postgresql://%s:%s@/%s?host=%s", user, password, name, pg->dir);
}

#endif
