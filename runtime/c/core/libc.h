// libc.h: access to the libc functions that the runtime interposes.
#ifndef HD_CORE_LIBC_H
#define HD_CORE_LIBC_H
#include "core/attach.h"
#include "core/reached.h"

struct hd_real {
#define HD_LIBC(name) void *name;
#include "core/libc.def"
#undef HD_LIBC
};
extern struct hd_real hd_real;
void hd_real_init(void);
void *hd_real_find(const char *name); // returns libc's function, or NULL if libc has no function of that name
extern void *(*hd_real_dlsym)(void *, const char *); // set by the first successful lookup
bool hd_real_is(const void *p, const char *name); // p is the libc function name, which the runtime interposes
extern HD_OWN uint64_t hd_real_calls; // uses of REAL: what else a loop does than to read memory (process/child.c)
// Evaluates to libc's function, with the type of the declaration in scope: libc's header or the
// definition that contains the call.
#define REAL(name) \
  ((__typeof__(name) *)({ \
    hd_real_calls++; \
    if (HD_UNLIKELY(!hd_real.name)) hd_real_init(); \
    hd_real.name; \
  }))

// Defines a function that replaces libc's while an execution runs and forwards to libc at other
// times. The body that follows applies during an execution:
//   HD_INTERPOSE(int, close, (int fd), (fd)) { return … }
// In the body HD_RA is the caller's address.
#define HD_INTERPOSE(ret, name, parameters, arguments) HD_INTERPOSE_WHILE(hd_active(), ret, name, parameters, arguments)
// Like HD_INTERPOSE, but replaces libc's function for the whole life of a controlled process.
#define HD_INTERPOSE_CONTROLLED(ret, name, parameters, arguments) HD_INTERPOSE_WHILE(hd_controlled(), ret, name, parameters, arguments)
// Like HD_INTERPOSE, but from the constructors on (hd_machine_is_modelled), where no thread is running.
#define HD_INTERPOSE_MODELLED(ret, name, parameters, arguments) HD_INTERPOSE_WHILE(hd_machine_is_modelled(), ret, name, parameters, arguments)
#define HD_INTERPOSE_WHILE(condition, ret, name, parameters, arguments) \
  static inline __attribute__((always_inline)) ret interposed_##name parameters; \
  HD_EXPORT ret name parameters { \
    if (!(condition)) return REAL(name) arguments; \
    hd_reach(HD_RA); \
    HD_CALLED(HD_RA); \
    return interposed_##name arguments; \
  } \
  static inline __attribute__((always_inline)) ret interposed_##name parameters

static inline long hd_errno_result(long r) { // r is a system call's result
  extern int *__errno_location(void) __attribute__((const));
  if (r >= 0) return r;
  *__errno_location() = (int)-r;
  return -1;
}
#endif
