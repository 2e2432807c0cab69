// life.c: the life of threads: create, join, detach, exit.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include "core/cancellation.h"
#include "core/carrier.h"
#include "core/event.h"
#include "core/fiber.h"
#include "core/injection.h"
#include "core/interrupts.h"
#include "core/libc.h"
#include "core/omit.h"
#include "core/outcome.h"
#include "core/policy.h"
#include "core/program_memory.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/setup.h"
#include "core/side_stack.h"
#include "core/threads.h"
#include "core/virtual_time.h"
#include "memory/access.h"
#include "memory/thread_memory.h"
#include "signals/signals.h"
#include "threads/threads.h"

// pthread.h declares it only for code that is compiled without exceptions.
extern void __pthread_register_cancel(__pthread_unwind_buf_t *);

// ---- begin and end
//
// The last two threads may both be about to end. Once one has ended, the other's pending operation
// is the end of the process.
static void last_one_exits(void) {
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (!u->ended && u->pend.op == HD_OP_THREAD_END && !hd.process_exiting) hd_pend(u, HD_OP_PROCESS_EXIT, 0, 0);
  }
}

static _Noreturn void finish(struct hd_thread *t) {
  if (!hd_active()) hd_exit(0, 0); // the last thread of a child that the program forked
  HD_CALL_MODULES(thread_ends, t);
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
  hd_thread_memory_ends(t);
  if (t->detached) hd_slot_retire(t);
  hd_thread_leave();
}

// A thread may take a signal late, but must take it: the kernel would have delivered it long before
// the thread's end.
static void last_signals(struct hd_thread *t, uint64_t pc) {
  if (hd_active() && HD_UNLIKELY(hd.npending)) hd_deliver_due(t, pc);
}

// Stack objects have names that count from the stack's beginning. So that these depend neither on
// the runtime nor on its compiler, the program's frames begin FRAMES bytes below it.
enum { FRAMES = 0x200 };

static uint64_t call_program(struct hd_thread *t, void *f, uint64_t a, uint64_t b, uint64_t c) {
  uintptr_t sp = (t->start & ~15ull) - FRAMES;
  if (sp > (uintptr_t)__builtin_frame_address(0) - 64) hd_fatal("the runtime's own frames take more than %u bytes of a stack", FRAMES);
  return hd_call_below(sp, f, a, b, c);
}

static void thread_body(struct hd_thread *t) {
  // pthread_exit arrives here once the program's own cleanup handlers have run: glibc unwinds to
  // the innermost registered frame, and this is the outermost.
  union { struct __jmp_buf_tag jump; __pthread_unwind_buf_t cancel; } buf; // glibc stores only what the second holds
  if (__sigsetjmp(&buf.jump, 0) == 0) {
    __pthread_register_cancel(&buf.cancel);
    if (t->index == 0) {
      HD_CALL_MODULES(main_begins);
      t->calls.left_pc = (uint64_t)hd_program_main + 1; // without access hooks, where main returns is not known: in main
      int status = (int)call_program(t, (void *)hd_program_main, (uint64_t)hd_argc, (uint64_t)hd_argv, (uint64_t)hd_envp);
      hd_exit(status, t->calls.left_pc);
    }
    t->ret = (void *)call_program(t, (void *)t->entry, (uint64_t)t->arg, 0, 0);
    last_signals(t, (uint64_t)t->entry);
  }
  hd_fill(&buf, 0, sizeof buf); // libc has mixed a random number in, and destructors may read it as uninitialised memory
}

void hd_thread_main(void) {
  struct hd_thread *t = hd.cur;
  hd_side_top = hd_side_of(t->index);
  if (t->index != 0) {
    hd_event_settle();
    hd_commit(t, 0, 0); // START has been pending since its creation
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

HD_ON_SIDE_STACK(struct hd_thread *, hd_spawn, (struct hd_thread *t, void *(*entry)(void *), void *arg, bool detached)) {
  struct hd_thread *u = hd_thread_new(t, true);
  u->entry = entry;
  u->arg = arg;
  u->detached = detached;
  if (t->number) hd_shares(HD_SHARED_THREAD, HD_STATE_THREAD_NUMBERS, HD_ADDS, t->pend.pc); // main's order is fixed
  hd_thread_inherits(u, t);
  hd.unjoined++;
  hd_fiber_start(u, u->host->sp, hd_thread_main);
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

// A stack larger than the hosts'; the end of the execution releases it.
static void *large_stack(size_t size) {
  char *p = mmap(NULL, size + HD_STACK_GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (p == MAP_FAILED) return NULL;
  hd_sys(SYS_mprotect, p, HD_STACK_GUARD, PROT_NONE);
  return p + HD_STACK_GUARD;
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
  if (HD_UNLIKELY(hd_setup_looking)) hd_setup_over(hd.cur);
  hd_refresh(id, sizeof *id, pc);
  hd_inject_call();
  hd_access_range(id, sizeof *id, true, pc); // libc stores it before the thread begins
  struct hd_thread *t = hd_op(HD_OP_THREAD_CREATE, pc, (uint64_t)entry);
  bool given = addr;
  uint64_t native = size ? size : hd_default_stack();
  if (!given && native > hd_default_stack()) {
    size = hd_stack_mapped(native);
    addr = large_stack(size);
    t->pend.pc = pc; // mmap has a site of its own
    if (!addr) {
      hd_inject_called();
      hd_commit(t, 0, EAGAIN);
      return EAGAIN;
    }
  }
  struct hd_thread *u = hd_spawn(t, entry, arg, detached);
  hd_thread_attributes(u, attr);
  if (addr) {
    u->stack.lo = (uintptr_t)addr;
    u->stack.hi = u->stack.lo + size;
    hd_fiber_start(u, u->stack.hi - 64, hd_thread_main); // not on its host's
    hd_thread_tell(u);
  }
  hd_stack_limit(u, native);
  if (given) u->stack.limit = 0; // the program's own memory, which the runtime cannot extend for the hooks
  hd_to_program(id, &u->fs, sizeof *id);
  hd_inject_called();
  t->pend.obj = u->fs;
  hd_progress(t);
  hd_commit(t, u->number, 0);
  hd_policy_arrive(u);
  if (HD_UNLIKELY(hd.npending)) hd_signals_arrive();
  hd_kernel_exit(pc);
  // The new thread may run before the creator does anything with it. Where memory accesses are
  // not seen, the creator's next point may be far away.
  uint32_t number = u->number; // it may have ended, and another thread may use its slot
  hd_op(HD_OP_THREAD_CREATED, pc, 0);
  hd_commit(t, number, 0);
  return 0;
}

HD_INTERPOSE_WHILE(hd_before_main() || hd_threads_controlled(), int, pthread_create,
                   (pthread_t *id, const pthread_attr_t *attr, void *(*entry)(void *), void *arg), (id, attr, entry, arg)) {
  return hd_active() ? hd_thread_create(id, attr, entry, arg, HD_RA) : hd_early_create(id, attr, entry, arg, HD_RA);
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
  if (hd_omits(pc)) {
    if (ret) hd_to_program(ret, &(void *){ NULL }, sizeof *ret);
    return 0;
  }
  hd_pend(t, HD_OP_THREAD_JOIN, pc, id);
  t->pend.aux = u->number;
  t->pend.size = try ? 1 : until ? 2 : 0;
  if (u == t) return EDEADLK;
  bool bad = until && until->vtime == HD_BAD_TIME;
  if (!try && !bad) hd_block_on(t, (uint64_t)u, 0);
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
    if (r == ETIMEDOUT) hd_timed_out(t, pc);
    return r;
  }
  u->joined = true;
  hd.unjoined--;
  hd_progress(t);
  hd_commit(t, u->number, 0);
  hd_update((uint64_t)u); // another thread may be joining it, which is misuse
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

HD_INTERPOSE_WHILE(hd_before_main() || hd_active(), int, pthread_join, (pthread_t id, void **ret), (id, ret)) {
  if (!hd_active()) hd_early_join();
  return hd_thread_join(id, ret, HD_RA, NULL, false);
}
HD_INTERPOSE(int, pthread_tryjoin_np, (pthread_t id, void **ret), (id, ret)) { return hd_thread_join(id, ret, HD_RA, NULL, true); }
HD_INTERPOSE(int, pthread_timedjoin_np, (pthread_t id, void **ret, const struct timespec *until), (id, ret, until)) {
  return timed_join(id, ret, CLOCK_REALTIME, until, HD_RA);
}
HD_INTERPOSE(int, pthread_clockjoin_np, (pthread_t id, void **ret, clockid_t clock, const struct timespec *until), (id, ret, clock, until)) {
  return timed_join(id, ret, clock, until, HD_RA);
}

int hd_thread_detach(uintptr_t id, uint64_t pc) {
  struct hd_thread *u = check_id(id, pc, "detach of an identifier that names no thread");
  u->referred++;
  struct hd_thread *t = hd_op(HD_OP_THREAD_DETACH, pc, id);
  u->referred--;
  if (u->joined) hd_misuse(pc, id, "detach of a thread that was joined already");
  if (u->detached) { hd_commit(t, u->number, EINVAL); return EINVAL; }
  hd_attribute_used(u, HD_ATTRIBUTE_DETACHED, HD_CHANGES, pc);
  u->detached = true;
  hd_commit(t, u->number, 0);
  hd_update((uint64_t)u);
  if (u->ended) hd_slot_retire(u);
  return 0;
}

HD_INTERPOSE_WHILE(hd_before_main() || hd_active(), int, pthread_detach, (pthread_t id), (id)) {
  return hd_active() ? hd_thread_detach(id, HD_RA) : hd_early_detach(id);
}

// ---- for the scheduler
//
// A second join, or one of a detached thread, is enabled so that it is reported.
static bool join_enabled(const struct hd_thread *u) {
  const struct hd_thread *target = (const struct hd_thread *)u->wait.on;
  return u->wait.timed_out || target->ended || target->joined || target->detached;
}
static uint32_t joined(const struct hd_thread *u, uint64_t *object) {
  (void)object;
  return (uint32_t)u->pend.aux + 1;
}

static const struct hd_operation operations[] = { { .op = HD_OP_THREAD_JOIN, .enabled = join_enabled, .holder = joined } };

const struct hd_registration hd_thread_life = { HD_OPERATIONS(operations) };
