// cxx_new.c: C++'s operators new and delete. libstdc++'s and libc++'s call malloc and free, but the caller of these is then
// the library: a block would be named, and a second delete reported, there instead of in the program. Where there is no
// memory, the library's operator calls the program's handler and throws. A library that only a plug-in has loaded cannot be
// found; then there is nobody to throw.
#include <stddef.h>
#include "core/libc.h"
#include "core/run.h"
#include "memory/heap.h"

enum { USUAL = 16 }; // alignment of a block

// No two blocks have one address, not even empty ones.
static inline void *block(size_t n, size_t align, uint64_t pc) { return hd_alloc(n ? n : 1, align < USUAL ? USUAL : align, pc); }

extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static HD_COLD void *without_library(size_t n, size_t align) {
  void *p = hd_controlled() ? NULL : __libc_memalign(align, n ? n : 1);
  if (!p) __builtin_trap();
  return p;
}

#define NEW(name, parameters, arguments, align) \
  void *name parameters; \
  HD_EXPORT void *name parameters { \
    if (hd_controlled()) { \
      void *p = block(n, align, HD_RA); \
      if (HD_LIKELY(p != NULL)) return p; \
    } \
    if (!REAL(name)) return without_library(n, align); \
    return REAL(name) arguments; \
  }
NEW(_Znwm, (size_t n), (n), USUAL)
NEW(_Znam, (size_t n), (n), USUAL)
NEW(_ZnwmRKSt9nothrow_t, (size_t n, const void *t), (n, t), USUAL)
NEW(_ZnamRKSt9nothrow_t, (size_t n, const void *t), (n, t), USUAL)
NEW(_ZnwmSt11align_val_t, (size_t n, size_t a), (n, a), a)
NEW(_ZnamSt11align_val_t, (size_t n, size_t a), (n, a), a)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, const void *t), (n, a, t), a)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t n, size_t a, const void *t), (n, a, t), a)

#define DELETE(name, parameters, arguments) \
  void name parameters; \
  HD_EXPORT void name parameters { \
    if (hd_controlled()) hd_release(p, HD_RA); \
    else if (REAL(name)) REAL(name) arguments; \
    else __libc_free(p); \
  }
DELETE(_ZdlPv, (void *p), (p))
DELETE(_ZdaPv, (void *p), (p))
DELETE(_ZdlPvm, (void *p, size_t n), (p, n))
DELETE(_ZdaPvm, (void *p, size_t n), (p, n))
DELETE(_ZdlPvRKSt9nothrow_t, (void *p, const void *t), (p, t))
DELETE(_ZdaPvRKSt9nothrow_t, (void *p, const void *t), (p, t))
DELETE(_ZdlPvSt11align_val_t, (void *p, size_t a), (p, a))
DELETE(_ZdaPvSt11align_val_t, (void *p, size_t a), (p, a))
DELETE(_ZdlPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))
DELETE(_ZdaPvmSt11align_val_t, (void *p, size_t n, size_t a), (p, n, a))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *t), (p, a, t))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t a, const void *t), (p, a, t))
