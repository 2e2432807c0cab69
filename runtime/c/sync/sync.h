// sync.h: what the synchronisation objects share, and the bodies of functions that POSIX and C11
// both name (c11.c), called at pc.
#ifndef HD_SYNC_SYNC_H
#define HD_SYNC_SYNC_H
#include <semaphore.h>
#include "core/registration.h"
#include "core/virtual_time.h"
#include "memory/heap.h"

// Using an object in memory that is gone is misuse, whatever its contents.
static inline void hd_check_live(const void *p, uint64_t pc) {
  if (HD_LIKELY(!hd_freed((uint64_t)p))) return;
  hd_gone_event((uint64_t)p, 1, false, pc);
  if (hd_thread_gone((uint64_t)p)) hd_gone_use((uint64_t)p, pc, "use of a synchronisation object in");
  hd_misuse(pc, (uint64_t)p, "use of a synchronisation object in freed memory");
}

// ---- mutex.c; objects by address
bool hd_mutex_free(uint64_t m);
int hd_mutex_type(uint64_t m);
bool hd_mutex_held(uint64_t m, const struct hd_thread *t);
uint32_t hd_mutex_release_all(uint64_t m);  // returns the recursion count
int hd_mutex_take(uint64_t m, struct hd_thread *t, uint32_t count); // 0, EOWNERDEAD, or not taken: ENOTRECOVERABLE
uint32_t hd_mutex_owner(uint64_t m);        // 1 + the number of its owner, for reports; 0: not locked
int hd_mutex_init(void *m, const void *attr, uint64_t pc);
int hd_mutex_destroy(void *m, uint64_t pc);
int hd_mutex_lock(void *m, uint64_t pc, uint16_t op, const struct hd_deadline *until);
int hd_mutex_timedlock(void *m, int clock, const struct timespec *abs, uint64_t pc);
int hd_mutex_trylock(void *m, uint64_t pc);
int hd_mutex_unlock(void *m, uint64_t pc);
// Called after each pthread_mutex_unlock, with its caller's address, while set by libraries/libomp.c; NULL otherwise.
extern void (*hd_unlocked)(uint64_t pc);
extern const struct hd_registration hd_mutexes;

uint32_t hd_mutex_depth(uint64_t m, const struct hd_thread *t); // how often t holds it
void hd_mutex_recount(uint64_t m, uint32_t count); // its owner holds it count times, if it is recursive

// ---- tried_lock.c: the program's own calls on a mutex that the running thread holds because it is tried
// The calling thread holds object as a tried lock and acquires it: true if that has no further effect.
bool hd_tried_acquires(uint64_t object, bool recursive);
enum hd_tried { HD_TRIED_NOT, HD_TRIED_RELEASED, HD_TRIED_ONLY /* the program does not hold it */ };
enum hd_tried hd_tried_releases(uint64_t object);
extern const struct hd_registration hd_tried_locks;

// ---- cond.c
int hd_cond_init(void *c, const void *attr, uint64_t pc);
int hd_cond_destroy(void *c, uint64_t pc);
int hd_cond_wait(void *c, void *m, uint64_t pc);
int hd_cond_timedwait(void *c, void *m, int clock, const struct timespec *abs, uint64_t pc);
int hd_cond_signal(void *c, uint64_t pc);
int hd_cond_broadcast(void *c, uint64_t pc);
extern const struct hd_registration hd_conds;

// ---- rwlock.c
int hd_rwlock_take(void *l, bool write, const struct hd_thread *t); // without waiting: 0, EBUSY, or EDEADLK if t is the writer
void hd_rwlock_release(void *l);
uint32_t hd_rwlock_writer(void *l); // 1 + its thread's number; 0: none

// ---- once.c
int *hd_guard_state(uint64_t *guard); // of a function-local static: odd while a thread initialises it
void hd_once(int *once, void (*fn)(void), uint64_t pc);
extern const struct hd_registration hd_onces;

// ---- semaphore.c, named_semaphore.c
void hd_sem_closed(sem_t *s, bool closed);
bool hd_semnamed_used(void);
extern const struct hd_registration hd_semaphores, hd_named_semaphores;

// ---- futex.c
long hd_futex(uint32_t *p, int op, uint32_t val, const struct timespec *timeout, uint32_t bits, uint64_t pc);

extern const struct hd_registration hd_barriers, hd_rwlocks, hd_spinlocks, hd_futexes;
#endif
