// outcome.c: ends an execution and reports its outcome.
#define _GNU_SOURCE
#include <stdarg.h>
#include <unwind.h>
#include "core/cancellation.h"
#include "core/carrier.h"
#include "core/event.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/progress.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "core/side_stack.h"
#include "core/stacks.h"
#include "core/threads.h"

// ---- the failing thread's stack
struct walk { uint64_t pc[128]; uint32_t n; bool from_found; uint64_t from; };

static _Unwind_Reason_Code frame(struct _Unwind_Context *c, void *arg) {
  struct walk *w = arg;
  int before = 0;
  uint64_t pc = _Unwind_GetIPInfo(c, &before);
  if (!pc || w->n == sizeof w->pc / sizeof *w->pc) return _URC_END_OF_STACK;
  // Frames are sent as return addresses, like the sites of events.
  if (before) pc++;
  if (w->from && !w->from_found) {
    if (pc != w->from && pc != w->from + 1) return _URC_NO_REASON;
    w->from_found = true;
  }
  if (!hd_in_runtime(pc)) w->pc[w->n++] = pc;
  return _URC_NO_REASON;
}

bool hd_unwinding;

// Sends the stack from the frame of from outwards. If no frame on the stack matches (main has
// returned), sends from alone; in a fault, the stack is damaged, and all its frames are sent.
static void send_backtrace(uint64_t from, bool fault) {
  static struct walk w;
  w.n = 0;
  w.from = from;
  w.from_found = false;
  if (!hd_unwinding) { // set: the unwinder itself has faulted
    hd_unwinding = true;
    _Unwind_Backtrace(frame, &w);
    if (!w.n && from && fault) {
      w.from = 0;
      _Unwind_Backtrace(frame, &w);
    }
  }
  hd_unwinding = false;
  struct hd_thread *t = hd.cur;
  if (!w.n && t) { // no unwind tables: use the shadow call stack
    if (from && hd_known(from)) w.pc[w.n++] = from;
    for (uint32_t i = t->calls.depth < HD_SHADOW_MAX ? t->calls.depth : HD_SHADOW_MAX; i-- && w.n < 128;)
      if (!hd_in_runtime(t->calls.frames[i].pc)) w.pc[w.n++] = t->calls.frames[i].pc;
  }
  // Of a stack that is too deep, the outermost frames say how it came to be.
  enum { ALL = sizeof w.pc / sizeof *w.pc, OUTER = 16 };
  if (t && w.n == ALL && t->calls.depth > ALL)
    for (uint32_t i = 0, k = OUTER; k-- > 0;)
      if (!hd_in_runtime(t->calls.frames[k].pc)) w.pc[ALL - OUTER + i++] = t->calls.frames[k].pc, w.n = ALL - OUTER + i;
  for (uint32_t i = 0; i < w.n; i++) w.pc[i] = hd_name(w.pc[i]);
  hd_out(HD_REC_BACKTRACE, w.pc, w.n * 8);
}

struct calls { uint64_t *pc; uint32_t n, room; };

static _Unwind_Reason_Code called(struct _Unwind_Context *c, void *arg) {
  struct calls *calls = arg;
  int before = 0;
  uint64_t at = _Unwind_GetIPInfo(c, &before);
  if (!at || calls->n == calls->room) return _URC_END_OF_STACK;
  if (!hd_in_runtime(at) && (calls->n || !hd_in_system(at))) calls->pc[calls->n++] = at + (before ? 1 : 0);
  return _URC_NO_REASON;
}

uint32_t hd_program_calls(uint64_t *pc, uint32_t room) {
  struct calls calls = { pc, 0, room };
  enum hd_mode mode = hd_mode;
  hd_mode = HD_CARRIER; // the unwinder calls libc
  hd_unwinding = true;
  _Unwind_Backtrace(called, &calls);
  hd_unwinding = false;
  hd_mode = mode;
  return calls.n;
}

uint64_t hd_program_call(void) {
  uint64_t pc;
  return hd_program_calls(&pc, 1) ? pc : 0;
}

static bool peek(void *to, uint64_t addr, uint64_t n) {
  struct { void *base; uint64_t len; } local = { to, n }, remote = { (void *)addr, n };
  return hd_sys6(SYS_process_vm_readv, hd_sys(SYS_getpid, 0, 0, 0), (long)&local, 1, (long)&remote, 1, 0) == (long)n;
}

static _Unwind_Reason_Code count(struct _Unwind_Context *c, void *n) {
  enum { MOST = 1 << 20 };
  (void)c;
  return ++*(uint32_t *)n == MOST ? _URC_END_OF_STACK : _URC_NO_REASON;
}

uint32_t hd_stack_depth(void) {
  uint32_t n = 0;
  enum hd_mode mode = hd_mode;
  hd_mode = HD_CARRIER; // the unwinder calls libc
  _Unwind_Backtrace(count, &n);
  hd_mode = mode;
  return n;
}

void hd_signal_event(int sig, uint64_t pc, uint64_t addr) {
  struct hd_thread *t = hd.cur;
  hd_pend(t, HD_OP_SIGNAL, pc, addr);
  for (uint32_t w = 0; w < hd.nwords; w++) hd.decision.w[w] = hd.enabled.w[w];
  if (hd.record) hd_event(t, (uint64_t)sig, 0, HD_EV_NODECISION);
}

void hd_unwinder_warm(void) {
  static struct walk w;
  _Unwind_Backtrace(frame, &w);
}

// ---- the waits-for graph
//
// The objects belong to the program and may be unmapped, so the runtime reads them through the kernel.
uint64_t hd_word_at(uint64_t addr, uint32_t size) {
  uint64_t v = 0;
  if (size > sizeof v) size = sizeof v;
  return peek(&v, addr, size) ? v : 0;
}
uint32_t hd_owner_at(uint64_t addr) {
  uint32_t owner = (uint32_t)hd_word_at(addr, 4);
  return owner <= hd.nborn ? owner : 0; // larger: the program has overwritten it
}

static uint32_t holder(const struct hd_thread *u, uint64_t *object) {
  const struct hd_operation *o = hd_operations[u->pend.op];
  *object = u->pend.obj;
  return o->holder ? o->holder(u, object) : 0;
}

// A signal handler or a cancellation might end one of the waits: then it counts only once no thread can go on.
void hd_deadlock_look(struct hd_thread *t) {
  if (hd.handlers) return;
  const struct hd_thread *u = t;
  for (uint32_t left = hd.nlive; left--;) {
    uint64_t object;
    if (!u || u->fires || !u->wait.on || hd_has(&hd.enabled, u->index) || (u->wait.timed && !u->wait.timed_out) || u->cancel & HD_CANCEL_ASYNC) return;
    uint32_t number = holder(u, &object);
    if (!number) return;
    u = hd_thread_numbered(number - 1);
    if (u == t) hd_end(HD_OUT_DEADLOCK, 0, t->pend.pc, t->pend.obj, hd_waits_described());
  }
}

static struct hd_waiter in_child; // the waiter in a child process, if that is why the execution ends; process is 0 otherwise
static uint64_t child_calls[64];
static uint32_t nchild_calls;

// Returns where a thread is that has not ended, without its stack.
static struct hd_waiter waiter(const struct hd_thread *u, bool unfinished) {
  struct hd_waiter w = { .thread = u->number, .op = u->pend.op, .pc = hd_name(u->pend.pc), .object = hd_name(u->pend.obj) };
  if (u->pend.flags & HD_EV_FORCED && unfinished) w.op = HD_OP_NONE; // the yield is not the program's
  if (hd_has(&hd.enabled, u->index)) w.flags |= HD_WAIT_READY;
  if (u->wait.timed) w.flags |= HD_WAIT_TIMED;
  uint64_t object = u->pend.obj;
  w.holder = w.flags & HD_WAIT_READY ? 0 : holder(u, &object);
  if (w.holder) w.object = hd_name(object);
  return w;
}

static void report_waiters(void) {
  if (in_child.process) { // the program's own threads have nothing to do with it
    hd_out(HD_REC_WAITER, &in_child, sizeof in_child);
    return;
  }
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    struct hd_thread *u = &hd_threads[i];
    if (u->ended || u->fires) continue;
    struct hd_waiter w = waiter(u, hd.result.outcome == HD_OUT_UNFINISHED);
    w.stack = hd_stack_number(u, u->pend.op, u->pend.pc);
    hd_out(HD_REC_WAITER, &w, sizeof w);
  }
}

void hd_tell_where(uint64_t pc) {
  uint32_t asked = HD_CUT_WHERE;
  if (!__atomic_compare_exchange_n(&hd_shm->cut, &asked, HD_CUT_NONE, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  static struct { uint32_t zero, n; struct hd_waiter threads[HD_WHERE_MOST]; } r;
  r.n = 0;
  for (uint32_t i = 0; i < hd.nthreads && r.n < HD_WHERE_MOST; i++) {
    const struct hd_thread *u = &hd_threads[i];
    if (u->ended || u->fires) continue;
    struct hd_waiter w = waiter(u, true);
    if (w.flags & HD_WAIT_READY) hd_spins_at(u, &w);
    if (u == hd.cur && pc) w = (struct hd_waiter){ .thread = u->number, .op = HD_OP_NONE, .flags = HD_WAIT_READY, .pc = hd_name(pc) };
    r.threads[r.n++] = w;
  }
  hd_out(HD_REC_WHERE, &r, (uint32_t)(2 * sizeof(uint32_t) + r.n * sizeof r.threads[0]));
}

// Describes the threads that wait for something other than an object; NULL if all wait for objects.
static char text[1024];
static int length;
static void say(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  length += hd_format(text + length, (int)sizeof text - length, fmt, ap);
  va_end(ap);
}

const char *hd_waits_described(void) {
  length = 0;
  for (uint32_t i = 0; i < hd.nthreads; i++) {
    const struct hd_thread *u = &hd_threads[i];
    const struct hd_operation *o = hd_operations[u->pend.op];
    if (u->ended || !u->wait.on || !o->describe) continue;
    if (length) say("; ");
    if (length > (int)sizeof text - 80) { say("and others"); break; }
    o->describe(u, say);
  }
  return length ? text : NULL;
}

// ---- the end
bool hd_cut_asked;

void hd_cut(uint64_t pc, uint64_t object) {
  static const char *const why[] = { [HD_CUT_TIME] = "time", [HD_CUT_USER] = "interrupted", [HD_CUT_WATCHDOG] = "watchdog" };
  uint32_t cut = __atomic_load_n(&hd_shm->cut, __ATOMIC_ACQUIRE);
  hd_end(HD_OUT_UNFINISHED, 0, pc, object, cut < sizeof why / sizeof *why && why[cut] ? why[cut] : "time");
}

void hd_cut_access(uint64_t pc) {
  hd_pend(hd.cur, HD_OP_NONE, pc, 0);
  hd_cut(pc, 0);
}

static int said; // length of the message without what threads wait for
static void say_next(const char *fmt, ...) {
  va_list ap;
  if (length > said) say("; ");
  va_start(ap, fmt);
  length += hd_format(text + length, (int)sizeof text - length, fmt, ap);
  va_end(ap);
}

// Makes a message of why, with what threads wait for that other processes may still do.
static const char *beside_others(const char *why) {
  length = 0;
  say("%s: ", why);
  said = length;
  bool any = false;
  HD_EACH_MODULE(m) any |= m->outside && m->outside(NULL, say_next);
  return any ? text : why;
}

void hd_outside_ends(uint64_t pc, uint64_t object) { hd_end(HD_OUT_UNFINISHED, 0, pc, object, beside_others("other process")); }

void hd_unfinished(uint64_t pc, uint64_t object) {
  if (hd_cut_asked) hd_cut(pc, object);
  if (hd.plan.flags & HD_PLAN_CUT) {
    hd.result.notes |= HD_NOTE_CUT;
    hd_end(HD_OUT_CLEAN, hd.plan.expect_status, pc, object, NULL);
  }
  hd_end(HD_OUT_UNFINISHED, 0, pc, object, beside_others("step budget"));
}

void hd_foretell(uint32_t outcome, int32_t status, uint64_t pc, uint64_t object) {
  struct hd_result *r = &hd.result;
  r->outcome = outcome;
  r->status = status;
  r->pc = hd_name(pc);
  r->object = hd_name(object);
  r->thread = hd.cur ? hd.cur->number : 0;
}

void hd_end(uint32_t outcome, int32_t status, uint64_t pc, uint64_t object, const char *msg) {
  if (outcome == HD_OUT_CLEAN && !(hd.result.notes & HD_NOTE_CUT)) HD_CALL_MODULES(leaving);
  if (hd.cur) hd.cur->stack.side_top = hd_side_called(); // for its stack
  hd_side_top = 0; // keeps the frames there, for the backtrace
  if (outcome == HD_OUT_ASSERT || outcome == HD_OUT_SIGNAL || outcome == HD_OUT_MISUSE || outcome == HD_OUT_EXCEPTION) hd_commit_failed();
  if (outcome != HD_OUT_CLEAN) hd_debug_failure();
  hd_mode = HD_CARRIER; // from here on nothing is the program's: hd_unwinding calls libc
  hd_foretell(outcome, status, pc, object);
  // On a terminal, libc would have written the lines printed so far. The captured output is a
  // file, so libc may still buffer them.
  if (hd.plan.flags & HD_PLAN_OUTPUT && outcome != HD_OUT_CLEAN && outcome != HD_OUT_SIGNAL && outcome != HD_OUT_UNSUPPORTED && !hd_cut_asked)
    HD_CALL_MODULES(failing);
  if (outcome == HD_OUT_CLEAN && status != hd.plan.expect_status) send_backtrace(pc, false); // a failure, if another status is expected
  if (outcome != HD_OUT_CLEAN) { // sent for every plan: a finding's identity must not depend on the plan's flags
    if (hd.record) hd_event_flush();
    if (msg) hd_out(HD_REC_MESSAGE, msg, (uint32_t)hd_strlen(msg) + 1);
    if (in_child.process) hd_out(HD_REC_BACKTRACE, child_calls, nchild_calls * 8);
    else if (outcome != HD_OUT_DIVERGED) send_backtrace(outcome == HD_OUT_SIGNAL ? pc : 0, true);
  }
  // An exhaustive search must know what the threads that a clean end cuts off would have done next.
  if (outcome != HD_OUT_CLEAN || hd.record) report_waiters();
  hd_cut_asked = false;
  in_child.process = 0;
  hd_to_carrier();
}

void hd_end_child(uint32_t process, uint32_t thread, uint16_t op, uint32_t holder, uint64_t pc, uint64_t object, const uint64_t *calls, uint32_t ncalls) {
  in_child = (struct hd_waiter){ .thread = thread, .op = op, .pc = hd_name(pc), .object = hd_name(object), .holder = holder, .process = process };
  nchild_calls = ncalls < 64 ? ncalls : 64;
  for (uint32_t i = 0; i < nchild_calls; i++) child_calls[i] = hd_name(calls[i]);
  hd_end(HD_OUT_DEADLOCK, 0, pc, object, NULL);
}

void hd_misuse(uint64_t pc, uint64_t object, const char *msg) { hd_end(HD_OUT_MISUSE, 0, pc, object, msg); }

void hd_unsupported(const char *what) {
  hd_end(HD_OUT_UNSUPPORTED, 0, hd_programs_pc(hd.cur, hd.cur->pend.pc), 0, what);
}

void hd_require_isolation(uint32_t isolation, const char *what) {
  if (hd_isolation_granted < isolation) hd_end(HD_OUT_UNSUPPORTED, (int32_t)isolation, hd.cur->pend.pc, 0, what);
}
