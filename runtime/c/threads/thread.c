// thread.c: the life of threads.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include "core/rt.h"
#include "sync/sync.h"

// pthread.h declares it only for code that is compiled without exceptions.
extern void __pthread_register_cancel(__pthread_unwind_buf_t *);

enum { KEYS = 1024 };
static void (*key_dtor[KEYS])(void *), (*key_saved[KEYS])(void *);
static uint32_t nkeys, nkeys_saved;

struct hd_thread *hd_thread_new(struct hd_thread *parent, bool code) {
  struct hd_donor *d = NULL;
  struct hd_thread *t = hd_slot_get(code ? &d : NULL);
  uint32_t i = t->index;
  hd_fill(t, 0, offsetof(struct hd_thread, shadow));
  t->index = i;
  t->number = hd.nborn++;
  t->donor = d;
  t->fs = d ? d->fs : hd_main_fs;
  t->touched_low = ~0ull;
  if (parent) {
    t->parent = parent->number;
    t->nth = ++parent->children;
    t->name = hd_mix(parent->name, t->nth);
    t->sigmask = parent->sigmask;
    if (d) d->owner = t;
  } else {
    t->parent = ~0u;
    t->name = HD_NAME_MAIN;
    hd_signals_main(t);
  }
  hd.nlive++;
  hd_policy_thread(t);
  if (hd.plan.nthreads) hd_script_thread(t);
  if (HD_UNLIKELY(hd.record)) hd_event_slot(t);
  return t;
}

uintptr_t hd_stack_hi(const struct hd_thread *t) {
  return t->timer ? 0 : t->stack_hi ? t->stack_hi : t->donor ? t->donor->hi : hd_main_sp;
}

void hd_thread_tell(const struct hd_thread *t) {
  if (!hd.record) return;
  hd_event_flush();
  hd_thread_report(t);
}

void hd_thread_report(const struct hd_thread *t) {
  uint64_t size = t->stack_hi ? t->stack_hi - t->stack_lo : t->donor ? t->donor->hi - t->donor->lo : 8 << 20;
  struct hd_thread_info info = {
    .number = t->number, .parent = t->parent, .nth = t->nth,
    .flags = (t->ended ? 1u : 0) | (t->detached ? 2u : 0) | (t->joined ? 4u : 0) | (t->timer ? 16u : 0),
    .name = t->name, .entry = hd_name((uint64_t)t->entry),
    .stack_hi = hd_stack_hi(t), .stack_size = t->timer ? 0 : size,
  };
  hd_out(HD_REC_THREAD, &info, sizeof info);
}

struct hd_thread *hd_thread_of(uintptr_t id) {
  for (uint32_t i = hd.nthreads; i--;)
    if (hd_threads[i].fs == id && !hd_threads[i].timer) return &hd_threads[i];
  return NULL;
}

// ---- thread-local destructors
//
// The list of C++ destructors lives in the program's heap, so it is put back with it.
struct hd_tls_dtor { void (*fn)(void *); void *obj; struct hd_tls_dtor *next; void *library; };
static struct hd_tls_dtor *early_dtors; // registered by main before main

HD_EXPORT int __cxa_thread_atexit_impl(void (*fn)(void *), void *obj, void *dso) {
  if (!hd_controlled() || hd_mode == HD_CHILD) return REAL(__cxa_thread_atexit_impl)(fn, obj, dso);
  struct hd_tls_dtor *d = hd_heap_alloc(sizeof *d, 16, HD_RA);
  if (!d) return -1;
  struct hd_tls_dtor **list = hd_mode == HD_ACTIVE ? &hd.cur->dtors : &early_dtors;
  d->fn = fn;
  d->obj = obj;
  d->next = *list;
  *list = d;
  d->library = hd_mode == HD_ACTIVE ? hd_library_hold(dso, HD_RA) : NULL;
  return 0;
}

void hd_run_tls_dtors(struct hd_thread *t) {
  for (struct hd_tls_dtor *d; (d = t->dtors);) {
    t->dtors = d->next;
    d->fn(d->obj);
    if (d->library) hd_library_drop(d->library);
  }
}

HD_EXPORT int pthread_key_create(pthread_key_t *key, void (*dtor)(void *)) {
  int err = REAL(pthread_key_create)(key, dtor);
  if (err == 0 && *key < KEYS) {
    key_dtor[*key] = dtor;
    if (*key >= nkeys) nkeys = *key + 1;
  }
  return err;
}

HD_EXPORT int pthread_key_delete(pthread_key_t key) {
  int err = REAL(pthread_key_delete)(key);
  if (err == 0 && key < KEYS) key_dtor[key] = NULL;
  return err;
}

void hd_keys_save(void) {
  nkeys_saved = nkeys;
  hd_copy(key_saved, key_dtor, sizeof key_dtor);
}
void hd_keys_restore(void) {
  if (nkeys || nkeys_saved) hd_copy(key_dtor, key_saved, (nkeys > nkeys_saved ? nkeys : nkeys_saved) * sizeof *key_dtor);
  nkeys = nkeys_saved;
}

static void run_key_dtors(void) {
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
    bool again = false;
    for (uint32_t k = 0; k < nkeys; k++) {
      if (!key_dtor[k]) continue;
      void *v = pthread_getspecific(k);
      if (!v) continue;
      pthread_setspecific(k, NULL);
      again = true;
      key_dtor[k](v);
    }
    if (!again) return;
  }
}

// ---- begin and end
//
// Two threads may both be about to end as the last two. When one has, what the other is
// about to do has become the end of the process.
static void last_one_exits(void) {
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (!u->ended && u->pend.op == HD_OP_THREAD_END && !hd.process_exiting) hd_pend(u, HD_OP_PROCESS_EXIT, 0, 0);
  }
}

static _Noreturn void finish(struct hd_thread *t) {
  hd_run_tls_dtors(t);
  run_key_dtors();
  hd_mutex_abandon_all(t);
  if (hd.nlive == 1 && !hd.process_exiting) hd_exit(0, 0); // the last thread ends the process
  hd_pend(t, HD_OP_THREAD_END, 0, t->fs);
  hd_point(t);
  if (t->pend.op == HD_OP_PROCESS_EXIT) hd_exit_chosen(t, 0);
  hd_event_settle();
  t->ended = true;
  if (--hd.nlive == 1) last_one_exits();
  hd_commit(t, 0, 0);
  hd_del(&hd.enabled, t->index);
  if (HD_UNLIKELY(hd.npending)) hd_signals_arrive();
  hd_progress(t);
  hd_update((uint64_t)t);
  if (t->detached) hd_slot_retire(t);
  hd_thread_leave();
}

// A thread may take a signal late, but not never: the kernel would have handed it over long
// before the thread has ended.
static void last_signals(struct hd_thread *t, uint64_t pc) {
  if (HD_UNLIKELY(hd.npending)) hd_deliver_due(t, pc);
}

static void thread_body(struct hd_thread *t) {
  // Where pthread_exit ends up once the program's own cleanup handlers have run: glibc
  // unwinds to the innermost registered frame, and this is the outermost.
  union { struct __jmp_buf_tag jump; __pthread_unwind_buf_t cancel; } buf; // glibc stores only what the second holds
  if (__sigsetjmp(&buf.jump, 0) == 0) {
    __pthread_register_cancel(&buf.cancel);
    if (t->index == 0) {
      if (HD_UNLIKELY(hd_shared_early)) hd_needs(HD_ISOLATION_PROCESS, "shared memory that was mapped before main");
      hd_early_begin();
      t->left_pc = (uint64_t)hd_program_main + 1; // without access hooks, where main returns is not known: in main
      int status = hd_program_main(hd_argc, hd_argv, hd_envp);
      hd_exit(status, t->left_pc);
    }
    t->ret = t->entry(t->arg);
    last_signals(t, (uint64_t)t->entry);
  }
}

void hd_thread_main(void) {
  struct hd_thread *t = hd.cur;
  if (t->index == 0) t->dtors = early_dtors;
  else {
    hd_event_settle();
    hd_commit(t, 0, 0); // START was pending since it was created
  }
  thread_body(t);
  finish(hd.cur);
}

void hd_thread_exit(void *ret, uint64_t pc) {
  last_signals(hd.cur, pc);
  struct hd_thread *t = hd_op(HD_OP_THREAD_EXIT, pc, hd.cur->fs);
  hd_commit(t, 0, 0);
  t->cancel |= HD_CANCEL_LEAVING;
  t->ret = ret;
  REAL(pthread_exit)(ret); // unwinds: the program's handlers, then thread_body's
  __builtin_unreachable();
}

HD_EXPORT void pthread_exit(void *ret) {
  if (hd_active()) hd_thread_exit(ret, HD_RA);
  REAL(pthread_exit)(ret);
  __builtin_unreachable();
}

struct hd_thread *hd_spawn(struct hd_thread *t, void *(*entry)(void *), void *arg, bool detached) {
  struct hd_thread *u = hd_thread_new(t, true);
  u->entry = entry;
  u->arg = arg;
  u->detached = detached;
  hd.unjoined++;
  hd_fiber_start(u, u->donor->sp);
  hd_pend(u, HD_OP_THREAD_START, (uint64_t)entry, (uint64_t)entry);
  hd_add(&hd.enabled, u->index);
  hd_thread_tell(u);
  return u;
}

// False: libc's own.
bool hd_threads_controlled(void) {
  if (hd_active()) return true;
  if (hd_mode == HD_CHILD) hd_refuse("a child process of the program, forked and without exec, starts a thread: heddle controls the threads of one process");
  return false;
}

// A stack larger than donors have; it goes when the execution ends.
static void *large_stack(size_t size) {
  enum { GUARD = 65536 };
  char *p = mmap(NULL, size + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (p == MAP_FAILED) return NULL;
  hd_sys(SYS_mprotect, p, GUARD, PROT_NONE);
  return p + GUARD;
}

void *hd_thread_wishes(const void *attr, size_t *size, bool *detached) {
  *size = 0;
  *detached = false;
  if (!attr) return NULL;
  int state;
  void *addr;
  pthread_attr_getdetachstate(attr, &state);
  pthread_attr_getstack(attr, &addr, size);
  *detached = state == PTHREAD_CREATE_DETACHED;
  return (uintptr_t)addr + *size == 0 ? NULL : addr; // none was set: the end is at 0
}

int hd_thread_create(uintptr_t *id, const void *attr, void *(*entry)(void *), void *arg, uint64_t pc) {
  size_t size;
  bool detached;
  void *addr = hd_thread_wishes(attr, &size, &detached);
  hd_refresh(id, sizeof *id, pc);
  struct hd_thread *t = hd_op(HD_OP_THREAD_CREATE, pc, (uint64_t)entry);
  if (!addr && size > hd_default_stack()) {
    size = (size + 4095) & ~4095ul;
    addr = large_stack(size);
    if (!addr) {
      hd_commit(t, 0, EAGAIN);
      return EAGAIN;
    }
  }
  struct hd_thread *u = hd_spawn(t, entry, arg, detached);
  hd_thread_attributes(u, t, attr);
  if (addr) {
    u->stack_lo = (uintptr_t)addr;
    u->stack_hi = u->stack_lo + size;
    hd_fiber_start(u, u->stack_hi - 64); // not on its donor's
    hd_thread_tell(u);
  }
  hd_to_program(id, &u->fs, sizeof *id);
  t->pend.obj = u->fs;
  hd_progress(t);
  hd_commit(t, u->number, 0);
  hd_policy_arrive(u);
  if (HD_UNLIKELY(hd.npending)) hd_signals_arrive();
  hd_kernel_exit(pc);
  // The new thread may run before the creator does anything with it. Where memory accesses are
  // not seen, the creator's next point may be far away.
  uint32_t number = u->number; // it may have ended, and another have its slot
  hd_op(HD_OP_THREAD_CREATED, pc, 0);
  hd_commit(t, number, 0);
  return 0;
}

HD_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*entry)(void *), void *arg) {
  if (hd_before_main()) return hd_early_create(id, attr, entry, arg, HD_RA);
  return hd_threads_controlled() ? hd_thread_create(id, attr, entry, arg, HD_RA) : REAL(pthread_create)(id, attr, entry, arg);
}

static struct hd_thread *check_id(pthread_t id, uint64_t pc, const char *what) {
  struct hd_thread *u = hd_thread_of(id);
  if (!u) hd_misuse(pc, id, what);
  return u;
}

// until NULL: as long as it takes.
int hd_thread_join(uintptr_t id, void **ret, uint64_t pc, const struct hd_deadline *until, bool try) {
  struct hd_thread *t = hd.cur, *u = check_id(id, pc, "join of an identifier that names no thread");
  if (ret) hd_refresh(ret, sizeof *ret, pc);
  if (hd_skip(pc)) {
    if (ret) hd_to_program(ret, &(void *){ NULL }, sizeof *ret);
    return 0;
  }
  hd_pend(t, HD_OP_THREAD_JOIN, pc, id);
  t->pend.aux = u->number;
  if (u == t) return EDEADLK;
  bool bad = until && until->vtime == HD_BAD_TIME;
  if (!try && !bad) hd_need(t, (uint64_t)u, 0);
  if (until && !bad) hd_timer(t, until);
  u->referred++;
  if (try) hd_point(t);
  else if (hd_cancel_point(t)) {
    u->referred--;
    hd_commit(t, u->number, ECANCELED);
    hd_cancel_act(t);
  }
  u->referred--;
  if (u->joined) hd_misuse(pc, id, "join of a thread that was joined already");
  if (u->detached) hd_misuse(pc, id, "join of a detached thread");
  if (!u->ended) {
    int r = try ? EBUSY : bad ? EINVAL : ETIMEDOUT;
    hd_commit(t, u->number, r);
    if (try) hd_observe(t, pc, 0);
    return r;
  }
  u->joined = true;
  hd.unjoined--;
  hd_progress(t);
  hd_commit(t, u->number, 0);
  hd_update((uint64_t)u); // somebody else may be waiting for it, wrongly
  if (ret) hd_to_program(ret, &u->ret, sizeof *ret);
  hd_slot_retire(u);
  return 0;
}

static int timed_join(pthread_t id, void **ret, int clock, const struct timespec *until, uint64_t pc) {
  struct hd_deadline d;
  if (!until) return hd_thread_join(id, ret, pc, NULL, false);
  if (!hd_wait_clock(clock)) return EINVAL;
  if (!hd_deadline(&d, clock, until)) d.vtime = HD_BAD_TIME;
  return hd_thread_join(id, ret, pc, &d, false);
}

HD_EXPORT int pthread_join(pthread_t id, void **ret) {
  if (hd_before_main()) hd_early_join();
  return hd_active() ? hd_thread_join(id, ret, HD_RA, NULL, false) : REAL(pthread_join)(id, ret);
}
HD_EXPORT int pthread_tryjoin_np(pthread_t id, void **ret) {
  return hd_active() ? hd_thread_join(id, ret, HD_RA, NULL, true) : REAL(pthread_tryjoin_np)(id, ret);
}
HD_EXPORT int pthread_timedjoin_np(pthread_t id, void **ret, const struct timespec *until) {
  return hd_active() ? timed_join(id, ret, CLOCK_REALTIME, until, HD_RA) : REAL(pthread_timedjoin_np)(id, ret, until);
}
HD_EXPORT int pthread_clockjoin_np(pthread_t id, void **ret, clockid_t clock, const struct timespec *until) {
  return hd_active() ? timed_join(id, ret, clock, until, HD_RA) : REAL(pthread_clockjoin_np)(id, ret, clock, until);
}

int hd_thread_detach(uintptr_t id, uint64_t pc) {
  struct hd_thread *u = check_id(id, pc, "detach of an identifier that names no thread");
  u->referred++;
  struct hd_thread *t = hd_op(HD_OP_THREAD_DETACH, pc, id);
  u->referred--;
  if (u->joined) hd_misuse(pc, id, "detach of a thread that was joined already");
  if (u->detached) { hd_commit(t, u->number, EINVAL); return EINVAL; }
  u->detached = true;
  hd_commit(t, u->number, 0);
  hd_update((uint64_t)u);
  if (u->ended) hd_slot_retire(u);
  return 0;
}

HD_EXPORT int pthread_detach(pthread_t id) {
  if (hd_before_main()) return hd_early_detach(id);
  return hd_active() ? hd_thread_detach(id, HD_RA) : REAL(pthread_detach)(id);
}
