/* SPDX-License-Identifier: MIT */
/* System V and POSIX: memory, semaphores, messages, between processes. */
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>

#include "rr_calls.h"

#define PAGE 4096L

static void memory(void)
{
	const long id = OK(shmget, IPC_PRIVATE, 3 * PAGE - 100, IPC_CREAT | 0600);
	struct shmid_ds ds;
	struct shminfo info;
	struct shm_info use;
	char *p, *q, *room;
	int status;

	FAILS(ENOENT, shmget, 0x12345678, PAGE, 0);
	p = (char *)OK(shmat, id, NULL, 0);
	FAILS(EINVAL, shmat, 0x7fffffff, NULL, 0);
	memset(p, 's', 2 * PAGE);
	q = (char *)OK(shmat, id, NULL, SHM_RDONLY);
	CHECK(q != p && q[PAGE] == 's' && q[2 * PAGE] == 0);
	p[2 * PAGE] = 't';
	CHECK(q[2 * PAGE] == 't');
	if (!OK(fork)) {
		CHECK(p[2 * PAGE] == 't');
		strcpy(p + PAGE, "child");
		_exit(0);
	}
	CHECK(wait(&status) > 0 && !status && !strcmp(q + PAGE, "child"));
	OK(shmctl, id, IPC_STAT, &ds);
	CHECK(ds.shm_segsz == 3 * PAGE - 100 && ds.shm_nattch == 2);
	SHOW("shmid", &ds, sizeof(ds));
	OK(shmctl, 0, IPC_INFO, &info);
	SHOW("shminfo", &info, sizeof(info));
	OK(shmctl, 0, SHM_INFO, &use);
	SHOW("shm_info", &use, sizeof(use));
	FAILS(EINVAL, shmctl, 0x7fffffff, IPC_STAT, &ds);
	OK(shmdt, q);
	FAILS(EINVAL, shmdt, q);
	room = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(room, 'r', 8 * PAGE);
	q = (char *)OK(shmat, id, room + PAGE, SHM_REMAP);
	CHECK(q == room + PAGE && room[0] == 'r' && room[4 * PAGE] == 'r' &&
	      !strcmp(q + PAGE, "child"));
	OK(mprotect, q, PAGE, PROT_READ);
	OK(shmctl, id, IPC_RMID, NULL);
	OK(shmdt, p);
	CHECK(!strcmp(q + PAGE, "child"));
	OK(shmdt, q);
	FAILS(EINVAL, shmctl, id, IPC_STAT, &ds);
}

/* A segment that another process attaches by its number. */
static void by_number(void)
{
	const long id = OK(shmget, IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
	char *p;
	int status;

	if (!OK(fork)) {
		p = shmat((int)id, NULL, 0);
		strcpy(p, "attached there");
		_exit(0);
	}
	CHECK(wait(&status) > 0 && !status);
	p = (char *)OK(shmat, id, NULL, 0);
	CHECK(!strcmp(p, "attached there"));
	OK(shmctl, id, IPC_RMID, NULL);
}

static void posix_memory(void)
{
	char name[32], *p;
	int fd, status;

	snprintf(name, sizeof(name), "/rr-calls-%d", getpid());
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, 2 * PAGE));
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!fork()) {
		char *q = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			       shm_open(name, O_RDWR, 0), PAGE);

		strcpy(q, "over there");
		_exit(0);
	}
	CHECK(wait(&status) > 0 && !status && !strcmp(p + PAGE, "over there"));
	CHECK(!shm_unlink(name));
	OK(pwrite64, fd, "by a call", 9L, 10L);
	CHECK(!memcmp(p + 10, "by a call", 9));
}

static void semaphores(void)
{
	const long id = OK(semget, IPC_PRIVATE, 3, IPC_CREAT | 0600);
	unsigned short all[3] = { 4, 5, 6 };
	struct sembuf op = { 0, -1, IPC_NOWAIT };
	struct semid_ds ds;
	struct seminfo info;

	OK(semctl, id, 0, SETALL, all);
	OK(semctl, id, 1, SETVAL, 9);
	OK(semop, id, &op, 1L);
	OK(semctl, id, 0, GETALL, all);
	CHECK(all[0] == 3 && all[1] == 9 && all[2] == 6);
	CHECK(OK(semctl, id, 0, GETVAL) == 3 && OK(semctl, id, 0, GETPID) == getpid());
	op.sem_op = -99;
	FAILS(EAGAIN, semop, id, &op, 1L);
	op.sem_flg = 0;
	FAILS(EAGAIN, semtimedop, id, &op, 1L, &(struct timespec){ 0, 1000000 });
	OK(semctl, id, 0, IPC_STAT, &ds);
	SHOW("semid", &ds, sizeof(ds));
	OK(semctl, 0, 0, IPC_INFO, &info);
	SHOW("seminfo", &info, sizeof(info));
	OK(semctl, id, 0, IPC_RMID);
}

static void messages(void)
{
	const long id = OK(msgget, IPC_PRIVATE, IPC_CREAT | 0600);
	struct { long type; char text[20]; } m = { 3, "a message" };
	struct msqid_ds ds;
	struct msginfo info;

	OK(msgsnd, id, &m, sizeof(m.text), 0);
	m.type = 4;
	OK(msgsnd, id, &m, 4L, 0);
	memset(&m, 0, sizeof(m));
	CHECK(OK(msgrcv, id, &m, sizeof(m.text), 4L, 0) == 4 && !memcmp(m.text, "a me", 4));
	FAILS(E2BIG, msgrcv, id, &m, 3L, 0L, 0);
	CHECK(OK(msgrcv, id, &m, 3L, 0L, MSG_NOERROR) == 3 && m.type == 3);
	FAILS(ENOMSG, msgrcv, id, &m, 3L, 0L, IPC_NOWAIT);
	OK(msgctl, id, IPC_STAT, &ds);
	SHOW("msqid", &ds, sizeof(ds));
	OK(msgctl, 0, IPC_INFO, &info);
	SHOW("msginfo", &info, sizeof(info));
	OK(msgctl, id, IPC_RMID, NULL);
}

static void queues(void)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 32 }, was;
	char name[32], buf[32];
	unsigned int prio = 0;
	long q;

	snprintf(name, sizeof(name), "rr-calls-%d", getpid());
	q = syscall(SYS_mq_open, name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attr);
	if (q < 0 && errno == ENOSYS)
		return;
	CHECK(q >= 0);
	OK(mq_timedsend, q, "low", 3L, 1, NULL);
	OK(mq_timedsend, q, "high", 4L, 9, NULL);
	CHECK(OK(mq_timedreceive, q, buf, sizeof(buf), &prio, NULL) == 4 && prio == 9);
	CHECK(OK(mq_timedreceive, q, buf, sizeof(buf), NULL, NULL) == 3);
	FAILS(EAGAIN, mq_timedreceive, q, buf, sizeof(buf), NULL, NULL);
	OK(mq_getsetattr, q, NULL, &was);
	CHECK(was.mq_maxmsg == 4);
	OK(mq_getsetattr, q, &attr, &was);
	OK(mq_notify, q, NULL);
	OK(mq_unlink, name);
	FAILS(ENOENT, mq_unlink, name);
	OK(close, q);
}

int main(void)
{
	memory();
	by_number();
	posix_memory();
	semaphores();
	messages();
	queues();
	return 0;
}
