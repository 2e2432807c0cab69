// attach.h: whether heddle started this process, and what the process is doing.
#ifndef HD_CORE_ATTACH_H
#define HD_CORE_ATTACH_H
#include "core/base.h"

enum hd_mode {
  HD_UNKNOWN,  // no hook has run yet
  HD_PASSIVE,  // not started by heddle: every hook forwards to libc
  HD_EARLY,    // started by heddle, main not reached: own heap, the rest forwards
  HD_ACTIVE,   // an execution is running
  HD_CARRIER,  // between executions, on the carrier's stack
  HD_CHILD,    // in a child that the program forked: own heap, the rest forwards
};
extern HD_OWN enum hd_mode hd_mode;
void hd_attach(void); // decides PASSIVE or EARLY; safe from any hook at any time
static inline bool hd_active(void) { return HD_LIKELY(hd_mode == HD_ACTIVE); }
// Reports whether the runtime must serve the program's heap: always in a process that heddle started.
static inline bool hd_controlled(void) {
  if (HD_UNLIKELY(hd_mode == HD_UNKNOWN)) hd_attach();
  return hd_mode != HD_PASSIVE;
}
// Reports whether the program sees the machine that heddle models: from its libraries' constructors on.
static inline bool hd_machine_is_modelled(void) { return hd_controlled() && (hd_mode == HD_ACTIVE || hd_mode == HD_EARLY); }

// How far the heap and the threads' stacks lie behind their usual places, in bytes: a multiple of 16 pages, and 0 unless
// the controller wants random addresses.
extern uint64_t hd_random_gap;
extern int hd_processors; // number of processors of that machine (core/attach.c)

enum { HD_TID_BASE = 1000, HD_CHILD_BASE = 100000 }; // the first identifiers the program sees: of threads, of child processes
static inline int hd_pid(void) { return HD_TID_BASE; } // a process's identifier is its main thread's
#endif
