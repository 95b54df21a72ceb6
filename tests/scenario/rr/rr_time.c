/* SPDX-License-Identifier: MIT */
/* Clocks, timers, and what the system tells of itself. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>

#include "rr_calls.h"

struct ustat_words { uint32_t free_blocks; uint64_t inodes; char name[12]; };

static void clocks(void)
{
	struct timeval tv;
	struct timezone tz;
	struct timespec ts;
	long t, u = 0;

	OK(gettimeofday, &tv, &tz);
	OK(gettimeofday, &tv, NULL);
	SHOW("timeval", &tv, sizeof(tv));
	FAILS(EFAULT, gettimeofday, 1L, NULL);
	t = OK(time, &u);
	CHECK(t == u && OK(time, NULL) >= t);
	FAILS(EFAULT, time, 1L);
	for (int i = 0; i < 12; i++) {
		if (syscall(SYS_clock_gettime, i, &ts) && errno == EINVAL)
			continue;
		OK(clock_gettime, i, &ts);
		SHOW("now", &ts, sizeof(ts));
		OK(clock_getres, i, &ts);
		SHOW("resolution", &ts, sizeof(ts));
	}
	OK(clock_getres, CLOCK_MONOTONIC, NULL);
	FAILS(EINVAL, clock_gettime, 99, &ts);
	FAILS(EINVAL, clock_getres, 99, &ts);
	ts = (struct timespec){ 0, 2000000 };
	OK(nanosleep, &ts, NULL);
	OK(nanosleep, &ts, &ts);
	FAILS(EINVAL, nanosleep, &(struct timespec){ -1, 0 }, NULL);
	OK(clock_nanosleep, CLOCK_MONOTONIC, 0, &ts, NULL);
	OK(clock_gettime, CLOCK_MONOTONIC, &ts);
	ts.tv_nsec = 999999999;
	OK(clock_nanosleep, CLOCK_REALTIME, TIMER_ABSTIME, &(struct timespec){ 1, 0 }, NULL);
	FAILS(EINVAL, clock_nanosleep, 99, 0, &ts, NULL);
}

static void timers(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_NONE };
	const struct itimerspec long_one = { { 5, 0 }, { 100, 0 } }, soon = { { 0, 0 }, { 0, 1 } };
	struct itimerspec is;
	uint64_t ticks;
	int id = -1;
	long fd;

	OK(timer_create, CLOCK_MONOTONIC, &ev, &id);
	printf("timer %d\n", id);
	FAILS(EINVAL, timer_create, 99, &ev, &id);
	OK(timer_settime, id, 0, &long_one, NULL);
	OK(timer_settime, id, 0, &long_one, &is);
	CHECK(is.it_value.tv_sec == 99 || is.it_value.tv_sec == 100);
	OK(timer_gettime, id, &is);
	SHOW("itimerspec", &is, sizeof(is));
	OK(timer_getoverrun, id);
	OK(timer_delete, id);
	FAILS(EINVAL, timer_delete, id);
	FAILS(EINVAL, timer_gettime, id, &is);
	FAILS(EINVAL, timer_settime, id, 0, &long_one, NULL);
	fd = OK(timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK);
	FAILS(EINVAL, timerfd_create, 99, 0);
	FAILS(EAGAIN, read, fd, &ticks, 8L);
	OK(timerfd_settime, fd, 0, &long_one, NULL);
	OK(timerfd_settime, fd, 0, &soon, &is);
	SHOW("itimerspec", &is, sizeof(is));
	OK(nanosleep, &(struct timespec){ 0, 1000000 }, NULL);
	CHECK(OK(read, fd, &ticks, 8L) == 8 && ticks == 1);
	OK(timerfd_gettime, fd, &is);
	CHECK(!is.it_value.tv_sec && !is.it_value.tv_nsec);
	FAILS(EINVAL, timerfd_gettime, 0, &is);
	FAILS(EINVAL, timerfd_settime, 0, 0, &soon, NULL);
	OK(close, fd);
}

static void told(void)
{
	struct utsname u;
	struct rusage use;
	struct sysinfo si;
	struct tms t;
	struct timex tx = { 0 };
	struct ustat_words w;

	OK(uname, &u);
	printf("%s %s %s\n", u.sysname, u.release, u.version);
	FAILS(EFAULT, uname, NULL);
	OK(getrusage, RUSAGE_SELF, &use);
	SHOW("rusage", &use, sizeof(use));
	OK(getrusage, RUSAGE_CHILDREN, &use);
	OK(getrusage, RUSAGE_THREAD, &use);
	FAILS(EINVAL, getrusage, 99, &use);
	OK(sysinfo, &si);
	SHOW("sysinfo", &si, sizeof(si));
	FAILS(EFAULT, sysinfo, NULL);
	CHECK(OK(times, &t) > 0);
	CHECK(OK(times, NULL) > 0);
	FAILS(EFAULT, times, 1L);
	OK(adjtimex, &tx);
	SHOW("timex", &tx, sizeof(tx));
	tx = (struct timex){ 0 };
	OK(clock_adjtime, CLOCK_REALTIME, &tx);
	SHOW("timex", &tx, sizeof(tx));
	FAILS(EINVAL, ustat, 0x999999L, &w);
	OK(getpriority, 0, 0);
	OK(sysfs, 3);
	OK(sysfs, 2, 0, u.machine);
	printf("%s\n", u.machine);
}

int main(void)
{
	clocks();
	timers();
	told();
	return 1;
}
