/* SPDX-License-Identifier: MIT */
/* Threads: futexes of all kinds, robust and inheriting locks, scheduling. */
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "rr_calls.h"

/* struct sched_attr of the kernel, whose header is at odds with <sched.h> */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util[2];
};

static uint32_t word, other;

static void *wake_later(void *arg)
{
	usleep(2000);
	__atomic_store_n(&word, 5, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	return arg;
}

static void futexes(void)
{
	const struct timespec soon = { 0, 1000000 };
	struct { uint64_t val, addr; uint32_t flags, pad; } v = { 0, (uintptr_t)&word, 2, 0 };
	pthread_t t;

	FAILS(EAGAIN, futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0);
	FAILS(ETIMEDOUT, futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, &soon, NULL, 0);
	CHECK(OK(futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0);
	FAILS(ENOSYS, futex, &word, 77, 0, NULL, NULL, 0);
	CHECK(!pthread_create(&t, NULL, wake_later, NULL));
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 1);
	CHECK(word == 5 && !pthread_join(t, NULL));
	/* other = other + 3, whose old value is compared with 0 */
	CHECK(OK(futex, &word, FUTEX_WAKE_OP, 1, 1L, &other, FUTEX_OP(FUTEX_OP_ADD, 3,
	      FUTEX_OP_CMP_EQ, 0)) == 0);
	CHECK(other == 3);
	CHECK(OK(futex, &word, FUTEX_CMP_REQUEUE, 1, 1L, &other, 5) == 0);
	FAILS(EAGAIN, futex, &word, FUTEX_CMP_REQUEUE, 1, 1L, &other, 6);
	word = 0;
	OK(futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
	CHECK(word == (uint32_t)gettid());
	FAILS(EDEADLK, futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0);
	OK(futex, &word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
	CHECK(word == 0);
	OK(futex, &word, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0);
	OK(futex, &word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0);
	FAILS(EAGAIN, futex_waitv, (v.val = 1, &v), 1, 0, NULL, 0);
}

static pthread_mutex_t lock;
static int inside;

static void *locked(void *arg)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		inside++;
		usleep(200);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

/* Threads that wait for each other, by a lock that lends them their priority. */
static void inheriting(void)
{
	pthread_mutexattr_t attr;
	pthread_t t[3];

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	CHECK(!pthread_mutex_init(&lock, &attr));
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&t[i], NULL, locked, NULL));
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_join(t[i], NULL));
	CHECK(inside == 60);
	pthread_mutex_destroy(&lock);
}

static void *die_with_it(void *arg)
{
	pthread_mutex_lock(&lock);
	return arg;
}

/* A thread ends with the lock: the kernel marks it. */
static void robust(void)
{
	pthread_mutexattr_t attr;
	pthread_t t;
	void *head;
	size_t len;

	OK(get_robust_list, 0, &head, &len);
	CHECK(len == 24);
	FAILS(ESRCH, get_robust_list, 999999, &head, &len);
	OK(set_robust_list, head, len);
	FAILS(EINVAL, set_robust_list, head, 1L);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	CHECK(!pthread_mutex_init(&lock, &attr));
	CHECK(!pthread_create(&t, NULL, die_with_it, NULL) && !pthread_join(t, NULL));
	CHECK(*(uint32_t *)&lock == FUTEX_OWNER_DIED);
	CHECK(pthread_mutex_lock(&lock) == EOWNERDEAD);
	CHECK(!pthread_mutex_consistent(&lock) && !pthread_mutex_unlock(&lock));
}

static void scheduled(void)
{
	struct attr attr = { 0 };
	struct sched_param par = { 0 };
	unsigned long set[16] = { 0 };
	struct timespec ts;
	const struct attr other_attr = { .size = sizeof(attr), .policy = SCHED_FIFO,
					 .priority = 70 };
	const unsigned long all[1] = { ~0ul };
	const long policy = syscall(SYS_sched_getscheduler, 0);
	unsigned int cpu = 99, node = 99;
	long n;

	OK(sched_yield);
	/* What would take it from the recorder, or before it, seems to be done. */
	OK(sched_setaffinity, 0, sizeof(all), all);
	OK(sched_setscheduler, 0, SCHED_FIFO, &(struct sched_param){ 50 });
	OK(sched_setparam, 0, &(struct sched_param){ 60 });
	OK(sched_setattr, 0, &other_attr, 0);
	CHECK(OK(sched_getscheduler, 0) == policy);
	n = OK(sched_getaffinity, 0, sizeof(set), set);
	SHOW("affinity", set, sizeof(set));
	FAILS(EINVAL, sched_getaffinity, 0, 1L, set);
	OK(getcpu, &cpu, &node, NULL);
	CHECK(cpu < 1024 && node < 1024);
	OK(getcpu, &cpu, NULL, NULL);
	FAILS(EFAULT, getcpu, 1L, NULL, NULL);
	n = OK(sched_getscheduler, 0);
	printf("policy %ld\n", n);
	OK(sched_getparam, 0, &par);
	OK(sched_getattr, 0, &attr, sizeof(attr), 0);
	SHOW("attr", &attr, sizeof(attr));
	OK(sched_rr_get_interval, 0, &ts);
	SHOW("interval", &ts, sizeof(ts));
	OK(sched_get_priority_max, SCHED_FIFO);
	OK(sched_get_priority_min, SCHED_FIFO);
	OK(membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
	FAILS(EINVAL, membarrier, 0x10000000, 0, 0);
	FAILS(ENOSYS, rseq, NULL, 32, 0, 0);
}

int main(void)
{
	futexes();
	inheriting();
	robust();
	scheduled();
	return 0;
}
