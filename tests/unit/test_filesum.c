/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "rr/filesum.h"

#define BYTES ((size_t)600001)	/* some of the parts that are read at a time, and a rest */

static unsigned char data[BYTES];

static uint64_t sum_of(int fd, size_t n)
{
	uint64_t sum = 0;

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, data, n, 0), n);
	assert_int_equal(filesum(fd, &sum), 0);
	return sum;
}

static void each_byte_and_the_length_count(void **state)
{
	const int fd = memfd_create("filesum", MFD_CLOEXEC);
	static const size_t at[] = { 0, 1, 31, 32, 4096, 262143, 262144, 524288, BYTES - 1 };
	uint64_t was;

	(void)state;
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (unsigned char)(i * i >> 5);
	was = sum_of(fd, BYTES);
	assert_true(sum_of(fd, BYTES) == was);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		for (int bit = 1; bit < 256; bit <<= 1) {
			data[at[i]] ^= (unsigned char)bit;
			assert_true(sum_of(fd, BYTES) != was);
			data[at[i]] ^= (unsigned char)bit;
		}
	}
	/* Zeros at the end are not the zeros that a step is filled up with. */
	memset(data, 0, BYTES);
	for (size_t n = 0; n < 40; n++)
		for (size_t k = 0; k < n; k++)
			assert_true(sum_of(fd, n) != sum_of(fd, k));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_byte_and_the_length_count) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
