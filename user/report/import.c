/* SPDX-License-Identifier: MIT */
#include "report/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "report/import_impl.h"

/* --- a summary of tracer --------------------------------------------------- */

static int take_summary(struct import *imp, const char *text, size_t len, struct err *err)
{
	const struct summary *s = &imp->summary->s;
	struct import_bench *b = import_add_bench(imp, "run", err);
	struct import_run *r = b ? import_add_run(imp, b, err) : NULL;
	size_t words = 0;
	int e;

	if (!r)
		return -err->code;
	while (s->command && s->command[words])
		words++;
	b->bench.tracer = s->tracer_version ? s->tracer_version : "";
	b->bench.when_ns = s->started_realtime_ns;
	r->run.start_ns = s->started_realtime_ns;
	r->run.exit_code = s->exit_code;
	r->run.signal = s->exit_signal;
	r->detail_len = len;
	e = import_keep_argv(imp, s->command, words, &b->bench.argv, err);
	return e ? e : import_keep(imp, text, len, &r->detail, err);
}

static int import_summary(struct import *imp, const char *text, size_t len, struct err *err)
{
	struct summary_file *f = malloc(sizeof(*f));
	int e;

	if (!f)
		return err_sys(err, ENOMEM, "cannot read the summary");
	e = summary_read(f, text, len, err);
	if (e) {
		free(f);
		return e;
	}
	imp->summary = f;
	return take_summary(imp, text, len, err);
}

/* --- which format it is ---------------------------------------------------- */

typedef int import_reader(struct import *imp, const char *text, size_t len, struct err *err);

/* Of JSON, by the first member that tells; the others are skipped, whatever they are. */
static const struct { const char *member; import_reader *read; } json_formats[] = {
	{ "schema", import_summary },
	{ "results", import_hyperfine },
};
#define JSON_FORMATS (sizeof(json_formats) / sizeof(*json_formats))

static import_reader *json_reader(const struct jread *j)
{
	size_t i;

	for (i = 0; i < JSON_FORMATS; i++)
		if (strlen(json_formats[i].member) == j->n &&
		    !memcmp(json_formats[i].member, j->s, j->n))
			return json_formats[i].read;
	return NULL;
}

static int find_json_reader(struct jread *j, import_reader **read)
{
	int more, e = jread_object(j);

	*read = NULL;
	while (!e && (more = jread_member(j)) != 0) {
		if (more < 0)
			return more;
		*read = json_reader(j);
		if (*read)
			return 0;
		e = jread_skip(j);
	}
	return e ? e : jread_fail(j, "it has no 'results' as hyperfine's, and no 'schema' as "
				  "tracer's");
}

static int import_json(struct import *imp, const char *text, size_t len, struct err *err)
{
	import_reader *read;
	struct jread j;
	int e;

	jread_init(&j, text, len, err);
	e = find_json_reader(&j, &read);
	if (e)
		import_where(&j, err);
	jread_release(&j);
	return e ? e : read(imp, text, len, err);
}

int import_text(const char *text, size_t len, struct import *imp, struct err *err)
{
	static const char blanks[] = " \t\r\n", mark[] = "\xef\xbb\xbf";
	size_t at = 0;
	int e;

	memset(imp, 0, sizeof(*imp));
	/* A byte order mark, as PowerShell writes it. */
	if (len >= 3 && !memcmp(text, mark, 3)) {
		text += 3;
		len -= 3;
	}
	while (at < len && memchr(blanks, text[at], sizeof(blanks) - 1))
		at++;
	if (at == len)
		e = err_set(err, EINVAL, "it is empty");
	else if (text[at] == '{' || text[at] == '[')
		e = import_json(imp, text, len, err);
	else
		e = import_gobench(imp, text, len, err);
	if (!e)
		return 0;
	if (e == -EINVAL && !imp->values && !err->hint[0])
		err_hint(err, "a file is one that 'hyperfine --export-json FILE', 'go test -bench' "
			 "or 'tracer run --json -o FILE' wrote");
	import_release(imp);
	return e;
}

/* --- files ----------------------------------------------------------------- */

static int read_file(const char *path, struct buf *text, uint64_t *changed_ns, struct err *err)
{
	int e = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return err_sys(err, errno, "cannot open %s", path);
	if (fstat(fd, &st))
		e = -errno;
	/* Told at once, and not when memory is full of it. */
	else if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > IMPORT_FILE_BYTES)
		e = -EFBIG;
	else
		e = io_read_fd(fd, text, IMPORT_FILE_BYTES);
	close(fd);
	if (e == -EFBIG)
		return err_set(err, EFBIG, "cannot read %s: it has more than %zu MiB", path,
			       IMPORT_FILE_BYTES >> 20);
	if (e)
		return err_sys(err, -e, "cannot read %s", path);
	*changed_ns = st.st_mtim.tv_sec < 0 ? 0 : (uint64_t)st.st_mtim.tv_sec * 1000000000 +
						  (uint64_t)st.st_mtim.tv_nsec;
	return 0;
}

int import_file(const char *path, struct import *imp, struct err *err)
{
	struct buf text = { .max = IMPORT_FILE_BYTES + 1 };
	uint64_t changed_ns = 0;
	size_t i;
	int e = read_file(path, &text, &changed_ns, err);

	if (!e) {
		e = import_text(text.data, text.len, imp, err);
		if (e)
			err_prefix(err, "cannot read %s", path);
	}
	for (i = 0; !e && i < imp->benches; i++)
		if (!imp->bench[i].bench.when_ns)
			imp->bench[i].bench.when_ns = changed_ns;
	buf_release(&text);
	return e;
}
