#include "tui/tui.h"
int tui_check(struct err *err); int tui_check(struct err *err){(void)err;return 0;}
void tui_restore(void){} void tui_free(struct tui*t){(void)t;} struct tui*tui_new(const struct tui_opts*o,struct err*e){(void)o;(void)e;return 0;}
bool tui_paused(const struct tui*t){(void)t;return 0;} enum tui_wish tui_input(struct tui*t){(void)t;return 0;} void tui_show(struct tui*t,const struct now*n){(void)t;(void)n;} uint64_t tui_delay_ns(const struct tui*t){(void)t;return 1;}
