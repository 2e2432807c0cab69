// libraries.h: libraries that synchronise threads by means of their own, which the access hooks do
// not see: they were compiled without them. The functions that programs call are interposed. Each
// calls the library's own, and tells the analyses what the library orders by that.
#ifndef HD_LIBRARIES_LIBRARIES_H
#define HD_LIBRARIES_LIBRARIES_H
#include "core/libc.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"

enum { HD_LIBGOMP = 1, HD_LIBOMP = 2, HD_LIBTBB = 4, HD_LIBGLIB = 8, HD_OPENMP = HD_LIBGOMP | HD_LIBOMP };
bool hd_library_loaded(uint32_t kinds); // one of these

// ---- order.c: what a library orders. Objects are addresses that nothing else synchronises at.
void hd_order_release(const void *object); // what the thread has done comes before what follows an acquire
void hd_order_acquire(const void *object);
// A scheduling point at which the library decides by who comes first: which thread gets a
// loop's next iterations, say. It orders nothing. *turns counts.
void hd_order_turn(const void *object, uint32_t *turns);

// Defines a function that calls the library's function of the same name, which REAL_LIBRARY(name)
// is, as HD_INTERPOSE does for libc's. In the body, which applies during an execution, futex
// operations and what else the library does count as done at the caller's address.
#define HD_LIBRARY(ret, name, parameters, arguments) \
  static ret (*library_##name) parameters; \
  static struct hd_library_function entry_##name = { #name, (void **)&library_##name }; \
  static inline __attribute__((always_inline)) ret interposed_##name parameters; \
  HD_EXPORT ret name parameters { \
    if (HD_UNLIKELY(!library_##name)) hd_library_find(&entry_##name); \
    if (!hd_active()) return library_##name arguments; \
    uint64_t outer __attribute__((cleanup(hd_library_left))) = hd.cur->library_pc; \
    hd.cur->library_pc = hd.cur->pend.pc = HD_RA; \
    return interposed_##name arguments; \
  } \
  static inline __attribute__((always_inline)) ret interposed_##name parameters
#define REAL_LIBRARY(name) library_##name

struct hd_library_function { const char *name; void **real; };
HD_COLD void hd_library_find(struct hd_library_function *f); // refuses the program if no library has it
static inline void hd_library_left(uint64_t *outer) { if (hd_active()) hd.cur->library_pc = *outer; }

void hd_libomp_start(void); // before main: what the library does once

void hd_tbb_calls(void);   // a function of the program's begins that TBB called

extern const struct hd_registration hd_libraries, hd_openmp_locks, hd_glib, hd_tbb;
#endif
