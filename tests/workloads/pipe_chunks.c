/* SPDX-License-Identifier: MIT */
/*
 * pipe_chunks SIZE COUNT [KIND [WDELAY_US [RDELAY_US [threads]]]]: one side
 * writes COUNT chunks of SIZE bytes, the other reads them with a buffer of
 * SIZE. KIND is pipe, fifo, socketpair or eventfd (where SIZE is 8). A delay
 * is slept after each chunk. The sides are two processes, or two threads.
 * The writer's and reader's own time in write and read is printed: a trace
 * must not report a side as blocked for longer.
 */
#include "workload.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct side {
	pid_t tid;
	long chunks, bytes, nvcsw;
	uint64_t call_ns;
};

struct shared {
	struct side w, r;
};

struct job {
	int wfd, rfd;
	size_t size;
	long count, wdelay, rdelay;
	struct shared *s;
};

static void *writer(void *arg)
{
	struct job *j = arg;
	struct side *s = &j->s->w;
	char *buf = calloc(1, j->size + 1);

	if (!buf)
		wl_die("calloc");
	buf[0] = 1;	/* an eventfd's chunk adds 1 */
	s->tid = wl_tid();
	for (long i = 0; i < j->count; i++) {
		uint64_t t0 = wl_now_ns();
		ssize_t n = write(j->wfd, buf, j->size);

		s->call_ns += wl_now_ns() - t0;
		if (n != (ssize_t)j->size)
			wl_die("write");
		s->chunks++;
		s->bytes += n;
		wl_sleep_us(j->wdelay);
	}
	s->nvcsw = wl_nvcsw();
	close(j->wfd);
	free(buf);
	return NULL;
}

static void *reader(void *arg)
{
	struct job *j = arg;
	struct side *s = &j->s->r;
	char *buf = calloc(1, j->size + 1);
	long want = j->count * (long)j->size;

	if (!buf)
		wl_die("calloc");
	s->tid = wl_tid();
	while (s->bytes < want) {
		uint64_t t0 = wl_now_ns();
		ssize_t n = read(j->rfd, buf, j->size);

		s->call_ns += wl_now_ns() - t0;
		if (n <= 0)
			wl_die("read");
		s->chunks++;
		s->bytes += n;
		wl_sleep_us(j->rdelay);
	}
	s->nvcsw = wl_nvcsw();
	free(buf);
	return NULL;
}

static void open_fifo(int fd[2])
{
	char dir[] = "/tmp/pipe_chunks.XXXXXX", path[64];

	if (!mkdtemp(dir))
		wl_die("mkdtemp");
	snprintf(path, sizeof(path), "%s/fifo", dir);
	if (mkfifo(path, 0600))
		wl_die("mkfifo");
	fd[0] = open(path, O_RDONLY | O_NONBLOCK);
	fd[1] = open(path, O_WRONLY);
	if (fd[0] < 0 || fd[1] < 0 || fcntl(fd[0], F_SETFL, 0))
		wl_die("open fifo");
	unlink(path);
	rmdir(dir);
}

static void open_kind(const char *kind, int fd[2])
{
	if (!strcmp(kind, "pipe")) {
		if (pipe(fd))
			wl_die("pipe");
	} else if (!strcmp(kind, "fifo")) {
		open_fifo(fd);
	} else if (!strcmp(kind, "socketpair")) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
			wl_die("socketpair");
	} else if (!strcmp(kind, "eventfd")) {
		/* A semaphore: each read takes one of the chunks that were written. */
		fd[0] = eventfd(0, EFD_SEMAPHORE);
		fd[1] = dup(fd[0]);
		if (fd[0] < 0 || fd[1] < 0)
			wl_die("eventfd");
	} else {
		fprintf(stderr, "pipe_chunks: unknown kind: %s\n", kind);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct job j = {
		.size = (size_t)wl_arg(argc, argv, 1, 4096),
		.count = wl_arg(argc, argv, 2, 10007),
		.wdelay = wl_arg(argc, argv, 4, 0),
		.rdelay = wl_arg(argc, argv, 5, 0),
	};
	int fd[2];
	struct stat st;

	j.s = mmap(NULL, sizeof(*j.s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (j.s == MAP_FAILED)
		wl_die("mmap");
	open_kind(argc > 3 ? argv[3] : "pipe", fd);
	j.rfd = fd[0];
	j.wfd = fd[1];
	if (fstat(fd[0], &st))
		wl_die("fstat");
	if (argc > 6) {
		pthread_t t;

		pthread_create(&t, NULL, writer, &j);
		reader(&j);
		pthread_join(t, NULL);
	} else {
		pid_t pid = fork();

		if (pid < 0)
			wl_die("fork");
		if (!pid) {
			close(j.rfd);
			writer(&j);
			_exit(0);
		}
		close(j.wfd);
		reader(&j);
		waitpid(pid, NULL, 0);
	}
	printf("inode=%llu w_tid=%d w_chunks=%ld w_bytes=%ld w_ns=%llu r_tid=%d r_chunks=%ld "
	       "r_bytes=%ld r_ns=%llu\n", (unsigned long long)st.st_ino, j.s->w.tid, j.s->w.chunks,
	       j.s->w.bytes, (unsigned long long)j.s->w.call_ns, j.s->r.tid, j.s->r.chunks,
	       j.s->r.bytes, (unsigned long long)j.s->r.call_ns);
	return 0;
}
