// sync.c: the functions of libc that the backend live must see: those that create and join threads,
// acquire and release locks, and allocate. Each calls libc's own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "live.h"

// REAL(name) is libc's function. A condition variable has an older version, too, which dlsym finds.
#define FIND(name) dlsym(RTLD_NEXT, #name)
#define FIND_COND(name) (dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2") ?: dlsym(RTLD_NEXT, #name))
#define REAL_BY(find, name) ({ static __typeof__(name) *f; if (HL_UNLIKELY(!f)) f = (__typeof__(f))find(name); f; })
#define REAL(name) REAL_BY(FIND, name)

// libc's allocator under its other names, which need no lookup.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static inline bool records(void) { return hl && hl->mode == HL_PROFILE; }

// Before an operation that another thread may wait for, or wait in.
static inline void operation(void) {
  if (hl && hl->mode == HL_DELAY) hl_delay();
}
static inline void acquires(uint64_t pc) {
  if (!hl) return;
  if (hl->mode == HL_FORCE) hl_force_acquire(pc);
  else if (hl->mode == HL_DELAY) hl_delay();
}

struct start { void *(*run)(void *); void *arg; struct hl_thread *thread; };

static void ended(void *t) {
  (void)t;
  if (records()) hl_record(HL_END, 0, 0, 0, 0);
}

static void *begin(void *arg) {
  struct start s = *(struct start *)arg;
  hl_me = s.thread;
  __libc_free(arg);
  if (records()) hl_record_begin(s.thread), hl_record(HL_START, (uint64_t)s.run, 0, 0, 0);
  void *result;
  pthread_cleanup_push(ended, NULL);
  result = s.run(s.arg);
  pthread_cleanup_pop(1);
  return result;
}

// Joins name a pthread_t, and recordings a number.
static struct { pthread_t thread; uint32_t number; } known[1 << 14];
static uint32_t nknown;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

static void know(pthread_t thread, uint32_t number) {
  REAL(pthread_mutex_lock)(&known_lock);
  known[nknown++ % (1 << 14)].thread = thread;
  known[(nknown - 1) % (1 << 14)].number = number;
  REAL(pthread_mutex_unlock)(&known_lock);
}

static int64_t number_of(pthread_t thread) {
  int64_t n = -1;
  REAL(pthread_mutex_lock)(&known_lock);
  for (uint32_t i = nknown; n < 0 && i-- > 0 && nknown - i <= 1 << 14;)
    if (pthread_equal(known[i % (1 << 14)].thread, thread)) n = known[i % (1 << 14)].number;
  REAL(pthread_mutex_unlock)(&known_lock);
  return n;
}

HL_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg) {
  if (!hl) return REAL(pthread_create)(thread, attr, run, arg);
  operation();
  struct start *s = __libc_malloc(sizeof *s);
  if (!s) return EAGAIN;
  *s = (struct start){ run, arg, hl_new_thread() };
  uint32_t number = s->thread->number;
  if (records()) hl_record(HL_CREATE, HL_RA, 0, 0, number); // before its start
  int error = REAL(pthread_create)(thread, attr, begin, s);
  if (error) __libc_free(s);
  else know(*thread, number);
  return error;
}

HL_EXPORT int pthread_join(pthread_t thread, void **result) {
  operation();
  int64_t number = hl ? number_of(thread) : -1;
  int error = REAL(pthread_join)(thread, result);
  if (error == 0 && number >= 0 && records()) hl_record(HL_JOIN, HL_RA, 0, 0, (uint64_t)number);
  return error;
}

#define ACQUIRE(name, kind, T) \
  HL_EXPORT int name(T *lock) { \
    acquires(HL_RA); \
    int error = REAL(name)(lock); \
    if (error == 0 && records()) hl_record(kind, HL_RA, (uint64_t)lock, 0, 0); \
    return error; \
  }
#define ACQUIRE_UNTIL(name, kind, T) \
  HL_EXPORT int name(T *lock, const struct timespec *until) { \
    acquires(HL_RA); \
    int error = REAL(name)(lock, until); \
    if (error == 0 && records()) hl_record(kind, HL_RA, (uint64_t)lock, 0, 0); \
    return error; \
  }
// A release is recorded before another thread can acquire.
#define RELEASE(name, kind, T) \
  HL_EXPORT int name(T *lock) { \
    operation(); \
    if (records()) hl_record(kind, HL_RA, (uint64_t)lock, 0, 0); \
    return REAL(name)(lock); \
  }
ACQUIRE(pthread_mutex_lock, HL_LOCK, pthread_mutex_t)
ACQUIRE(pthread_mutex_trylock, HL_LOCK, pthread_mutex_t)
ACQUIRE_UNTIL(pthread_mutex_timedlock, HL_LOCK, pthread_mutex_t)
RELEASE(pthread_mutex_unlock, HL_UNLOCK, pthread_mutex_t)
ACQUIRE(pthread_rwlock_rdlock, HL_RDLOCK, pthread_rwlock_t)
ACQUIRE(pthread_rwlock_tryrdlock, HL_RDLOCK, pthread_rwlock_t)
ACQUIRE_UNTIL(pthread_rwlock_timedrdlock, HL_RDLOCK, pthread_rwlock_t)
ACQUIRE(pthread_rwlock_wrlock, HL_WRLOCK, pthread_rwlock_t)
ACQUIRE(pthread_rwlock_trywrlock, HL_WRLOCK, pthread_rwlock_t)
ACQUIRE_UNTIL(pthread_rwlock_timedwrlock, HL_WRLOCK, pthread_rwlock_t)
RELEASE(pthread_rwlock_unlock, HL_RWUNLOCK, pthread_rwlock_t)
ACQUIRE(pthread_spin_lock, HL_SPIN_LOCK, pthread_spinlock_t)
ACQUIRE(pthread_spin_trylock, HL_SPIN_LOCK, pthread_spinlock_t)
RELEASE(pthread_spin_unlock, HL_SPIN_UNLOCK, pthread_spinlock_t)

HL_EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
  operation();
  if (records()) hl_record(HL_COND_WAIT, HL_RA, (uint64_t)c, 0, (uint64_t)m);
  int error = REAL_BY(FIND_COND, pthread_cond_wait)(c, m);
  if (records()) hl_record(HL_COND_WAKE, HL_RA, (uint64_t)c, 0, (uint64_t)m);
  return error;
}
HL_EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until) {
  operation();
  if (records()) hl_record(HL_COND_WAIT, HL_RA, (uint64_t)c, 0, (uint64_t)m);
  int error = REAL_BY(FIND_COND, pthread_cond_timedwait)(c, m, until);
  if (records()) hl_record(HL_COND_WAKE, HL_RA, (uint64_t)c, 0, (uint64_t)m);
  return error;
}
HL_EXPORT int pthread_cond_signal(pthread_cond_t *c) {
  operation();
  return REAL_BY(FIND_COND, pthread_cond_signal)(c);
}
HL_EXPORT int pthread_cond_broadcast(pthread_cond_t *c) {
  operation();
  return REAL_BY(FIND_COND, pthread_cond_broadcast)(c);
}

HL_EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count) {
  if (records()) hl_record(HL_BARRIER_INIT, HL_RA, (uint64_t)b, 0, count);
  return REAL(pthread_barrier_init)(b, attr, count);
}
HL_EXPORT int pthread_barrier_wait(pthread_barrier_t *b) {
  operation();
  if (records()) hl_record(HL_BARRIER_WAIT, HL_RA, (uint64_t)b, 0, 0);
  int result = REAL(pthread_barrier_wait)(b);
  if (records()) hl_record(HL_BARRIER_LEAVE, HL_RA, (uint64_t)b, 0, 0);
  return result;
}

static _Thread_local struct { void (*run)(void); pthread_once_t *once; uint64_t pc; } initialising;
static void once(void) {
  hl_record(HL_ONCE_BEGIN, initialising.pc, (uint64_t)initialising.once, 0, 1);
  pthread_once_t *o = initialising.once;
  uint64_t pc = initialising.pc;
  initialising.run();
  hl_record(HL_ONCE_END, pc, (uint64_t)o, 0, 0);
}
HL_EXPORT int pthread_once(pthread_once_t *o, void (*run)(void)) {
  operation();
  if (!records()) return REAL(pthread_once)(o, run);
  initialising.run = run, initialising.once = o, initialising.pc = HL_RA;
  int error = REAL(pthread_once)(o, once);
  hl_record(HL_ONCE_BEGIN, HL_RA, (uint64_t)o, 0, 0); // after the end, whoever ran it
  return error;
}

HL_EXPORT void *malloc(size_t n) {
  void *p = __libc_malloc(n);
  if (p && records()) hl_record(HL_MALLOC, HL_RA, (uint64_t)p, 0, n);
  return p;
}
HL_EXPORT void *calloc(size_t n, size_t each) {
  void *p = __libc_calloc(n, each);
  if (p && records()) hl_record(HL_MALLOC, HL_RA, (uint64_t)p, 0, n * each);
  return p;
}
static void freed(void *p, uint64_t pc) {
  if (!p || !hl) return;
  if (hl->mode == HL_PROFILE) hl_record(HL_FREE, pc, (uint64_t)p, 0, 0);
  else if (hl->mode == HL_FORCE) hl_force_access(pc, (uint64_t)p, 1);
}
HL_EXPORT void free(void *p) {
  freed(p, HL_RA);
  __libc_free(p);
}
HL_EXPORT void *realloc(void *p, size_t n) {
  freed(p, HL_RA);
  void *q = __libc_realloc(p, n);
  if (q && records()) hl_record(HL_MALLOC, HL_RA, (uint64_t)q, 0, n);
  return q;
}
static void *aligned(size_t align, size_t n, uint64_t pc) {
  void *p = __libc_memalign(align, n);
  if (p && records()) hl_record(HL_MALLOC, pc, (uint64_t)p, 0, n);
  return p;
}
HL_EXPORT void *memalign(size_t align, size_t n) { return aligned(align, n, HL_RA); }
HL_EXPORT void *aligned_alloc(size_t align, size_t n) { return aligned(align, n, HL_RA); }
HL_EXPORT int posix_memalign(void **p, size_t align, size_t n) {
  if (align < sizeof(void *) || (align & (align - 1)) != 0) return EINVAL;
  void *q = aligned(align, n, HL_RA);
  if (!q) return ENOMEM;
  *p = q;
  return 0;
}
