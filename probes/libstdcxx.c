/* SPDX-License-Identifier: MIT */
/* package: clang */
/* link: -lstdc++ */
char *__cxa_demangle(const char *mangled, char *buf, unsigned long *bytes, int *status);

int main(void)
{
	return !__cxa_demangle;
}
