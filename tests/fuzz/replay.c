/* SPDX-License-Identifier: MIT */
/* Hands every file named, and every file of a directory named, to a fuzz target once. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX_BYTES (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int files;

static int replay_file(const char *path)
{
	uint8_t *data, *exact;
	size_t n;
	FILE *f = fopen(path, "rb");

	if (!f) {
		perror(path);
		return 1;
	}
	data = malloc(FILE_MAX_BYTES);
	n = data ? fread(data, 1, FILE_MAX_BYTES, f) : 0;
	fclose(f);
	/* A block of just this size: a sanitizer then sees a read past its end. */
	exact = malloc(n ? n : 1);
	if (!data || !exact) {
		fprintf(stderr, "%s: out of memory\n", path);
		free(data);
		free(exact);
		return 1;
	}
	memcpy(exact, data, n);
	free(data);
	/* Names the culprit before a crash can. */
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	files++;
	return 0;
}

static int replay_dir(const char *path)
{
	char name[4096];
	struct dirent *e;
	int rc = 0;
	DIR *d = opendir(path);

	if (!d) {
		perror(path);
		return 1;
	}
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		rc |= replay_file(name);
	}
	closedir(d);
	return rc;
}

int main(int argc, char **argv)
{
	struct stat st;
	int i, rc = 0;

	for (i = 1; i < argc; i++) {
		if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			rc |= replay_dir(argv[i]);
		else
			rc |= replay_file(argv[i]);
	}
	if (!files) {
		fprintf(stderr, "%s: no file to replay\n", argv[0]);
		return 1;
	}
	return rc;
}
