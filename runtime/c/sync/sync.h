// sync.h: what the synchronisation objects share.
#ifndef HD_SYNC_H
#define HD_SYNC_H
#include <semaphore.h>
#include <time.h>
#include "core/rt.h"

struct hd_deadline { uint64_t vtime; };
#define HD_BAD_TIME (~0ull) // a deadline that is not a valid time, where that matters only if it is needed
// The clocks that glibc waits by; with others the functions that take one fail.
static inline bool hd_wait_clock(int clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }

// time/clocks.c
bool hd_deadline(struct hd_deadline *d, int clock, const struct timespec *abs); // false: EINVAL
void hd_timer(struct hd_thread *t, const struct hd_deadline *d);                // t's pending wait may run out

// signals/signals.c
bool hd_signal_ready(const struct hd_thread *u);

// mutex.c; objects by address
bool hd_mutex_free(uint64_t m);
bool hd_mutex_held(uint64_t m, const struct hd_thread *t);
uint32_t hd_mutex_release_all(uint64_t m);  // returns the recursion count
int hd_mutex_take(uint64_t m, struct hd_thread *t, uint32_t count); // 0, EOWNERDEAD, or not taken: ENOTRECOVERABLE
void hd_mutex_abandon_all(struct hd_thread *t); // t is about to end

// What functions of several names do (c11.c), called at pc.
int hd_mutex_init(void *m, const void *attr, uint64_t pc);
int hd_mutex_destroy(void *m, uint64_t pc);
int hd_mutex_lock(void *m, uint64_t pc, uint16_t op, const struct hd_deadline *until);
int hd_mutex_timedlock(void *m, int clock, const struct timespec *abs, uint64_t pc);
int hd_mutex_trylock(void *m, uint64_t pc);
int hd_mutex_unlock(void *m, uint64_t pc);
int hd_cond_init(void *c, const void *attr, uint64_t pc);
int hd_cond_destroy(void *c, uint64_t pc);
int hd_cond_wait(void *c, void *m, uint64_t pc);
int hd_cond_timedwait(void *c, void *m, int clock, const struct timespec *abs, uint64_t pc);
int hd_cond_signal(void *c, uint64_t pc);
int hd_cond_broadcast(void *c, uint64_t pc);
void hd_once(int *once, void (*fn)(void), uint64_t pc);
int hd_sleep(const struct timespec *req, struct timespec *rest, uint64_t pc); // 0, EINVAL or EINTR
void hd_yield(uint64_t pc);

// rwlock.c
bool hd_rwlock_free(uint64_t l, bool write);

// semaphore.c, named_semaphore.c
void hd_sem_closed(sem_t *s, bool closed);
void hd_semnamed_reset(void);
bool hd_semnamed_used(void);

// futex.c
long hd_futex(uint32_t *p, int op, uint32_t val, const struct timespec *timeout, uint32_t bits, uint64_t pc);

// core/enabled.c
bool hd_waited_for(uint64_t obj, const struct hd_thread *but, uint16_t op); // by a pending op
void hd_refresh(void *p, uint32_t size, uint64_t pc); // fault here, as the program, if p is bad
void hd_fetch(void *to, const void *p, uint32_t size, uint64_t pc); // copy; the same
// io/stream.c: bytes from and to the program's memory, where a fault is the program's, at the place of the pending operation.
void hd_from_program(void *to, const void *from, uint64_t n);
void hd_to_program(void *to, const void *from, uint64_t n);
static inline bool hd_freed(uint64_t p) {
  uint64_t off = p - hd_heap_base;
  return off < hd_heap_used && HD_UNLIKELY(hd_heap_shadow[off >> 4] == HD_SH_FREED);
}
// An object in memory that was freed is a use after free, whatever its bytes say.
static inline void hd_check_live(const void *p, uint64_t pc) {
  if (hd_freed((uint64_t)p)) hd_misuse(pc, (uint64_t)p, "use of a synchronisation object in freed memory");
}
void hd_memory_gone(uint64_t at, uint64_t bytes); // freed or unmapped: threads that wait for an object there go on, to be reported

// The word at an address in the program's memory, or gone if that cannot be read: for
// looking at an object on behalf of a thread that does not run. A fault here goes on behind
// the load (core/outcome.c), which has not changed the register then.
static inline uint32_t hd_word_or(uint64_t address, uint32_t gone) {
  __asm__ volatile("1: movl (%1), %0\n2:\n"
                   ".pushsection hd_fixups, \"a\"\n.balign 4\n.long 1b - ., 2b - .\n.popsection"
                   : "+r"(gone) : "r"(address) : "memory");
  return gone;
}
#endif
