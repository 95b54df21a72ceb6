/* SPDX-License-Identifier: MIT */
#ifndef BASE_KEEPENV_H
#define BASE_KEEPENV_H

/*
 * The C library takes LD_LIBRARY_PATH and its like away from a program whose file
 * has capabilities, and with it from the command that this one runs, which has
 * none. So whoever starts it saves them under other names, which mean nothing to
 * anybody, and the command's process has them back just before its exec.
 */
void keepenv_save(void);
void keepenv_restore(void);

#endif
