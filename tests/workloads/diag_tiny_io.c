/* SPDX-License-Identifier: MIT */
/* diag_tiny_io: reads of one byte from a file in memory, 200,000 or 90,000. */
#include "diag.h"

int main(int argc, char **argv)
{
	int n = diag_trigger(argc, argv) ? 200000 : 90000;
	int fd = memfd_create("diag_tiny_io", MFD_CLOEXEC);
	char c;

	if (fd < 0 || ftruncate(fd, n))
		wl_die("memfd_create");
	for (int i = 0; i < n; i++)
		diag_read(fd, &c, 1);
	return 0;
}
