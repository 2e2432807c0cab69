// rings.h: the memory shared with the controller: plans come in, records go out.
#ifndef HD_CORE_RINGS_H
#define HD_CORE_RINGS_H
#include "core/base.h"

extern HD_OWN struct hd_shm *hd_shm;
extern long hd_process;    // the process's own id as the kernel has it, which is main's thread's; of a forked execution, its parent's
extern long hd_controller; // the controller's process id; it has died once getppid returns another
void hd_out(uint32_t type, const void *data, uint32_t n);
void hd_out2(uint32_t type, const void *a, uint32_t na, const void *b, uint32_t nb);
const struct hd_plan *hd_plan_next(void);            // blocks until a plan arrives; NULL: the controller asked to stop
void hd_plan_release(void);                          // returns the plan's space to the ring
HD_COLD _Noreturn void hd_refuse(const char *fmt, ...); // sets state REFUSED and ends the process
HD_COLD _Noreturn void hd_fatal(const char *fmt, ...);  // sets state FATAL and ends the process
int hd_format(char *buf, int size, const char *fmt, __builtin_va_list ap); // %s %d %u %x %lx %c
const char *hd_text(const char *fmt, ...);           // formats a message into a static buffer
const char *hd_base_name(const char *path);
#endif
