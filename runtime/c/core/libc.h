// libc.h: libc's own functions behind those the runtime interposes.
#ifndef HD_CORE_LIBC_H
#define HD_CORE_LIBC_H
#include "core/base.h"

struct dl_phdr_info;
struct hd_cookie { void *f[4]; }; // cookie_io_functions_t
struct hd_real {
#define HD_REAL(ret, name, args) ret (*name) args;
#include "core/libc.def"
#undef HD_REAL
};
extern struct hd_real hd_real;
void hd_real_init(void);
void *hd_real_find(const char *name); // libc's, NULL: it has none
extern void *(*hd_real_dlsym)(void *, const char *); // once something was found
bool hd_real_is(const void *p, const char *name); // libc's function that the runtime interposes
#define REAL(name) ({ if (HD_UNLIKELY(!hd_real.name)) hd_real_init(); hd_real.name; })
static inline long hd_errno_result(long r) { // of a system call
  extern int *__errno_location(void) __attribute__((const));
  if (r >= 0) return r;
  *__errno_location() = (int)-r;
  return -1;
}
#endif
