// libc.h: libc's own functions behind those the runtime interposes.
#ifndef HD_CORE_LIBC_H
#define HD_CORE_LIBC_H
#include "core/attach.h"

struct hd_real {
#define HD_LIBC(name) void *name;
#include "core/libc.def"
#undef HD_LIBC
};
extern struct hd_real hd_real;
void hd_real_init(void);
void *hd_real_find(const char *name); // libc's, NULL: it has none
extern void *(*hd_real_dlsym)(void *, const char *); // once something was found
bool hd_real_is(const void *p, const char *name); // libc's function that the runtime interposes
// libc's function. Its type is that of the declaration in scope: libc's header, or the
// definition that the call is in.
#define REAL(name) \
  ((__typeof__(name) *)({ \
    if (HD_UNLIKELY(!hd_real.name)) hd_real_init(); \
    hd_real.name; \
  }))

// Defines a function that takes libc's place while an execution runs; otherwise the call is
// passed on. What follows is the body for an execution:
//   HD_INTERPOSE(int, close, (int fd), (fd)) { return … }
// In the body HD_RA is the caller's address.
#define HD_INTERPOSE(ret, name, parameters, arguments) HD_INTERPOSE_WHILE(hd_active(), ret, name, parameters, arguments)
// The same for one that takes libc's place in all of a controlled process's life.
#define HD_INTERPOSE_CONTROLLED(ret, name, parameters, arguments) HD_INTERPOSE_WHILE(hd_controlled(), ret, name, parameters, arguments)
#define HD_INTERPOSE_WHILE(condition, ret, name, parameters, arguments) \
  static inline __attribute__((always_inline)) ret interposed_##name parameters; \
  HD_EXPORT ret name parameters { \
    if (!(condition)) return REAL(name) arguments; \
    return interposed_##name arguments; \
  } \
  static inline __attribute__((always_inline)) ret interposed_##name parameters

static inline long hd_errno_result(long r) { // of a system call
  extern int *__errno_location(void) __attribute__((const));
  if (r >= 0) return r;
  *__errno_location() = (int)-r;
  return -1;
}
#endif
