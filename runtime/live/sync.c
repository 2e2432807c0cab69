// sync.c: the functions of libc that the backend live must see: those that create and join threads,
// acquire and release locks, and allocate. Each calls libc's own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
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
  if (hl_records()) hl_record(HL_END, 0, 0, 0, 0);
}

// Records where the caller's stack is. What libc allocates for that is not the program's.
static void stack_of(struct hl_thread *t) {
  pthread_attr_t attr;
  void *lowest = NULL;
  size_t size = 0;
  t->inside = true;
  int error = pthread_getattr_np(pthread_self(), &attr);
  if (!error) pthread_attr_getstack(&attr, &lowest, &size), pthread_attr_destroy(&attr);
  t->inside = false;
  if (!error) hl_record(HL_STACK, 0, (uint64_t)lowest + size, 0, (uint64_t)lowest);
}

static void *begin(void *arg) {
  struct start s = *(struct start *)arg;
  hl_me = s.thread;
  __libc_free(arg);
  if (hl_records()) hl_record_begin(s.thread), hl_record(HL_START, (uint64_t)s.run, 0, 0, 0);
  if (hl_valued()) stack_of(s.thread);
  else if (hl_records()) hl_sharing_thread(s.thread);
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
  if (hl_records()) hl_record(HL_CREATE, HL_RA, 0, 0, number); // before its start
  struct hl_thread *me = hl_valued() ? hl_thread() : NULL;
  if (me) me->inside = true; // what libc allocates for the thread depends on which ones have ended
  int error = REAL(pthread_create)(thread, attr, begin, s);
  if (me) me->inside = false;
  if (error) {
    __libc_free(s);
  } else {
    know(*thread, number);
    if (hl_valued()) hl_record(HL_CREATED, 0, 0, 0, number);
  }
  return error;
}

HL_EXPORT int pthread_join(pthread_t thread, void **result) {
  operation();
  int64_t number = hl ? number_of(thread) : -1;
  int error = REAL(pthread_join)(thread, result);
  if (error == 0 && number >= 0 && hl_records()) hl_record(HL_JOIN, HL_RA, 0, 0, (uint64_t)number);
  return error;
}

#define ACQUIRE(name, kind, T) \
  HL_EXPORT int name(T *lock) { \
    acquires(HL_RA); \
    int error = REAL(name)(lock); \
    if (error == 0 && hl_records()) hl_record(kind, HL_RA, (uint64_t)lock, 0, 0); \
    return error; \
  }
// An attempt that fails is an event of recordings with values.
#define TRY(name, kind, tried, T) \
  HL_EXPORT int name(T *lock) { \
    acquires(HL_RA); \
    int error = REAL(name)(lock); \
    if (hl_valued()) hl_record(tried, HL_RA, (uint64_t)lock, 0, (uint64_t)error); \
    else if (error == 0 && hl_records()) hl_record(kind, HL_RA, (uint64_t)lock, 0, 0); \
    return error; \
  }
#define ACQUIRE_UNTIL(name, kind, tried, T) \
  HL_EXPORT int name(T *lock, const struct timespec *until) { \
    acquires(HL_RA); \
    int error = REAL(name)(lock, until); \
    if (hl_valued()) hl_record(tried, HL_RA, (uint64_t)lock, 0, (uint64_t)error); \
    else if (error == 0 && hl_records()) hl_record(kind, HL_RA, (uint64_t)lock, 0, 0); \
    return error; \
  }
// A release is recorded before another thread can acquire.
#define RELEASE(name, kind, T) \
  HL_EXPORT int name(T *lock) { \
    operation(); \
    if (hl_records()) hl_record(kind, HL_RA, (uint64_t)lock, 0, 0); \
    return REAL(name)(lock); \
  }
ACQUIRE(pthread_mutex_lock, HL_LOCK, pthread_mutex_t)
TRY(pthread_mutex_trylock, HL_LOCK, HL_TRYLOCK, pthread_mutex_t)
ACQUIRE_UNTIL(pthread_mutex_timedlock, HL_LOCK, HL_TIMEDLOCK, pthread_mutex_t)
RELEASE(pthread_mutex_unlock, HL_UNLOCK, pthread_mutex_t)
ACQUIRE(pthread_rwlock_rdlock, HL_RDLOCK, pthread_rwlock_t)
TRY(pthread_rwlock_tryrdlock, HL_RDLOCK, HL_TRYRDLOCK, pthread_rwlock_t)
ACQUIRE_UNTIL(pthread_rwlock_timedrdlock, HL_RDLOCK, HL_TIMEDRDLOCK, pthread_rwlock_t)
ACQUIRE(pthread_rwlock_wrlock, HL_WRLOCK, pthread_rwlock_t)
TRY(pthread_rwlock_trywrlock, HL_WRLOCK, HL_TRYWRLOCK, pthread_rwlock_t)
ACQUIRE_UNTIL(pthread_rwlock_timedwrlock, HL_WRLOCK, HL_TIMEDWRLOCK, pthread_rwlock_t)
RELEASE(pthread_rwlock_unlock, HL_RWUNLOCK, pthread_rwlock_t)
ACQUIRE(pthread_spin_lock, HL_SPIN_LOCK, pthread_spinlock_t)
TRY(pthread_spin_trylock, HL_SPIN_LOCK, HL_SPIN_TRYLOCK, pthread_spinlock_t)
RELEASE(pthread_spin_unlock, HL_SPIN_UNLOCK, pthread_spinlock_t)

HL_EXPORT int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
  operation();
  if (hl_records()) hl_record(HL_COND_WAIT, HL_RA, (uint64_t)c, 0, (uint64_t)m);
  int error = REAL_BY(FIND_COND, pthread_cond_wait)(c, m);
  if (hl_records()) hl_record(HL_COND_WAKE, HL_RA, (uint64_t)c, 0, (uint64_t)m);
  return error;
}
HL_EXPORT int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until) {
  operation();
  if (hl_records()) hl_record(HL_COND_WAIT, HL_RA, (uint64_t)c, 0, (uint64_t)m);
  int error = REAL_BY(FIND_COND, pthread_cond_timedwait)(c, m, until);
  if (hl_records()) hl_record(HL_COND_WAKE, HL_RA, (uint64_t)c, 0, (uint64_t)m);
  return error;
}
HL_EXPORT int pthread_cond_signal(pthread_cond_t *c) {
  operation();
  if (hl_valued()) hl_record(HL_SIGNAL, HL_RA, (uint64_t)c, 0, 0);
  return REAL_BY(FIND_COND, pthread_cond_signal)(c);
}
HL_EXPORT int pthread_cond_broadcast(pthread_cond_t *c) {
  operation();
  if (hl_valued()) hl_record(HL_BROADCAST, HL_RA, (uint64_t)c, 0, 0);
  return REAL_BY(FIND_COND, pthread_cond_broadcast)(c);
}

// Semaphores: a decrement is recorded once it has happened, an increment before it happens.
HL_EXPORT int sem_init(sem_t *s, int shared, unsigned count) {
  if (hl_valued()) hl_record(HL_SEM_INIT, HL_RA, (uint64_t)s, 0, count);
  return REAL(sem_init)(s, shared, count);
}
static inline int down(uint32_t kind, uint64_t pc, sem_t *s, int result) {
  int error = result == 0 ? 0 : errno;
  if (hl_valued()) hl_record(kind, pc, (uint64_t)s, 0, (uint64_t)error);
  if (error) errno = error;
  return result;
}
HL_EXPORT int sem_wait(sem_t *s) { return down(HL_SEM_WAIT, HL_RA, s, REAL(sem_wait)(s)); }
HL_EXPORT int sem_trywait(sem_t *s) { return down(HL_SEM_TRYWAIT, HL_RA, s, REAL(sem_trywait)(s)); }
HL_EXPORT int sem_timedwait(sem_t *s, const struct timespec *until) { return down(HL_SEM_TIMEDWAIT, HL_RA, s, REAL(sem_timedwait)(s, until)); }
HL_EXPORT int sem_post(sem_t *s) {
  if (hl_valued()) hl_record(HL_SEM_POST, HL_RA, (uint64_t)s, 0, 0);
  return REAL(sem_post)(s);
}

HL_EXPORT int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count) {
  if (hl_records()) hl_record(HL_BARRIER_INIT, HL_RA, (uint64_t)b, 0, count);
  return REAL(pthread_barrier_init)(b, attr, count);
}
HL_EXPORT int pthread_barrier_wait(pthread_barrier_t *b) {
  operation();
  if (hl_records()) hl_record(HL_BARRIER_WAIT, HL_RA, (uint64_t)b, 0, 0);
  int result = REAL(pthread_barrier_wait)(b);
  if (hl_records()) hl_record(HL_BARRIER_LEAVE, HL_RA, (uint64_t)b, 0, 0);
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
  if (!hl_records()) return REAL(pthread_once)(o, run);
  initialising.run = run, initialising.once = o, initialising.pc = HL_RA;
  int error = REAL(pthread_once)(o, once);
  hl_record(HL_ONCE_BEGIN, HL_RA, (uint64_t)o, 0, 0); // after the end, whoever ran it
  return error;
}

// An allocation that failed is recorded with values only.
static void *allocated(void *p, size_t n, uint64_t pc) {
  if (p && hl_records()) hl_sharing_forget((uint64_t)p, n);
  if ((p || hl_valued()) && hl_records()) hl_record(HL_MALLOC, pc, (uint64_t)p, 0, n);
  return p;
}
HL_EXPORT void *malloc(size_t n) { return allocated(__libc_malloc(n), n, HL_RA); }
HL_EXPORT void *calloc(size_t n, size_t each) {
  size_t total;
  if (__builtin_mul_overflow(n, each, &total)) total = SIZE_MAX;
  return allocated(__libc_calloc(n, each), total, HL_RA);
}
static void freed(void *p, uint64_t pc) {
  if (!p || !hl) return;
  if (hl->mode == HL_PROFILE) {
    hl_sharing_free((uint64_t)p, malloc_usable_size(p));
    hl_record(HL_FREE, pc, (uint64_t)p, 0, 0);
  }
  else if (hl->mode == HL_FORCE) hl_force_access(pc, (uint64_t)p, 1);
}
HL_EXPORT void free(void *p) {
  freed(p, HL_RA);
  __libc_free(p);
}
HL_EXPORT void *realloc(void *p, size_t n) {
  freed(p, HL_RA);
  void *q = __libc_realloc(p, n);
  if (q || !p || n) allocated(q, n, HL_RA);
  if (!q && p && n && hl_valued()) hl_record(HL_MALLOC, HL_RA, (uint64_t)p, 0, malloc_usable_size(p)); // it failed, and the block is still there
  return q;
}
static void *aligned(size_t align, size_t n, uint64_t pc) {
  return allocated(__libc_memalign(align, n), n, pc);
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

// ---- the beginning and the end of main
static int (*program_main)(int, char **, char **);

// Variables of main lie at the same distance from the recorded top of its stack, however the kernel has aligned the stack.
__attribute__((noinline)) static int run(int argc, char **argv, char **env) {
  if (!hl_valued()) return program_main(argc, argv, env);
  volatile char *at = __builtin_alloca(16);
  volatile char *top = __builtin_alloca(64 + ((uint64_t)at & 63)); // to a multiple of 64
  top[0] = 0;
  hl_record(HL_STACK, 0, (uint64_t)top, 0, hl->main_stack - (8ull << 20));
  int status = program_main(argc, argv, env);
  hl_record(HL_EXIT, 0, 0, 0, (uint64_t)(uint32_t)status);
  return status;
}

HL_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  static int (*libc)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  libc = (__typeof__(libc))(dlvsym(RTLD_NEXT, "__libc_start_main", "GLIBC_2.34") ?: dlsym(RTLD_NEXT, "__libc_start_main"));
  program_main = main;
  return libc(hl ? run : main, argc, argv, init, fini, rtld_fini, stack_end);
}

HL_EXPORT void exit(int status) {
  if (hl_valued()) hl_record(HL_EXIT, HL_RA, 0, 0, (uint64_t)(uint32_t)status);
  REAL(exit)(status);
  __builtin_unreachable();
}
