/* SPDX-License-Identifier: MIT */
/* package: libc6-dev */
#include <pthread.h>

int main(void)
{
	return pthread_self() == 0;
}
