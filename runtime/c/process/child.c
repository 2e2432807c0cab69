// child.c: the child of a fork beside other threads. It has the forking thread only, and every lock as it was at the
// fork: one that another thread held is never released. The child runs uncontrolled, so the functions here take the
// place of libc's. They work on the locks' states as the runtime keeps them, and find what the one thread waits for in
// vain: an object in memory of its own, which nothing else can change. The program (children.c) then reports a deadlock.
//
// POSIX leaves a lock that the forking thread holds to it in the child. What libc resets in the child, the locks of
// streams and of malloc and an initialiser of pthread_once that was running, is not held here either.
//
// A loop that waits is recognised by its states. If an operation observes what it observed before, with the same
// registers and the same stack as before, and nothing else has happened in between, the loop will never end: the process
// has no other thread. A loop that counts its turns has other states each time; one of atomic operations or attempts
// counts as a wait after many turns.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include "arch/context.h"
#include "core/alone.h"
#include "core/fiber.h"
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "memory/mappings.h"
#include "sync/sync.h"
#include "process/child.h"
#include "process/process.h"

enum { MS = 1000000 };

static struct hd_fate *fate;
static struct hd_real libc; // libc's functions, which those here replace

// ---- reports
static uint64_t object;
static bool in_shared;
static void look(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest) {
  (void)rest;
  if (object >= lo && object < hi && perms[3] == 's') in_shared = true;
}

bool hd_child_shares(uint64_t at) {
  object = at;
  in_shared = false;
  hd_maps_each(look);
  return in_shared;
}

// Reports whether the program handles a signal, in whose handler the thread may change the object itself.
static bool handles(void) {
  enum { CANCEL = 32, SETXID = 33 }; // libc's own
  for (int sig = 1; sig <= 64; sig++) {
    struct { uintptr_t handler; uint64_t rest[3]; } now = { 0 };
    if (sig == CANCEL || sig == SETXID) continue;
    if (hd_sys4(SYS_rt_sigaction, sig, 0, (long)&now, 8) == 0 && now.handler > 1) return true;
  }
  return false;
}

// The thread waits for what cannot happen. Returns after a signal, whose handler may have changed that.
static void stuck(uint16_t op, const volatile void *what, uint32_t holder, uint64_t pc) {
  fate->op = op;
  fate->object = (uint64_t)what;
  fate->holder = holder;
  fate->nframes = hd_program_calls(fate->frames, HD_CHILD_FRAMES);
  fate->pc = pc ? pc : fate->nframes ? fate->frames[0] : 0;
  __atomic_store_n(&fate->state, HD_CHILD_STUCK, __ATOMIC_RELEASE);
  hd_sys(SYS_pause, 0, 0, 0);
  __atomic_store_n(&fate->state, HD_CHILD_RUNS, __ATOMIC_RELEASE);
}

static void nap(long ns) {
  struct { long s, ns; } t = { ns / 1000000000, ns % 1000000000 };
  hd_sys(SYS_nanosleep, &t, NULL, 0);
}

// Waits a little for an object to become free. posted: a signal handler may free it.
static void blocked(uint16_t op, const volatile void *what, uint32_t holder, bool posted) {
  if (hd_child_shares((uint64_t)what) || (posted && handles())) nap(MS);
  else stuck(op, what, holder, 0);
}

// Waits a little for an object to become free; false: the time has passed.
static bool blocked_until(clockid_t clock, const struct timespec *until) {
  struct timespec now;
  hd_sys(SYS_clock_gettime, clock, &now, 0);
  if (now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec)) return false;
  nap(MS / 4);
  return true;
}

// ---- loops
enum { ENOUGH = 1 << 16, MANY = 1 << 20, NAPS = 16, YIELD = 16, SITES = 8, OBJECTS = 16, STACK = 1024 };
static struct { uint64_t pc, object, value, state; } seen[SITES];
static uint64_t objects[OBJECTS]; // that the loop observes
static uint32_t nobjects;         // OBJECTS + 1: more than these
static uint64_t turns;      // observations since anything else has happened
static uint64_t same;       // of these, the last ones that were made in a state that had occurred before
static uint64_t calls_then; // hd_real_calls, as far as the calls belong to the loop
static uint32_t naps;

static void anew(void) {
  turns = same = naps = nobjects = 0;
  hd_fill(seen, 0, sizeof seen);
  calls_then = hd_real_calls;
}

static void observes(uint64_t at) {
  for (uint32_t i = 0; i < nobjects && i < OBJECTS; i++)
    if (objects[i] == at) return;
  if (nobjects < OBJECTS) objects[nobjects] = at;
  if (nobjects <= OBJECTS) nobjects++;
}

// Reports whether nothing but the thread itself can change what the loop observes.
static bool private(void) {
  if (nobjects > OBJECTS || handles()) return false;
  for (uint32_t i = 0; i < nobjects; i++)
    if (hd_child_shares(objects[i])) return false;
  return true;
}

static void sees(uint64_t op, uint64_t at, uint64_t value, uint64_t pc, const uint64_t *saved) {
  uintptr_t sp = (uintptr_t)saved, hi = hd_stack_hi(hd.cur);
  bool reads = op == HD_OP_READ || op == HD_OP_ATOMIC_LOAD || op == HD_OP_ATOMIC_CAS || op == HD_OP_ATOMIC_RMW || op == HD_OP_MUTEX_TRYLOCK ||
               op == HD_OP_SPIN_TRYLOCK || op == HD_OP_RWLOCK_TRYWRLOCK || op == HD_OP_SEM_TRYWAIT;
  if (at >= sp && at < hi) return; // its own stack, which is part of the state
  if (!reads || hd_real_calls != calls_then) anew();
  if (!reads) return;
  uint64_t state = 0;
  for (const uint64_t *p = saved; (uintptr_t)p < sp + STACK && (uintptr_t)(p + 1) <= hi; p++) state = hd_mix(state, *p);
  uint32_t i = (uint32_t)(hd_mix(pc, at) >> 32) % SITES;
  bool met = seen[i].pc == pc && seen[i].object == at, known = met && seen[i].value == value;
  if (!met) observes(at);
  same = known && seen[i].state == state ? same + 1 : 0;
  turns = known ? turns + 1 : 0;
  seen[i].pc = pc, seen[i].object = at, seen[i].value = value, seen[i].state = state;
  if (same < ENOUGH && (turns < MANY || op == HD_OP_READ)) return;
  bool forever = private();
  anew();
  if (forever) stuck((uint16_t)op, (void *)at, 0, pc);
}

// A call of a function that only lets time pass, or fails to acquire a lock, belongs to the loop.
static void belongs(void) { calls_then++; }

static int attempt(uint16_t op, void *what, int result) {
  belongs();
  if (result) hd_alone_sees(op, what, (uint64_t)result, 0);
  return result;
}

static bool rests(uint64_t weight) {
  belongs();
  turns += weight;
  if (same) same += weight;
  return naps < NAPS; // a loop that sleeps on and on needs no more time
}

static int child_sched_yield(void) {
  rests(YIELD);
  return hd_sys(SYS_sched_yield, 0, 0, 0) ? -1 : 0;
}
static int child_nanosleep(const struct timespec *req, struct timespec *rem) {
  naps++;
  if (!rests(ENOUGH / 1024)) return 0;
  return ((__typeof__(nanosleep) *)libc.nanosleep)(req, rem);
}
static int child_clock_nanosleep(clockid_t clock, int flags, const struct timespec *req, struct timespec *rem) {
  naps++;
  if (!rests(ENOUGH / 1024)) return 0;
  return ((__typeof__(clock_nanosleep) *)libc.clock_nanosleep)(clock, flags, req, rem);
}
static int child_usleep(__useconds_t us) {
  naps++;
  if (!rests(ENOUGH / 1024)) return 0;
  return ((__typeof__(usleep) *)libc.usleep)(us);
}
static unsigned child_sleep(unsigned s) {
  naps++;
  if (!rests(ENOUGH / 1024)) return 0;
  return ((__typeof__(sleep) *)libc.sleep)(s);
}

// ---- mutexes
static uint64_t id(void *m) { return (uint64_t)m; }

static int take(void *m) { return hd_mutex_take(id(m), hd.cur, hd_mutex_type(id(m)) == PTHREAD_MUTEX_RECURSIVE); }

// Returns true if the thread holds the mutex and need not wait for it; *result is then the call's.
static bool again(void *m, int *result) {
  if (!hd_mutex_held(id(m), hd.cur)) return false;
  switch (hd_mutex_type(id(m))) {
  case PTHREAD_MUTEX_RECURSIVE: hd_mutex_recount(id(m), hd_mutex_depth(id(m), hd.cur) + 1); *result = 0; return true;
  case PTHREAD_MUTEX_ERRORCHECK: *result = EDEADLK; return true;
  }
  return false;
}

static int child_mutex_lock(pthread_mutex_t *m) {
  int r;
  if (again(m, &r)) return r;
  while (!hd_mutex_free(id(m))) blocked(HD_OP_MUTEX_LOCK, m, hd_mutex_owner(id(m)), false);
  return take(m);
}
static int child_mutex_trylock(pthread_mutex_t *m) {
  int r;
  if (hd_mutex_type(id(m)) == PTHREAD_MUTEX_RECURSIVE && again(m, &r)) return r;
  return hd_mutex_free(id(m)) ? take(m) : attempt(HD_OP_MUTEX_TRYLOCK, m, EBUSY);
}
static int child_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until) {
  int r;
  if (again(m, &r)) return r;
  while (!hd_mutex_free(id(m)))
    if (!blocked_until(clock, until)) return ETIMEDOUT;
  return take(m);
}
static int child_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until) { return child_mutex_clocklock(m, CLOCK_REALTIME, until); }
static int child_mutex_unlock(pthread_mutex_t *m) {
  uint32_t depth = hd_mutex_depth(id(m), hd.cur);
  if (!depth && hd_mutex_type(id(m)) != PTHREAD_MUTEX_NORMAL && hd_mutex_type(id(m)) != PTHREAD_MUTEX_ADAPTIVE_NP) return EPERM;
  if (depth > 1) hd_mutex_recount(id(m), depth - 1);
  else hd_mutex_release_all(id(m));
  return 0;
}

static int code(int err) { return err == 0 ? thrd_success : err == EBUSY ? thrd_busy : err == ETIMEDOUT ? thrd_timedout : thrd_error; }
static int child_mtx_lock(mtx_t *m) { return code(child_mutex_lock((pthread_mutex_t *)m)); }
static int child_mtx_trylock(mtx_t *m) { return code(child_mutex_trylock((pthread_mutex_t *)m)); }
static int child_mtx_timedlock(mtx_t *m, const struct timespec *until) { return code(child_mutex_timedlock((pthread_mutex_t *)m, until)); }
static int child_mtx_unlock(mtx_t *m) { return code(child_mutex_unlock((pthread_mutex_t *)m)); }

// ---- condition variables: no thread can signal them
static int wait_until(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until) {
  uint32_t count = hd_mutex_release_all(id(m));
  if (!until) blocked(HD_OP_COND_WAKE, c, 0, true); // wakes spuriously where a process or a handler may signal
  else while (blocked_until(clock, until)) ;
  while (!hd_mutex_free(id(m))) blocked(HD_OP_MUTEX_LOCK, m, hd_mutex_owner(id(m)), false);
  int r = hd_mutex_take(id(m), hd.cur, count);
  return r ? r : until ? ETIMEDOUT : 0;
}
static int child_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) { return wait_until(c, m, 0, NULL); }
static int child_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until) {
  return wait_until(c, m, clock, until);
}
static int child_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until) {
  enum { MONOTONIC = 2 }; // glibc's bit
  return wait_until(c, m, c->__data.__wrefs & MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME, until);
}
static int child_cond_signal(pthread_cond_t *c) { (void)c; return 0; }
static int child_cnd_wait(cnd_t *c, mtx_t *m) { return code(child_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m)); }
static int child_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *until) {
  return code(child_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, until));
}
static int child_cnd_signal(cnd_t *c) { (void)c; return thrd_success; }

// ---- reader-writer locks
static int lock(void *l, bool write) {
  for (int r; (r = hd_rwlock_take(l, write, hd.cur)) != EBUSY;) return r;
  blocked(write ? HD_OP_RWLOCK_WRLOCK : HD_OP_RWLOCK_RDLOCK, l, hd_rwlock_writer(l), false);
  return EBUSY;
}
static int acquire(void *l, bool write) {
  int r;
  while ((r = lock(l, write)) == EBUSY) ;
  return r;
}
static int try(void *l, bool write) {
  return hd_rwlock_take(l, write, hd.cur) ? attempt(HD_OP_RWLOCK_TRYWRLOCK, l, EBUSY) : 0;
}
static int acquire_until(void *l, bool write, clockid_t clock, const struct timespec *until) {
  int r;
  while ((r = hd_rwlock_take(l, write, hd.cur)) == EBUSY)
    if (!blocked_until(clock, until)) return ETIMEDOUT;
  return r;
}
static int child_rdlock(pthread_rwlock_t *l) { return acquire(l, false); }
static int child_wrlock(pthread_rwlock_t *l) { return acquire(l, true); }
static int child_tryrdlock(pthread_rwlock_t *l) { return try(l, false); }
static int child_trywrlock(pthread_rwlock_t *l) { return try(l, true); }
static int child_timedrdlock(pthread_rwlock_t *l, const struct timespec *until) { return acquire_until(l, false, CLOCK_REALTIME, until); }
static int child_timedwrlock(pthread_rwlock_t *l, const struct timespec *until) { return acquire_until(l, true, CLOCK_REALTIME, until); }
static int child_clockrdlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until) { return acquire_until(l, false, clock, until); }
static int child_clockwrlock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until) { return acquire_until(l, true, clock, until); }
static int child_rwunlock(pthread_rwlock_t *l) {
  hd_rwlock_release(l);
  return 0;
}

// ---- spin locks, semaphores, barriers
static int child_spin_lock(pthread_spinlock_t *s) {
  while (*s != 1) blocked(HD_OP_SPIN_LOCK, s, 0, false);
  *s = 0;
  return 0;
}
static int child_spin_trylock(pthread_spinlock_t *s) {
  if (*s != 1) return attempt(HD_OP_SPIN_TRYLOCK, (void *)s, EBUSY);
  *s = 0;
  return 0;
}
static int child_sem_wait(sem_t *s) {
  while (!__atomic_load_n((uint32_t *)s, __ATOMIC_ACQUIRE)) blocked(HD_OP_SEM_WAIT, s, 0, true);
  return ((__typeof__(sem_wait) *)libc.sem_wait)(s);
}
static int child_sem_trywait(sem_t *s) {
  if (__atomic_load_n((uint32_t *)s, __ATOMIC_ACQUIRE)) return ((__typeof__(sem_trywait) *)libc.sem_trywait)(s);
  errno = EAGAIN;
  attempt(HD_OP_SEM_TRYWAIT, s, EAGAIN);
  return -1;
}
static int child_barrier_wait(pthread_barrier_t *p) {
  struct { uint32_t in, round, count; } *b = (void *)p;
  for (uint32_t n = ++b->in; n < b->count;) blocked(HD_OP_BARRIER_LEAVE, p, 0, false);
  b->in = 0;
  b->round++;
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

// ---- guards of function-local statics
static int child_guard_acquire(uint64_t *guard) {
  int *state = hd_guard_state(guard);
  while (!*(char *)guard && *state & 1) blocked(HD_OP_ONCE_BEGIN, guard, 0, false);
  if (*(char *)guard) return 0;
  *state = 1;
  return 1;
}
static void child_guard_release(uint64_t *guard) {
  *hd_guard_state(guard) = 2;
  *(char *)guard = 1;
}
static void child_guard_abort(uint64_t *guard) { *hd_guard_state(guard) = 0; }

// ---- futexes
long hd_child_syscall(long n, const long a[6]) {
  if (!fate) return hd_sys6(n, a[0], a[1], a[2], a[3], a[4], a[5]);
  anew();
  long cmd = a[1] & FUTEX_CMD_MASK;
  if (n == SYS_futex && (cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET) && !a[3] && a[0] && *(volatile uint32_t *)a[0] == (uint32_t)a[2])
    if (!hd_child_shares((uint64_t)a[0]) && !handles()) stuck(HD_OP_FUTEX_WAKEUP, (void *)a[0], 0, 0);
  return hd_sys6(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// ---- life
void hd_child_begins(struct hd_fate *f) {
  fate = f;
  f->process = (uint32_t)hd_sys(SYS_getpid, 0, 0, 0);
  libc = hd_real;
#define INSTEAD(name, function) hd_real.name = (void *)function
  INSTEAD(sched_yield, child_sched_yield);
  INSTEAD(nanosleep, child_nanosleep);
  INSTEAD(clock_nanosleep, child_clock_nanosleep);
  INSTEAD(usleep, child_usleep);
  INSTEAD(sleep, child_sleep);
  INSTEAD(pthread_mutex_lock, child_mutex_lock);
  INSTEAD(pthread_mutex_trylock, child_mutex_trylock);
  INSTEAD(pthread_mutex_timedlock, child_mutex_timedlock);
  INSTEAD(pthread_mutex_clocklock, child_mutex_clocklock);
  INSTEAD(pthread_mutex_unlock, child_mutex_unlock);
  INSTEAD(mtx_lock, child_mtx_lock);
  INSTEAD(mtx_trylock, child_mtx_trylock);
  INSTEAD(mtx_timedlock, child_mtx_timedlock);
  INSTEAD(mtx_unlock, child_mtx_unlock);
  INSTEAD(pthread_cond_wait, child_cond_wait);
  INSTEAD(pthread_cond_timedwait, child_cond_timedwait);
  INSTEAD(pthread_cond_clockwait, child_cond_clockwait);
  INSTEAD(pthread_cond_signal, child_cond_signal);
  INSTEAD(pthread_cond_broadcast, child_cond_signal);
  INSTEAD(cnd_wait, child_cnd_wait);
  INSTEAD(cnd_timedwait, child_cnd_timedwait);
  INSTEAD(cnd_signal, child_cnd_signal);
  INSTEAD(cnd_broadcast, child_cnd_signal);
  INSTEAD(pthread_rwlock_rdlock, child_rdlock);
  INSTEAD(pthread_rwlock_wrlock, child_wrlock);
  INSTEAD(pthread_rwlock_tryrdlock, child_tryrdlock);
  INSTEAD(pthread_rwlock_trywrlock, child_trywrlock);
  INSTEAD(pthread_rwlock_timedrdlock, child_timedrdlock);
  INSTEAD(pthread_rwlock_timedwrlock, child_timedwrlock);
  INSTEAD(pthread_rwlock_clockrdlock, child_clockrdlock);
  INSTEAD(pthread_rwlock_clockwrlock, child_clockwrlock);
  INSTEAD(pthread_rwlock_unlock, child_rwunlock);
  INSTEAD(pthread_spin_lock, child_spin_lock);
  INSTEAD(pthread_spin_trylock, child_spin_trylock);
  INSTEAD(sem_wait, child_sem_wait);
  INSTEAD(sem_trywait, child_sem_trywait);
  INSTEAD(pthread_barrier_wait, child_barrier_wait);
  INSTEAD(__cxa_guard_acquire, child_guard_acquire);
  INSTEAD(__cxa_guard_release, child_guard_release);
  INSTEAD(__cxa_guard_abort, child_guard_abort);
#undef INSTEAD
  anew();
  hd.unobserved = 0;
  hd_side_top = 0; // hooks run on the stack that their observations compare
  hd_alone = sees;
}

void hd_child_execs(bool on) {
  if (fate) __atomic_store_n(&fate->state, on ? HD_CHILD_EXECS : HD_CHILD_RUNS, __ATOMIC_RELEASE);
}
