// rings.h: the memory shared with the controller: plans come in, records go out.
#ifndef HD_CORE_RINGS_H
#define HD_CORE_RINGS_H
#include "core/base.h"

extern struct hd_shm *hd_shm;
extern long hd_controller; // its process id: when another process is the parent, it has died
void hd_out(uint32_t type, const void *data, uint32_t n);
void hd_out2(uint32_t type, const void *a, uint32_t na, const void *b, uint32_t nb);
const struct hd_plan *hd_plan_next(void);            // waits; NULL: asked to stop
void hd_plan_release(void);                          // done with the record
HD_COLD _Noreturn void hd_refuse(const char *fmt, ...); // state REFUSED, process ends
HD_COLD _Noreturn void hd_fatal(const char *fmt, ...);  // state FATAL, process ends
int hd_format(char *buf, int size, const char *fmt, __builtin_va_list ap); // %s %d %u %x %lx %c
const char *hd_text(const char *fmt, ...);           // in a buffer of its own, for messages
const char *hd_base_name(const char *path);
#endif
