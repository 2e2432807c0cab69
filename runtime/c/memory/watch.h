// watch.h: watching executions for data races.
#ifndef HD_MEMORY_WATCH_H
#define HD_MEMORY_WATCH_H
#include "core/registration.h"

extern const struct hd_registration hd_watch;
#endif
