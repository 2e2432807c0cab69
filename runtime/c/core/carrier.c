// carrier.c: the carrier's loop. It reads a plan and runs its executions of main; after each it
// reports the result and restores the snapshot. Under fork isolation a child process runs each
// execution, and nothing needs restoring.
#define _GNU_SOURCE
#include <signal.h>
#include "core/carrier.h"
#include "core/event.h"
#include "core/injection.h"
#include "core/fiber.h"
#include "core/holds.h"
#include "core/modules.h"
#include "core/omit.h"
#include "core/outcome.h"
#include "core/own_memory.h"
#include "core/policy.h"
#include "core/registration.h"
#include "core/virtual_time.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/setup.h"
#include "core/side_stack.h"
#include "core/threads.h"
#include "core/turns.h"

int (*hd_program_main)(int, char **, char **);
int hd_argc;
char **hd_argv, **hd_envp;
static void (*thread_entry)(void);
static void *carrier_sp;
static bool need_hosts;

void hd_to_carrier(void) {
  hd_side_top = 0;
  hd_fiber_jump(carrier_sp);
}

static const struct hd_plan *running; // the plan of the present execution, and the execution's number
static uint64_t running_index;

static void take(const struct hd_plan *p, uint64_t index) {
  running = p;
  running_index = index;
  hd.plan = *p;
  hd.steps = (const struct hd_step *)(p + 1);
  hd.names = (const uint64_t *)(hd.steps + p->nsteps);
  hd.seed = p->seed + index;
  hd.rng = hd_mix(hd.seed, 0x6865646c65);
  hd.slack = p->slack;
  hd.deviations = 0;
}

static void decide(void) {
  hd_policy_begin();
  hd_script_begin();
  if (hd.plan.nholds) hd_holds_begin(running);
  if (hd.plan.turns) hd_turns_begin();
}

void hd_plan_take(const struct hd_plan *p, uint64_t index) {
  take(p, index);
  decide();
}

static void begin(const struct hd_plan *p, uint64_t index) {
  struct hd_set *sets[] = { &hd.enabled, &hd.needers, &hd.timers, &hd.decision };
  uint32_t words = hd.nwords ? hd.nwords : 1;
  for (uint32_t i = 0; i < sizeof sets / sizeof *sets; i++)
    for (uint32_t w = 0; w < words; w++) sets[i]->w[w] = 0;
  take(p, index);
  hd.record = p->flags & HD_PLAN_EVENTS;
  hd.accesses = p->flags & HD_PLAN_ACCESSES;
  hd.values = p->flags & HD_PLAN_VALUES;
  hd.functions = hd.values && p->flags & HD_PLAN_FUNCTIONS;
  hd.nprofiled = 0;
  hd.cur = NULL;
  hd.unused_lo = hd.unused_size = hd.own_lo = hd.own_size = 0;
  hd.nthreads = hd.nborn = hd.nhosts = 0;
  hd.nwords = 1;
  hd.nlive = 0;
  hd.unjoined = 0;
  hd.last = ~0u;
  hd.stretches = 0;
  hd.effects = 0;
  hd.points = hd.switches = hd.preemptions = 0;
  hd.wasted = 0;
  hd.vtime = hd_vtime_at_main;
  hd.idled = 0;
  hd.next_deadline = ~0ull;
  hd.arrivals = 0;
  hd.progress_at = 0;
  hd.ncomputing = 0;
  hd.drift = hd.drift_at = hd.long_since = hd.outside = 0;
  hd.process_exiting = false;
  hd.exit_status = 0;
  hd.exit_pc = 0;
  hd.wake_choice = -1;
  hd.open = false;
  hd_fill(&hd.result, 0, sizeof hd.result);
  hd_slots_begin();
  HD_CALL_MODULES(begin);
  hd_accesses_changed();
  hd_quiet_set(0);
  hd.wrote = 0;
  hd_signature_reset();
  decide();
  hd_omit_begin();
  hd_inject_begin();
  if (hd.record) hd_event_begin();
  hd_setup_begin();
}

enum { GO_ON, STOP, AGAIN };

// Runs one execution. Returns GO_ON to continue the plan, STOP to end it, and AGAIN if the
// execution needs more hosts.
static uint32_t execute(const struct hd_plan *p, uint64_t index) {
  begin(p, index);
  struct hd_thread *main = hd_thread_new(NULL, false);
  hd_stack_limit(main, hd_main_stack);
  hd_thread_tell(main);
  hd_fiber_start(main, hd_main_sp, thread_entry);
  hd.cur = main;
  hd_add(&hd.enabled, 0);
  hd_mode = HD_ACTIVE;
  hd_set_fs(main->fs);
  hd_fiber_switch(&carrier_sp, main->sp);
  hd_mode = HD_CARRIER;
  hd_set_fs(hd_main_fs);
  p = running; // the plan of the process that main's set-up is from may have been another
  index = running_index;
  hd_setup_open = false;
  HD_CALL_MODULES(end);
  if (__atomic_load_n(&hd_shm->state, __ATOMIC_ACQUIRE) == HD_STATE_REFUSED) hd_sys(SYS_exit_group, 125, 0, 0); // a child process refused

  struct hd_result *r = &hd.result;
  if (hd.record) {
    hd_event_flush();
    for (uint32_t i = 0; i < hd.nthreads; i++) hd_thread_report(&hd_threads[i]);
  }
  r->plan = p->id;
  r->index = index;
  r->signature = hd.signature;
  r->vtime = hd.vtime;
  r->points = hd.points;
  r->switches = hd.switches;
  r->preemptions = hd.preemptions;
  r->threads = hd.nborn;
  r->deviations = hd.deviations;
  r->fair_at = hd.fair_at;
  r->stretches = hd.stretches;
  r->passed = (uint32_t)hd.passed;
  r->last = hd_isolation == HD_ISOLATION_PROCESS;
  HD_CALL_MODULES(report, r);
  if (p->nholds) hd_holds_report();
  bool again = need_hosts;
  need_hosts = false;
  if (again) hd_out(HD_REC_AGAIN, &index, sizeof index);
  else hd_out(HD_REC_RESULT, r, sizeof *r);
  bool clean = r->outcome == HD_OUT_CLEAN && r->status == p->expect_status;
  if (hd_isolation == HD_ISOLATION_SNAPSHOT) HD_CALL_MODULES(restore);
  __atomic_fetch_add(&hd_shm->heartbeat, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&hd_shm->executions, hd_shm->executions + 1, __ATOMIC_RELAXED);
  return again ? AGAIN : clean || !(p->flags & HD_PLAN_STOP) ? GO_ON : STOP;
}

// Called by pthread_create when every host is in use. Ends the execution without a result; the
// carrier makes more hosts and runs it again. A process for a single execution raises shm.hosts
// instead, and the controller launches another process.
_Noreturn void hd_more_hosts(void) {
  if (hd_nhosts == HD_MAX_THREADS - 1) hd_unsupported(hd_text("more than %u threads at one time", HD_MAX_THREADS));
  if (hd_isolation == HD_ISOLATION_PROCESS) {
    hd_shm->hosts = hd_nhosts * 2;
    hd_end(HD_OUT_UNSUPPORTED, HD_ISOLATION_PROCESS, hd.cur->pend.pc, 0, "more threads at a time than were made ready");
  }
  need_hosts = true;
  hd_to_carrier();
}

static void carrier(void) {
  hd_mode = HD_CARRIER;
  HD_CALL_MODULES(kernel_thread);
  if (hd_kernel_mask) hd_sys4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &hd_kernel_mask, 0, 8);
  hd_hosts_make(hd_shm->hosts ? hd_shm->hosts : 8);
  hd_modules_list();
  hd_mode = HD_CARRIER;
  hd_setup_make();
  HD_CALL_MODULES(save);
  hd_debug_begin();
  __atomic_store_n(&hd_shm->state, HD_STATE_READY, __ATOMIC_SEQ_CST);
  hd_sys4(SYS_futex, &hd_shm->state, 1 /* FUTEX_WAKE */, 1, 0);
  const struct hd_plan *p;
  while ((p = hd_plan_next())) {
    __atomic_store_n(&hd_shm->current_plan, (uint32_t)p->id, __ATOMIC_RELAXED);
    if (p->set_points)
      hd_points_set((const uint64_t *)((const struct hd_step *)(p + 1) + p->nsteps) + p->nthreads, p->npoints), hd_setup_points(p);
    for (uint64_t i = 0; i < (p->repeat ? p->repeat : 1); i++) {
      if (__atomic_load_n(&hd_shm->stop, __ATOMIC_RELAXED)) break;
      uint32_t then = hd_isolation == HD_ISOLATION_FORK ? hd_setup_run(execute, p, i) : execute(p, i);
      if (hd_isolation == HD_ISOLATION_PROCESS) hd_sys(SYS_exit_group, 0, 0, 0);
      if (then == AGAIN) {
        hd_setup_forget();
        hd_mode = HD_EARLY; // pthread_create must forward to libc
        hd_hosts_make(hd_nhosts * 2);
        hd_mode = HD_CARRIER;
        HD_CALL_MODULES(save);
        i--;
      } else if (then == STOP) {
        break;
      }
    }
    uint64_t id = p->id;
    hd_plan_release();
    hd_out(HD_REC_PLAN_END, &id, sizeof id);
  }
  __atomic_store_n(&hd_shm->state, HD_STATE_ENDED, __ATOMIC_SEQ_CST);
  for (;;) hd_sys(SYS_exit_group, 0, 0, 0);
}

// Runs in place of main and never returns. The carrier has its own stack, because the caller's
// stack is restored after each execution.
void hd_carrier(int argc, char **argv, char **envp, void (*entry)(void)) {
  thread_entry = entry;
  hd_argc = argc;
  hd_argv = argv;
  hd_envp = envp;
  hd_main_sp = ((uintptr_t)__builtin_frame_address(0) - 256) & ~63ull;
  hd_main_fs = hd_fs();
  hd_set_guard(hd_main_fs, HD_GUARD); // the callers never return
  hd_threads = hd_map(sizeof *hd_threads * HD_MAX_THREADS, "threads");
  enum { STACK = 1 << 20 };
  char *stack = hd_map(STACK, "the carrier's stack");
  hd_fiber_jump(hd_fiber_frame((uintptr_t)stack + STACK, carrier, false));
}
