/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_MACHINE_H
#define COLLECT_MACHINE_H

/* Where and of what a bench is taken: the machine as it stands, and the sources' commit. */
#include "base/buf.h"
#include "store/store.h"

struct machine {
	struct store_machine facts;
	double load;		/* average over the last minute; NAN: not known */
	double steal;		/* of CPU time since boot, taken by others of the host; NAN */
	struct buf text;	/* holds what .facts points at */
};

/* What cannot be found is "" or 0. 0 or -ENOMEM; machine_release() in every case. */
int machine_look(struct machine *m);
void machine_release(struct machine *m);

#define MACHINE_COMMIT 64	/* hex digits of a SHA-256 */

/*
 * The commit that is checked out in the working directory, by git as the user who began
 * all this: a repository's configuration can have git run programs, which are not
 * root's to run. "" where there is none, or no git. *dirty: tracked files differ.
 */
void machine_commit(char commit[MACHINE_COMMIT + 1], bool *dirty);

#endif
