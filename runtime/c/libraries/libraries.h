// libraries.h: libraries with their own synchronisation, which the runtime does not see because they
// were compiled without access hooks. The runtime interposes the functions that programs call. Each
// calls the library's function, and reports to the analyses the order that the library establishes.
#ifndef HD_LIBRARIES_LIBRARIES_H
#define HD_LIBRARIES_LIBRARIES_H
#include "core/libc.h"
#include "core/registration.h"
#include "core/run.h"
#include "core/sched.h"

enum { HD_LIBGOMP = 1, HD_LIBOMP = 2, HD_LIBTBB = 4, HD_LIBGLIB = 8, HD_OPENMP = HD_LIBGOMP | HD_LIBOMP };
bool hd_library_loaded(uint32_t kinds); // one of these

// ---- order.c: the order that a library establishes. Objects are addresses used for nothing else.
void hd_order_release(const void *object); // the thread's operations so far happen before those after an acquire
void hd_order_acquire(const void *object);
// The same, of an order that the library establishes in every schedule.
void hd_order_always_release(const void *object);
void hd_order_always_acquire(const void *object);
// A scheduling point at which the order of arrival determines what a thread gets from the library, for
// instance a loop's next iterations. It orders nothing. *turns counts the arrivals.
void hd_order_turn(const void *object, uint32_t *turns);
// A scheduling point at which it does not: the library has threads pass in an order of its own.
void hd_order_pass(const uint32_t *never_written);

// Interposes a library's function, as HD_INTERPOSE does for libc's; REAL_LIBRARY(name) is the
// library's function. The body applies during an execution. The pc of all operations of the library
// in it, such as futex operations, is the caller's address.
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

void hd_libomp_start(void); // called before main: initialises the library

void hd_tbb_calls(void);   // called when TBB calls a function of the program
void hd_tbb_returns(void); // called when such a function returns, if hd_callback_returns

extern const struct hd_registration hd_libraries, hd_openmp_locks, hd_libomp, hd_glib, hd_tbb;
#endif
