/* SPDX-License-Identifier: MIT */
#include "collect/sysnames.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest.h"
#include "collect/commre_nfa.h"

#define ITEM_MAX 128	/* longest item of a list, with its end */

static const struct class_row {
	const char *name;
	uint32_t bit;
	bool bare;	/* strace also takes it without its % */
} classes[] = {
	{ "file", SYSNAME_FILE, true },
	{ "process", SYSNAME_PROCESS, true },
	{ "network", SYSNAME_NETWORK, true },
	{ "net", SYSNAME_NETWORK, false },
	{ "signal", SYSNAME_SIGNAL, true },
	{ "ipc", SYSNAME_IPC, true },
	{ "desc", SYSNAME_DESC, true },
	{ "memory", SYSNAME_MEMORY, true },
	{ "creds", SYSNAME_CREDS, false },
	{ "stat", SYSNAME_STAT, false },
	{ "lstat", SYSNAME_LSTAT, false },
	{ "fstat", SYSNAME_FSTAT, false },
	{ "%stat", SYSNAME_STATS, false },
	{ "statfs", SYSNAME_STATFS, false },
	{ "fstatfs", SYSNAME_FSTATFS, false },
	{ "%statfs", SYSNAME_STATFSS, false },
	{ "clock", SYSNAME_CLOCK, false },
	{ "pure", SYSNAME_PURE, false },
};
#define NCLASSES (sizeof(classes) / sizeof(*classes))

static const char *const futex_ops[SYSNAMES_FUTEX_OPS] = {
	"wait", "wake", "fd", "requeue", "cmp_requeue", "wake_op", "lock_pi", "unlock_pi",
	"trylock_pi", "wait_bitset", "wake_bitset", "wait_requeue_pi", "cmp_requeue_pi",
	"lock_pi2", "futex_waitv", "futex_wait", "futex_wake", "futex_requeue",
};

const char *futex_op_name(unsigned int op)
{
	return op < SYSNAMES_FUTEX_OPS ? futex_ops[op] : "unknown";
}

const char *sysname(unsigned int nr)
{
	return nr < SYSNAMES_MAX ? sysname_table[nr].name : "syscall_other";
}

bool sysname_known(unsigned int nr)
{
	return nr < SYSNAMES_MAX && strncmp(sysname_table[nr].name, "syscall_", 8) != 0;
}

int sysname_find(const char *name)
{
	int nr;

	for (nr = 0; nr < SYSNAMES_MAX; nr++)
		if (!strcmp(sysname_table[nr].name, name))
			return nr;
	return -ENOENT;
}

/* The shortest known name that has @name in it: fstatat is newfstatat here. */
static const char *shortest_with(const char *name)
{
	const char *found = NULL;
	unsigned int nr;

	for (nr = 0; nr < SYSNAMES_MAX; nr++) {
		const char *other = sysname_table[nr].name;

		if (sysname_known(nr) && strstr(other, name) &&
		    (!found || strlen(other) < strlen(found)))
			found = other;
	}
	return found;
}

const char *sysname_nearest(const char *name)
{
	size_t len = strlen(name);
	const char *longer, *found = NULL;
	unsigned int nr, distance = 0;

	if (len < 3)
		return NULL;
	/* The C library's name with the kernel's pre- or suffix: rt_, new, 64, 2. */
	longer = shortest_with(name);
	if (longer && strlen(longer) <= len + 3)
		return longer;
	for (nr = 0; nr < SYSNAMES_MAX; nr++)
		if (sysname_known(nr))
			cli_suggest(name, sysname_table[nr].name, &found, &distance);
	return found ? found : longer;
}

static void set_bit(struct sysname_set *set, unsigned int nr)
{
	set->bits[nr / 64] |= 1ULL << (nr % 64);
}

static void add_class(struct sysname_set *set, uint32_t bit)
{
	unsigned int nr;

	for (nr = 0; nr < SYSNAMES_MAX; nr++)
		if (sysname_table[nr].classes & bit)
			set_bit(set, nr);
}

static const struct class_row *find_class(const char *name, bool bare)
{
	size_t i;

	for (i = 0; i < NCLASSES; i++)
		if (!strcmp(classes[i].name, name) && (classes[i].bare || !bare))
			return &classes[i];
	return NULL;
}

static int add_regex(struct sysname_set *set, const char *pattern, bool may_miss, struct err *err)
{
	struct nfa *nfa = malloc(sizeof(*nfa));
	unsigned int nr, hits = 0;
	int r;

	if (!nfa)
		return err_sys(err, ENOMEM, "cannot read a list of system calls");
	r = commre_parse(nfa, "system call", pattern, err);
	if (r) {
		free(nfa);
		return r;
	}
	for (nr = 0; nr < SYSNAMES_MAX; nr++) {
		if (sysname_known(nr) && commre_search(nfa, sysname_table[nr].name)) {
			set_bit(set, nr);
			hits++;
		}
	}
	free(nfa);
	if (!hits && !may_miss)
		return err_set(err, EINVAL, "no system call matches '/%s'", pattern);
	return 0;
}

static int unknown_class(const char *item, struct err *err)
{
	char all[200] = "";
	size_t i, n = 0;

	for (i = 0; i < NCLASSES; i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, " %%%s", classes[i].name);
	err_set(err, EINVAL, "unknown class of system calls '%s'", item);
	err_hint(err, "classes are%s", all);
	return -EINVAL;
}

static int unknown_call(const char *item, struct err *err)
{
	const char *near = sysname_nearest(item);

	err_set(err, EINVAL, "unknown system call '%s'", item);
	if (find_class(item, false))
		err_hint(err, "the class is written %%%s", item);
	else if (near)
		err_hint(err, "the nearest name is '%s'; ?%s ignores a name that is not known",
			 near, item);
	return -EINVAL;
}

/* Puts the calls of one item, without its ! and ?, into the empty *set. */
static int parse_item(const char *item, bool may_miss, struct sysname_set *set, struct err *err)
{
	const struct class_row *class;
	unsigned long number;
	char *end;
	int nr;

	if (!strcmp(item, "none"))
		return 0;
	if (!strcmp(item, "all")) {
		memset(set, 0xff, sizeof(*set));
		return 0;
	}
	if (item[0] == '/')
		return add_regex(set, item + 1, may_miss, err);
	class = find_class(item[0] == '%' ? item + 1 : item, item[0] != '%');
	if (class) {
		add_class(set, class->bit);
		return 0;
	}
	if (item[0] == '%')
		return may_miss ? 0 : unknown_class(item, err);
	nr = sysname_find(item);
	if (nr < 0 && item[0] >= '0' && item[0] <= '9') {
		number = strtoul(item, &end, 0);
		if (!*end && number < SYSNAMES_MAX)
			nr = (int)number;
	}
	if (nr < 0)
		return may_miss ? 0 : unknown_call(item, err);
	set_bit(set, (unsigned int)nr);
	return 0;
}

/* Copies the item at *list up to its comma; moves *list behind that. */
static int next_item(const char **list, char *item, struct err *err)
{
	size_t len = strcspn(*list, ",");

	if (!len)
		return err_set(err, EINVAL, "empty item in the list of system calls");
	if (len >= ITEM_MAX)
		return err_set(err, EINVAL, "too long for a system call: '%.32s...'", *list);
	memcpy(item, *list, len);
	item[len] = '\0';
	*list += len;
	return 0;
}

int sysnames_parse_set(const char *list, struct sysname_set *set, struct err *err)
{
	bool inverted, more = true;
	char item[ITEM_MAX];
	size_t i;
	int rc;

	memset(set, 0, sizeof(*set));
	if (!strncmp(list, "trace=", 6))
		list += 6;
	else if (!strncmp(list, "t=", 2))
		list += 2;
	inverted = list[0] == '!';
	list += inverted;
	while (more) {
		struct sysname_set one = { { 0 } };
		bool out, may_miss;
		const char *name = item;

		rc = next_item(&list, item, err);
		if (rc)
			return rc;
		out = name[0] == '!';
		name += out;
		may_miss = name[0] == '?';
		name += may_miss;
		rc = parse_item(name, may_miss, &one, err);
		if (rc)
			return rc;
		/* In an inverted list all items are out, said once or again. */
		for (i = 0; i < SYSNAMES_MAX / 64; i++)
			set->bits[i] = out && !inverted ? set->bits[i] & ~one.bits[i] :
							  set->bits[i] | one.bits[i];
		more = *list == ',';
		list += more;
	}
	for (i = 0; inverted && i < SYSNAMES_MAX / 64; i++)
		set->bits[i] = ~set->bits[i];
	return 0;
}
