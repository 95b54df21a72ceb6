/* SPDX-License-Identifier: MIT */
/*
 * rr_kinds KIND [N]: a program of each kind that a recording has to hold; the names are in the
 * table at the end. What is printed differs from run to run where the kind is a race.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) do { if (!(what)) { printf("line %d: %s\n", __LINE__, strerror(errno)); \
	exit(1); } } while (0)
#define THREADS 4

static long number = 50;
static volatile long total;

static void run(void *(*fn)(void *))
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&t[i], NULL, fn, (void *)(intptr_t)i));
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(t[i], NULL));
	printf("%ld\n", total);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;

static void *dies_with_lock(void *arg)
{
	pthread_mutex_lock(arg);
	return NULL;
}

static void robust(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	pthread_t t;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &attr);
	CHECK(!pthread_create(&t, NULL, dies_with_lock, &m));
	CHECK(!pthread_join(t, NULL));
	printf("%s\n", strerrorname_np(pthread_mutex_lock(&m)));
	CHECK(!pthread_mutex_consistent(&m) && !pthread_mutex_unlock(&m) &&
	      !pthread_mutex_lock(&m));
}

static void *hold(void *arg)
{
	for (long i = 0; i < number; i++) {
		CHECK(!pthread_mutex_lock(&mutex));
		total += (long)(intptr_t)arg + 1;
		if (i % 8 == 0)
			usleep(100);
		CHECK(!pthread_mutex_unlock(&mutex));
	}
	return NULL;
}

static void inheriting(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	CHECK(!pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
	CHECK(!pthread_mutex_init(&mutex, &attr));
	run(hold);
}

static void *take_turns(void *arg)
{
	for (long i = 0; i < number; i++) {
		pthread_mutex_lock(&mutex);
		while (total % THREADS != (long)(intptr_t)arg)
			pthread_cond_wait(&cond, &mutex);
		total++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void condvar(void)
{
	run(take_turns);
}

static void *through_semaphore(void *arg)
{
	(void)arg;
	for (long i = 0; i < number; i++) {
		CHECK(!sem_wait(&sem));
		total++;
		usleep(10);
		CHECK(!sem_post(&sem));
	}
	return NULL;
}

static void semaphore(void)
{
	CHECK(!sem_init(&sem, 0, 2));
	run(through_semaphore);
}

static void *through_barrier(void *arg)
{
	(void)arg;
	for (long i = 0; i < number; i++)
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			total++;
	return NULL;
}

static void barriers(void)
{
	CHECK(!pthread_barrier_init(&barrier, NULL, THREADS));
	run(through_barrier);
}

static void *read_and_write(void *arg)
{
	for (long i = 0; i < number; i++) {
		if (((long)(intptr_t)arg + i) % THREADS) {
			CHECK(!pthread_rwlock_rdlock(&rwlock));
			usleep(10);
		} else {
			CHECK(!pthread_rwlock_wrlock(&rwlock));
			total++;
		}
		CHECK(!pthread_rwlock_unlock(&rwlock));
	}
	return NULL;
}

static void rwlocks(void)
{
	run(read_and_write);
}

static pthread_key_t key;

static void destroyed(void *value)
{
	printf("destroyed %ld\n", (long)(intptr_t)value);
}

static void *has_value(void *arg)
{
	pthread_setspecific(key, (void *)((intptr_t)arg + 1));
	return NULL;
}

static void destructors(void)
{
	CHECK(!pthread_key_create(&key, destroyed));
	run(has_value);
}

static void vforks(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	for (long i = 0; i < 5; i++) {
		pid = vfork();
		if (!pid) {
			execl("/bin/echo", "echo", "from vfork", NULL);
			_exit(1);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	}
}

static void *forks(void *arg)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(10 + (int)(intptr_t)arg);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	__atomic_fetch_add(&total, WEXITSTATUS(status), __ATOMIC_SEQ_CST);
	return NULL;
}

static void fork_in_thread(void)
{
	run(forks);
}

static void *execs(void *arg)
{
	(void)arg;
	execl("/bin/echo", "echo", "from a thread", NULL);
	return NULL;
}

static void exec_in_thread(void)
{
	fflush(stdout);
	run(execs);
}

static void *wait_for_all(void *arg)
{
	pthread_mutex_lock(&mutex);
	total += (long)(intptr_t)arg;
	if (!--number)
		pthread_cond_broadcast(&cond);
	while (number)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void many(void)
{
	const long n = number;
	pthread_t *t = calloc((size_t)n, sizeof(*t));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < n; i++)
		CHECK(!pthread_create(&t[i], &attr, wait_for_all, (void *)(intptr_t)i));
	for (long i = 0; i < n; i++)
		CHECK(!pthread_join(t[i], NULL));
	printf("%ld\n", total);
	free(t);
}

static void shared_between(const char *name)
{
	int fd = name ? shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600) : -1;
	volatile int *at;
	pid_t pid;

	if (name)
		CHECK(fd >= 0 && !ftruncate(fd, 4096) && !shm_unlink(name));
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | (name ? 0 : MAP_ANONYMOUS), fd,
		  0);
	CHECK(at != MAP_FAILED);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 100; i++) {
			while (at[0] != 2 * i)
				usleep(1);
			at[1] += i;
			at[0]++;
		}
		_exit(0);
	}
	for (int i = 0; i < 100; i++) {
		at[1] ^= i;
		while (at[0] != 2 * i + 1)
			usleep(1);
		at[0]++;
	}
	CHECK(waitpid(pid, NULL, 0) == pid);
	printf("%d\n", at[1]);
}

static void shared(void)
{
	shared_between(NULL);
}

static void shm(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/tracer-kinds-%d", (int)getpid());
	shared_between(name);
}

static volatile sig_atomic_t got;

static void count(int sig)
{
	(void)sig;
	got++;
}

static void signals_to_group(void)
{
	sigset_t block, old;
	pid_t pid[3];
	int status;

	CHECK(!setpgid(0, 0));
	signal(SIGUSR1, count);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, &old);
	for (int i = 0; i < 3; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			sigsuspend(&old);
			_exit(got);
		}
	}
	usleep(20000);
	CHECK(!kill(0, SIGUSR1));
	sigprocmask(SIG_SETMASK, &old, NULL);
	for (int i = 0; i < 3; i++) {
		CHECK(waitpid(pid[i], &status, 0) == pid[i]);
		printf("%d\n", status >> 8);
	}
	printf("%d\n", (int)got);
}

static void timers(void)
{
	const struct itimerspec every = { { 0, 3000000 }, { 0, 3000000 } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	timer_t t;

	signal(SIGRTMIN, count);
	CHECK(!timer_create(CLOCK_MONOTONIC, &ev, &t) && !timer_settime(t, 0, &every, NULL));
	while (got < 10)
		pause();
	CHECK(!timer_delete(t));
	printf("%d\n", (int)got);
}

static int event_fd;

static void *tells(void *arg)
{
	(void)arg;
	for (uint64_t i = 1; i <= 5; i++)
		CHECK(write(event_fd, &i, sizeof(i)) == sizeof(i));
	return NULL;
}

static void polled(void)
{
	struct epoll_event ev = { .events = EPOLLIN };
	const int ep = epoll_create1(EPOLL_CLOEXEC);
	pthread_t t;
	uint64_t n;

	event_fd = eventfd(0, EFD_CLOEXEC);
	CHECK(ep >= 0 && event_fd >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, event_fd, &ev));
	CHECK(!pthread_create(&t, NULL, tells, NULL));
	while (total < 15) {
		CHECK(epoll_wait(ep, &ev, 1, -1) == 1 &&
		      read(event_fd, &n, sizeof(n)) == sizeof(n));
		total += (long)n;
		printf("%ld\n", (long)n);
	}
	pthread_join(t, NULL);
}

static void watched(void)
{
	char dir[] = "/tmp/tracer-kinds-XXXXXX", path[64], room[4096];
	const struct inotify_event *ev;
	int fd = inotify_init1(IN_CLOEXEC);
	ssize_t n;

	CHECK(mkdtemp(dir) && fd >= 0 && inotify_add_watch(fd, dir, IN_CREATE | IN_DELETE) >= 0);
	snprintf(path, sizeof(path), "%s/file", dir);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	unlink(path);
	n = read(fd, room, sizeof(room));
	for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*ev) + ev->len)) {
		ev = (const void *)(room + at);
		printf("%#x %s\n", ev->mask, ev->name);
	}
	rmdir(dir);
}

static const struct { const char *name; void (*fn)(void); } kinds[] = {
	{ "robust", robust }, { "inheriting", inheriting }, { "condvar", condvar },
	{ "semaphore", semaphore }, { "barrier", barriers }, { "rwlock", rwlocks },
	{ "destructors", destructors }, { "vfork", vforks }, { "fork_in_thread", fork_in_thread },
	{ "exec_in_thread", exec_in_thread }, { "many", many }, { "shared", shared },
	{ "shm", shm }, { "group", signals_to_group }, { "timer", timers }, { "epoll", polled },
	{ "inotify", watched },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		number = strtol(argv[2], NULL, 10);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		kinds[i].fn();
		return 0;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		puts(kinds[i].name);
	return argc > 1 ? 2 : 0;
}
