/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Opening a trace takes some 40 ms, most of it the kernel's look at the
 * programs. Who runs a command again and again opens it once: when nobody that is
 * traced lives on, a stop leaves all attached, and the next trace begins with maps
 * and counters as they were after loading. Meanwhile there are no targets, so that
 * nothing is counted.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/live_progs.h"
#include "collect/live_state.h"
#include "live.skel.h"

int live_again_keep(struct live *l)
{
	l->fresh_bss = malloc(sizeof(*l->bpf->bss));
	if (!l->fresh_bss)
		return -ENOMEM;
	memcpy(l->fresh_bss, l->bpf->bss, sizeof(*l->bpf->bss));
	return 0;
}

static int wipe_hash(int fd, size_t key_bytes)
{
	char *key = malloc(key_bytes);
	int r = 0;

	if (!key)
		return -ENOMEM;
	/* Nobody adds: each that is deleted is gone. */
	while (!r && !bpf_map_get_next_key(fd, NULL, key))
		if (bpf_map_delete_elem(fd, key))
			r = -errno;
	free(key);
	return r;
}

/* @used: rows that are not zero; NULL: all may be. */
static int wipe_per_cpu(int fd, size_t value_bytes, uint32_t rows, int ncpus, const bool *used)
{
	char *zeros = calloc((size_t)ncpus, (value_bytes + 7) & ~(size_t)7);
	uint32_t i;
	int r = 0;

	if (!zeros)
		return -ENOMEM;
	for (i = 0; !r && i < rows; i++)
		if ((!used || used[i]) && bpf_map_update_elem(fd, &i, zeros, 0))
			r = -errno;
	free(zeros);
	return r;
}

/* What a trace fills: hash maps and rows for each CPU. Arrays are the set-up's, or memory. */
static int wipe(const struct live *l, const struct bpf_map *map)
{
	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
		return wipe_hash(bpf_map__fd(map), bpf_map__key_size(map));
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return wipe_per_cpu(bpf_map__fd(map), bpf_map__value_size(map),
				    bpf_map__max_entries(map), l->ncpus,
				    map == l->bpf->maps.calls ? l->called : NULL);
	default:
		return 0;
	}
}

/* Of @l what live_open made; what a trace adds to it is as in the beginning. */
static struct live opened(const struct live *l)
{
	struct live to = {
		.bpf = l->bpf, .fresh_bss = l->fresh_bss, .nlink = l->nlink, .ring = l->ring,
		.mode = l->mode, .collect = l->collect, .way = l->way, .ncpus = l->ncpus,
		.by_user = l->by_user, .sym_opts = l->sym_opts,
		.missed_before = live_missed_ever(l),
	};

	memcpy(to.link, l->link, sizeof(to.link));
	return to;
}

int live_again(struct live *l, struct err *err)
{
	struct bpf_map *map;
	struct live to;
	int r = 0;

	if (!l->nlink)
		return err_set(err, EBUSY, "threads of the last run live on");
	bpf_object__for_each_map(map, l->bpf->obj) {
		r = wipe(l, map);
		if (r)
			return err_sys(err, -r, "cannot empty the map %s", bpf_map__name(map));
	}
	to = opened(l);
	live_release_tables(l);
	sym_free(l->sym);
	*l = to;
	memcpy(l->bpf->bss, l->fresh_bss, sizeof(*l->bpf->bss));
	if (live_init_tables(l))
		return err_sys(err, ENOMEM, "cannot set up the trace");
	l->sym = sym_new(&l->sym_opts, err);
	return l->sym ? 0 : -err->code;
}
