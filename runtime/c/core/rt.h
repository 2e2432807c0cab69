// rt.h: what the runtime's files share. One kernel thread, the carrier, runs all of the
// program's threads as fibers, so nothing here needs a lock: while a program runs under
// control there is exactly one thread of execution. State that must survive putting the
// program's memory back lives in the runtime's own .bss, which the snapshot leaves out.
#ifndef HD_RT_H
#define HD_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "heddle_abi.h"
#include "core/sys.h"

#define HD_EXPORT __attribute__((visibility("default")))
#define HD_COLD __attribute__((cold, noinline))
#define HD_RA ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define HD_LIKELY(x) __builtin_expect(!!(x), 1)
#define HD_UNLIKELY(x) __builtin_expect(!!(x), 0)
// Code that touches the program's memory through the program's pointers. A fault at an
// instruction in this section is the program's fault, everywhere else in the runtime it
// is the runtime's (outcome.c).
// Not to be inlined, nor split, which would move the access to the caller.
#ifdef __clang__
#define HD_PROGACCESS __attribute__((section("hd_progaccess"), noinline))
#else
#define HD_PROGACCESS __attribute__((section("hd_progaccess"), noipa))
#endif

// ---- mode (attach.c)
enum hd_mode {
  HD_UNKNOWN,  // nothing has been asked yet
  HD_PASSIVE,  // not started by heddle: every hook forwards to libc
  HD_EARLY,    // started by heddle, main not reached: own heap, the rest forwards
  HD_ACTIVE,   // an execution is running
  HD_CARRIER,  // between executions, on the carrier's stack
  HD_CHILD,    // in a child that the program forked: own heap, the rest forwards
};
extern enum hd_mode hd_mode;
void hd_attach(void); // decides PASSIVE or EARLY; safe from any hook at any time
static inline bool hd_active(void) { return HD_LIKELY(hd_mode == HD_ACTIVE); }
// True where the program's heap must be ours: from the first call on.
static inline bool hd_controlled(void) {
  if (HD_UNLIKELY(hd_mode == HD_UNKNOWN)) hd_attach();
  return hd_mode != HD_PASSIVE;
}

// ---- threads
struct hd_donor;

// What a thread is about to do. It is set when the thread reaches a scheduling point
// and describes the event committed once the thread has been chosen.
struct hd_pending {
  uint16_t op;
  uint16_t flags;  // HD_EV_ATOMIC and memory order
  uint32_t size;
  uint64_t pc;
  uint64_t obj;
  uint64_t aux;
};

enum { HD_TID_BASE = 1000 }; // thread identifiers the program sees begin there
static inline int hd_pid(void) { return HD_TID_BASE; } // the process's is its main thread's
enum { HD_SEEN_SETS = 4, HD_SEEN_WAYS = 4, HD_SHADOW_MAX = 1024 };

struct hd_frame { uint64_t pc; uintptr_t sp; };

// What a thread was about to do when a signal handler began to run on its stack. It lies
// in the frame of the code that runs the handler. A condition or barrier wait stays one
// that others can wake.
struct hd_suspended {
  struct hd_suspended *outer;
  int sig;
  struct hd_pending pend;
  uint64_t needs, needs2, deadline, arrival, touched_low;
  uint32_t depth;
  bool granted, timed, timed_out, due, interrupted, cancelable;
  uint8_t intr, owed;
  struct hd_io_wait *io;
};

// Why a signal that is due comes before the pending operation.
enum hd_owed { HD_OWED_NOT, HD_OWED_ARRIVED /* by now */, HD_OWED_BLOCKED /* it came while the thread was */ };

// Whether a signal handler makes the pending call fail with EINTR.
enum hd_intr { HD_INTR_NEVER, HD_INTR_RESTART /* unless SA_RESTART */, HD_INTR_ALWAYS };

struct hd_thread {
  // fiber.c
  void *sp;                // saved stack pointer while not running
  uintptr_t fs;            // FS base, which is also its pthread_t
  struct hd_donor *donor;  // NULL for main
  // identity (threads/thread.c)
  uint32_t index;          // its slot: its place in hd_threads and in sets, used again (slots.c)
  uint32_t number;         // in order of creation: what everything outside of the scheduler calls it by
  uint32_t parent, nth, children; // parent by its number
  uint32_t referred;       // pending operations of others that hold a pointer to it
  uint32_t planned;        // its place in the plan's table of names + 1, 0: it is not there
  uint64_t name;
  void *(*entry)(void *);
  void *arg;
  void *ret;
  bool ended, detached, joined, exiting;
  // the pending operation
  struct hd_pending pend;
  uint64_t needs, needs2;  // objects whose state decides whether pend is ready; 0: always ready
  bool granted;            // condition, barrier, futex: somebody let it go on
  bool timed, timed_out;   // it waits with a deadline; the deadline has been used
  bool due;                // condition wait: the deadline has passed, COND_TIMEOUT can happen
  uint8_t intr;            // enum hd_intr, while an interruptible call is pending
  bool interrupted;        // a handler has run in it: it is to fail with EINTR
  uint8_t owed;            // enum hd_owed: a handler runs before its call goes on (signals/delivery.c)
  uint16_t detour;         // once chosen: what it does before its pending operation, HD_OP_*, or 0
  uint64_t deadline;       // virtual ns
  uint64_t arrival;        // when it enqueued, for first-in-first-out waking
  struct hd_io_wait *io;   // what an operation on a descriptor waits for (io/fd.h)
  uint32_t nfiles, nrandom; // channels it made, random words it drew
  // policies
  int64_t prio;
  uint32_t ran;            // hd.points when it last did an operation, or became enabled
  // progress (progress.c)
  struct { uint64_t key, value; } seen[HD_SEEN_SETS][HD_SEEN_WAYS];
  uint32_t seen_next;
  uint32_t stale;          // observations in a row that told the thread nothing new
  uint32_t idle, futile;   // of those since hd.progress_at was idle_at: see progress.c
  uint64_t idle_at;
  uint8_t wrote;           // HD_WROTE_*: it has written to memory
  uint32_t quiet;          // accesses since its last scheduling point
  uint32_t samples;        // forced yields so far
  // looking at clocks and sleeping in loops (time/clocks.c, virtual_time.c)
  uint32_t looks, looks_at; // looks at a clock without a scheduling point between them, and hd.points then
  uint32_t naps;           // waits with a deadline in a row, at one place and with no progress between them
  uint64_t nap_pc, nap_began, nap_progress;
  // signal state that belongs to a thread, not to the carrier
  uint64_t sigmask, sigpending;
  // cancellation (threads/cancellation.c)
  uint8_t cancel;          // HD_CANCEL_*
  bool cancelable;         // the pending operation is a cancellation point
  uint64_t robust;         // the robust mutex it took last of those it holds (sync/mutex.c)
  // what programs may set for a thread and ask for again (threads/attributes.c)
  uintptr_t stack_lo, stack_hi; // the stack it runs on, where that is not its donor's
  char label[16];
  int sched_policy, sched_priority;
  uint64_t cpus[16];       // all zero: as at the start
  uint64_t back_mask;      // while masked: the mask that its call returns with
  bool masked;             // it waits with a mask for this call only (sigsuspend, ppoll and kin)
  uintptr_t alt_lo;        // sigaltstack
  uint64_t alt_size;       // 0: none
  struct hd_suspended *suspended; // handlers that run, innermost first
  struct hd_suspended *granting;  // hd_grant is for this wait
  uint64_t fault_pc;       // of the last fault its own handler was called for
  uint32_t faults, fault_at; // how many there were of it in a row; hd.points at the last
  struct hd_timer *timer;  // not a thread but a timer (timer.c)
  // C++ thread_local destructors registered by this thread, newest first (threads/thread.c)
  struct hd_tls_dtor *dtors;
  // shadow call stack from __tsan_func_entry
  uint64_t left_pc;        // where its outermost instrumented function returned
  uint32_t depth;
  uint64_t touched_low;    // lowest stack address the runtime has seen it use
  struct hd_frame shadow[HD_SHADOW_MAX];
};

enum { HD_WORDS = HD_MAX_THREADS / 64 };

struct hd_set { uint64_t w[HD_WORDS]; };
static inline bool hd_has(const struct hd_set *s, uint32_t i) { return s->w[i >> 6] >> (i & 63) & 1; }
static inline void hd_add(struct hd_set *s, uint32_t i) { s->w[i >> 6] |= 1ull << (i & 63); }
static inline void hd_del(struct hd_set *s, uint32_t i) { s->w[i >> 6] &= ~(1ull << (i & 63)); }

// ---- one execution
struct hd_run {
  // plan (carrier.c)
  struct hd_plan plan;
  const struct hd_step *steps;
  const uint64_t *names;    // plan index -> thread name
  uint64_t rng;
  bool record;              // plan wants events
  bool accesses;            // plan wants plain accesses too, and has not had as many as it wants
  uint64_t nprofiled;       // events that are not points: sent, and skipped
  // scheduling (sched.c)
  struct hd_thread *cur;    // who runs
  uint32_t nthreads, nwords, nlive; // slots that have been used, words of sets that takes, threads that have not ended
  uint32_t ndonors;         // donors before that are used
  uint32_t nborn;           // threads that were created: the number of the next
  uint32_t unjoined;        // created threads whose end main's side has not seen
  uint32_t npending;        // signals that are pending
  uint32_t nsuspended;      // handlers that run
  uint32_t ntimers;         // timers that were made
  bool handlers;            // the program has installed a signal handler
  struct hd_set enabled;    // pending operation ready, or running
  struct hd_set needers;    // threads with needs != 0
  struct hd_set timers;     // threads with timed && !timed_out
  struct hd_set decision;   // enabled when the current event was chosen
  uint32_t last;            // slot of the last event's thread, ~0 none
  uint32_t since;           // points when it began to run on end
  uint32_t points, switches, preemptions, deviations;
  uint64_t vtime;
  uint64_t next_deadline;   // no timed wait ends before that
  uint64_t arrivals;
  uint64_t progress_at;     // points when something last changed for somebody
  uint64_t slack;           // virtual ns that threads may still overtake others by (virtual_time.c)
  uint64_t long_since;      // hd.vtime when the execution became a long one, 0: it is none
  uint64_t drift, drift_at; // virtual ns of the next step of time while nothing changes; hd.progress_at then
  bool process_exiting;
  int exit_status;
  uint64_t exit_pc;        // of the call of exit, or main's return; 0 if libc called it itself
  // policy (policy.c)
  int64_t prio_low;
  uint32_t change[HD_CHANGE_POINTS]; // PCT change points, 0: used
  uint32_t nchange;
  // script (script.c)
  uint32_t pos;             // next step
  uint32_t dev_run;         // operations done off the script in this interval
  uint32_t *plan_to_slot;   // plan index -> slot + 1; the thread there may be another one by now
  int32_t wake_choice;      // slot of the thread the script wants woken, -1: none said
  bool open;                // cur was chosen and its operation is not committed yet
  // coverage (signature.c)
  uint64_t coverage;
  // outcome (outcome.c)
  struct hd_result result;
};
extern struct hd_run hd;
extern struct hd_thread *hd_threads; // HD_MAX_THREADS of them by slot, mapped, not restored

// ---- rings.c: shared memory and rings
extern struct hd_shm *hd_shm;
extern long hd_controller; // its process id: when somebody else is the parent, it has died
void *hd_out_begin(uint32_t type, uint32_t payload); // room for a record; waits if the ring is full
void hd_out_end(void);                               // publish what was begun
void hd_out(uint32_t type, const void *data, uint32_t n);
void hd_out2(uint32_t type, const void *a, uint32_t na, const void *b, uint32_t nb);
const struct hd_plan *hd_plan_next(void);            // waits; NULL: asked to stop
void hd_plan_release(void);                          // done with the record
HD_COLD _Noreturn void hd_refuse(const char *fmt, ...); // state REFUSED, process ends
HD_COLD _Noreturn void hd_fatal(const char *fmt, ...);  // state FATAL, process ends
int hd_format(char *buf, int size, const char *fmt, __builtin_va_list ap); // %s %d %u %x %lx %c

// ---- own_memory.c
void *hd_map(uint64_t bytes, const char *what); // zeroed, private, never restored; fatal on failure

// ---- arch/x86_64/fiber.S, fiber.c
void hd_fiber_switch(void **save_sp, void *load_sp);
_Noreturn void hd_fiber_jump(void *load_sp);
extern char hd_fiber_entry[];
void hd_set_fs(uintptr_t fs);
struct hd_donor {
  uintptr_t fs;       // its FS base
  uintptr_t lo, hi;   // its stack
  uintptr_t sp;       // where a fiber may start
  uint32_t state;     // 0 being made, 1 parked
  uint32_t park;      // futex; kernel_threads.c: 1 when it is this one's turn
  void *base;         // kernel_threads.c: where its own thread stands beneath the program's frames
  struct hd_thread *next; // kernel_threads.c: whose turn it is once this thread is back there
  bool used;          // ran a fiber in this execution
  struct hd_thread *owner; // thread that has it now, NULL: free
};
extern struct hd_donor *hd_donors;
extern uint32_t hd_ndonors;
void hd_donors_make(uint32_t n);        // real threads, parked; before the snapshot
struct hd_donor *hd_donor_get(void);    // one that has not been used in this execution, NULL if none exists
void hd_fiber_start(struct hd_thread *t, uintptr_t sp); // t will begin in hd_thread_main
_Noreturn void hd_to_carrier(void);     // leave the program, go on in the carrier's loop
uint64_t hd_default_stack(void);

// ---- kernel_threads.c: each thread on a kernel thread of its own, of which one runs
extern bool hd_threads_real;
void hd_hand_over(struct hd_thread *from, struct hd_thread *to);
_Noreturn void hd_hand_over_leave(struct hd_thread *from, struct hd_thread *to);
_Noreturn void hd_seat_wait(struct hd_donor *d); // a donor's own thread, for good
void hd_debug_begin(void);                    // debugger.c; an execution is about to begin
void hd_debug_event(const struct hd_thread *t, uint32_t flags);
void hd_debug_failure(void);
static inline void hd_switch(struct hd_thread *from, struct hd_thread *to) {
  if (HD_UNLIKELY(hd_threads_real)) { hd_hand_over(from, to); return; }
  hd_set_fs(to->fs);
  hd_fiber_switch(&from->sp, to->sp);
}
static inline _Noreturn void hd_switch_leave(struct hd_thread *from, struct hd_thread *to) {
  if (HD_UNLIKELY(hd_threads_real)) hd_hand_over_leave(from, to);
  hd_set_fs(to->fs);
  hd_fiber_jump(to->sp);
}

// ---- memory/snapshot.c
void hd_snapshot_take(uintptr_t main_sp);
uint32_t hd_maps_each(void (*f)(uintptr_t lo, uintptr_t hi, const char *perms, const char *rest)); // number of mappings
void hd_snapshot_restore(void);
void hd_snapshot_restore_donor(struct hd_donor *d);
extern uint32_t hd_snapshot_pages;

// ---- memory/malloc.c
void *hd_alloc(uint64_t size, uint64_t align, uint64_t pc); // as malloc, called at pc
void hd_release(void *p, uint64_t pc);                     // as free

// ---- memory/heap.c
void *hd_heap_alloc(uint64_t size, uint64_t align, uint64_t pc);
void hd_heap_free(void *p, uint64_t pc);
uint64_t hd_heap_size(void *p);         // usable bytes
void hd_heap_save(void);
void hd_heap_restore(void);
bool hd_heap_owns(uintptr_t p);
HD_COLD void hd_heap_bad_access(uintptr_t a, uint32_t size, bool write, uint64_t pc);
#define HD_HEAP_BASE 0x200000000000ull
// Where the stacks of threads are, one behind the other. The kernel's choice would depend on
// what the runtime has mapped, which is not the same under each isolation, and programs store
// addresses of their stacks.
#define HD_STACKS_BASE 0x210000000000ull
extern uintptr_t hd_heap_base;
extern uint64_t hd_heap_used; // bytes from the base that were ever handed out
extern uint8_t *hd_heap_shadow; // a byte for each 16 bytes: HD_SH_*
enum { HD_SH_NONE = 0, HD_SH_LIVE = 1, HD_SH_FREED = 2, HD_SH_HEADER = 3 };

// ---- sched.c
void hd_point(struct hd_thread *t);     // pend is set; returns when t is chosen
void hd_forced_yield(struct hd_thread *t, uint64_t pc); // between two operations of its own
void hd_block_forever(struct hd_thread *t); // t will never be ready
void hd_commit(struct hd_thread *t, uint64_t value, int32_t result); // the chosen operation is done
static inline void hd_site(uint64_t pc) { if (hd_active()) hd.cur->pend.pc = pc; } // where what follows is reported
void hd_commit_failed(void);            // it failed: the choice must be in the trace all the same
// The chosen thread did op (at the place of its pending operation) and goes on waiting.
void hd_commit_aside(struct hd_thread *t, uint16_t op, uint64_t obj, uint64_t aux, uint64_t value, int32_t result, uint32_t flags);
// An event that was not a scheduling decision.
void hd_note(struct hd_thread *t, uint16_t op, uint64_t obj, uint64_t aux, uint64_t value);
void hd_update(uint64_t obj);           // obj changed: who is ready now?
void hd_update_all(void);               // signals changed: the same for everybody
_Noreturn void hd_thread_leave(void);   // the running thread has ended: go elsewhere
bool hd_time_passes(uint64_t until);    // to the next deadline; false: no deadline up to then
bool hd_op_ready(const struct hd_thread *u); // its pending operation
bool hd_ready(const struct hd_thread *u);    // that, or a detour: it can be chosen
static inline void hd_pend(struct hd_thread *t, uint16_t op, uint64_t pc, uint64_t obj) {
  t->pend.op = op; t->pend.flags = 0; t->pend.size = 0; t->pend.pc = pc; t->pend.obj = obj; t->pend.aux = 0;
}
void hd_need(struct hd_thread *t, uint64_t obj, uint64_t obj2);
void hd_need_nothing(struct hd_thread *t);
// u waits in op at obj to be let go on, also while it runs a handler; the next hd_grant
// for it is for that wait.
bool hd_waits(struct hd_thread *u, uint16_t op, uint64_t obj, uint64_t *arrival);
void hd_grant(struct hd_thread *u);     // u's wait is over; call hd_update for its object after

// ---- detour.c: what a chosen thread may do instead of its pending operation
bool hd_detour_possible(const struct hd_thread *t, uint16_t op); // now, or early
uint16_t hd_detour_needed(const struct hd_thread *t);            // its operation is not ready; 0: it is
void hd_detour(struct hd_thread *t);    // does t->detour
// The common case: an operation that is always ready.
static inline struct hd_thread *hd_op(uint16_t op, uint64_t pc, uint64_t obj) {
  struct hd_thread *t = hd.cur;
  hd_pend(t, op, pc, obj);
  hd_point(t);
  return t;
}

// ---- threads/cancellation.c
enum { HD_CANCEL_PENDING = 1, HD_CANCEL_DISABLED = 2, HD_CANCEL_ASYNC = 4, HD_CANCEL_LEAVING = 8 };
// Would the thread act on a cancellation now, if it came to a cancellation point?
static inline bool hd_cancel_due(const struct hd_thread *u) {
  return (u->cancel & (HD_CANCEL_PENDING | HD_CANCEL_DISABLED | HD_CANCEL_LEAVING)) == HD_CANCEL_PENDING;
}
bool hd_cancel_interrupts(const struct hd_thread *u); // does that make its pending operation ready?
bool hd_cancel_point(struct hd_thread *t);   // hd_point; true: it was cancelled, commit ECANCELED and act
_Noreturn void hd_cancel_act(struct hd_thread *t);
void hd_point_cancel(struct hd_thread *t);   // both, for operations that have nothing to undo
void hd_cancel_async(struct hd_thread *t);   // t was chosen

// ---- policy.c, script.c, progress.c, signature.c
void hd_policy_begin(void);
void hd_policy_thread(struct hd_thread *t);   // t was created
void hd_policy_arrive(struct hd_thread *t);   // t has a new pending operation
uint32_t hd_policy_choose(void);              // slot of one of hd.enabled, which is not empty; sets the thread's detour
void hd_policy_done(struct hd_thread *t);     // t's operation was committed
uint32_t hd_policy_waiter(uint64_t op, uint64_t obj, bool choice); // slot of the waiter to wake, ~0: none waits
void hd_script_begin(void);
void hd_script_thread(struct hd_thread *t);
int32_t hd_script_choose(void);               // slot of a thread, with its detour set, or -1: the policy decides
bool hd_spinning(const struct hd_thread *t);
bool hd_everyone_idle(void);                  // all enabled threads have only spun for a while
void hd_observe(struct hd_thread *t, uint64_t pc, uint64_t value); // a read of its pending operation's object told t this value
bool hd_tells_nothing(struct hd_thread *t, uint64_t pc, uint64_t value); // as before; remembers it
void hd_waste(struct hd_thread *t, uint64_t pc, uint32_t weight, bool futile); // t did something that achieved nothing
static inline void hd_progress(struct hd_thread *t) { t->stale = 0; hd.progress_at = hd.points; }
enum { HD_WROTE_SEEN = 1, HD_WROTE_NAP = 2, HD_WROTE = HD_WROTE_SEEN | HD_WROTE_NAP }; // since the last observation, the last nap

// ---- virtual_time.c: virtual time
enum { HD_LONG = 1 << 19 };                   // points after which an execution is a long one: half of the default budget
void hd_time_long(void);                      // at each point of a long one
void hd_time_expires(void);                   // it has passed somebody's deadline
bool hd_may_overtake(const struct hd_thread *u); // the slack is enough for u's time to come now
void hd_early(struct hd_thread *u);           // u's wait, sleep or timer ends before its time
void hd_overtaken(const struct hd_thread *u); // takes that from the slack; before hd_early
bool hd_sleepers_offer(void);                 // sleepers that may overtake become enabled for a moment
void hd_sleepers_withdraw(struct hd_thread *chosen);
bool hd_time_drifts(void);                    // nothing changes: time passes; true: somebody's time has come
uint64_t hd_nap_end(struct hd_thread *t, uint64_t pc, uint64_t deadline);
void hd_coverage_reset(void);
void hd_coverage(struct hd_thread *t);
uint64_t hd_random(void);
static inline uint64_t hd_mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ b) * 0x9e3779b97f4a7c15ull;
  x ^= x >> 32; x *= 0xd6e8feb86659fd93ull; x ^= x >> 32;
  return x;
}

// ---- event.c
void hd_event_begin(void);
void hd_locals_begin(void);
void hd_local(const struct hd_thread *t, uint64_t obj, uint64_t event);
uintptr_t hd_stack_hi(const struct hd_thread *t); // 0 for a timer
void hd_event(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags); // record pend
void hd_event_slot(const struct hd_thread *t); // it has its slot from now on
void hd_event_flush(void);
uint32_t hd_stack_number(struct hd_thread *t);
void hd_event_settle(void);                   // read back the value of the last write
void hd_event_forget(void);                   // or do not

// ---- outcome.c
void hd_outcome_install(void);                // signal handlers and their stack
void hd_signals_reset(void);                  // signals/signals.c
void hd_signals_gone(struct hd_thread *t);    // signals/signals.c: what was sent to t alone, or is to be, is for nobody

// ---- signals/signals.c, signals/delivery.c, signals/fault.c
void hd_signals_main(struct hd_thread *main); // what was set before main
bool hd_signal_ignored(int sig);              // by the program
bool hd_signal_handled(int sig);              // by a handler of its own
int hd_signal_due(const struct hd_thread *t); // a signal that can be delivered to it, or 0
bool hd_signal_for(const struct hd_thread *t); // one that nobody else could have
void hd_owe(struct hd_thread *t);             // signals/delivery.c: it waits: what is due comes first
bool hd_owes(const struct hd_thread *t);      // and has not come yet
void hd_signals_arrive(void);                 // the same for all: time enough has passed
bool hd_op_possible(const struct hd_thread *u); // enabled.c: its pending operation, but for that
void hd_kernel_exit(uint64_t pc);             // signals/delivery.c: the end of a call that went into the kernel
bool hd_signal_restarts(int sig);             // SA_RESTART
bool hd_interruptible(const struct hd_thread *t, int sig);
void hd_io_leave(struct hd_thread *t);        // io/blocking.c: a handler begins to run in its call
void hd_io_enter(struct hd_thread *t);        // io/blocking.c: the call begins again
bool hd_io_begun(const struct hd_thread *t);  // io/blocking.c: it is too late for a handler to come before the call
void hd_deliver_due(struct hd_thread *t, uint64_t pc); // before the present call returns
void hd_deliver_aside(struct hd_thread *t, uint16_t op); // SIGNAL_DELIVER or SIGNAL_INTERRUPT, before its pending operation
void hd_signal_abort(uint64_t pc);            // runs the program's handler of SIGABRT, if there is one
void hd_signal_kernel(int sig);               // the kernel sends it to the running thread: pending
bool hd_fault(int sig, void *info, void *context); // have the program's handler run; false: it cannot

// ---- time/timers.c
void hd_timers_reset(void);
void hd_timers_gone(const struct hd_thread *t); // t gets no signals of timers any more
void hd_timer_fire(struct hd_thread *u);      // it was chosen
bool hd_timer_before(uint64_t vtime);         // one is set to expire before that
#define HD_TIMERS 2ull                        // what a sleeper needs: no object has that address
_Noreturn void hd_end(uint32_t outcome, int32_t status, uint64_t pc, uint64_t object, const char *msg);
_Noreturn void hd_hang(uint64_t pc, uint64_t object); // step budget, or the watchdog's order
_Noreturn HD_COLD void hd_misuse(uint64_t pc, uint64_t object, const char *msg);
_Noreturn HD_COLD void hd_unsupported(const char *what);
HD_COLD void hd_needs(uint32_t isolation, const char *what); // ends the execution if it has less isolation than that
uint32_t hd_holder(const struct hd_thread *u);
void hd_report_waiters(void);
uint64_t hd_text_hash(const char *s);
const char *hd_text(const char *fmt, ...);       // process/exit.c: in a buffer of its own, for messages
const char *hd_base_name(const char *path);
uint64_t hd_word_at(uint64_t addr, uint32_t size); // outcome.c: of memory that may be gone; then 0

// ---- slots.c: places in hd_threads, and the donors that go with them
void hd_slots_begin(void);                    // an execution begins
// For a new thread that runs on a donor, or (donor NULL) runs no code. Ends the execution if there are no more.
struct hd_thread *hd_slot_get(struct hd_donor **donor);
void hd_slot_retire(struct hd_thread *t);     // it has ended, and the program cannot refer to it any more
struct hd_thread *hd_thread_numbered(uint32_t number); // NULL: never started, or its slot has been used again

// ---- threads/thread.c
struct hd_thread *hd_thread_new(struct hd_thread *parent, bool code); // code: it runs some
void hd_thread_report(const struct hd_thread *t); // while events are asked for
void hd_thread_tell(const struct hd_thread *t);   // if they are: those after this can name its stack, those before it must not
bool hd_profiles(void);
void hd_thread_main(void);                    // first code of every fiber
// A new thread of t's, at the head of entry(arg) and enabled. Ends the execution if there can be no more.
struct hd_thread *hd_spawn(struct hd_thread *t, void *(*entry)(void *), void *arg, bool detached);
struct hd_thread *hd_thread_of(uintptr_t pthread); // NULL: no such thread
bool hd_threads_controlled(void);

// threads/before_main.c: threads before main
bool hd_before_main(void);
int hd_early_create(uintptr_t *id, const void *attr, void *(*entry)(void *), void *arg, uint64_t pc);
int hd_early_detach(uintptr_t id);
_Noreturn void hd_early_join(void);
void hd_early_begin(void);
extern struct hd_donor *hd_early_donor; // to be used for main's next thread
void *hd_thread_wishes(const void *attr, size_t *size, bool *detached); // of attributes or NULL; returns the stack they name, or NULL
int hd_thread_create(uintptr_t *id, const void *attr, void *(*entry)(void *), void *arg, uint64_t pc);
struct hd_deadline;
int hd_thread_join(uintptr_t id, void **ret, uint64_t pc, const struct hd_deadline *until, bool try);
int hd_thread_detach(uintptr_t id, uint64_t pc);
_Noreturn void hd_thread_exit(void *ret, uint64_t pc);
void hd_run_tls_dtors(struct hd_thread *t);   // C++ thread_local
void hd_keys_save(void);
void hd_keys_restore(void);

// ---- threads/attributes.c
void hd_thread_attributes(struct hd_thread *u, const struct hd_thread *parent, const void *attr);

// ---- process/exit.c
_Noreturn void hd_exit(int status, uint64_t pc); // exit(), called at pc
_Noreturn void hd_exit_chosen(struct hd_thread *t, int status);

// ---- forkserver.c
extern uint32_t hd_isolation; // enum hd_isolation, from before the first mapping of the runtime's own
// Runs f in a child process and returns what f did there. Whatever f changes stays there.
uint32_t hd_fork_run(uint32_t (*f)(const struct hd_plan *p, uint64_t index), const struct hd_plan *p, uint64_t index);
bool hd_fork_signal(int sig);                 // pass it on to the child that runs, if there is one

// ---- process/children.c: processes that the program starts
void hd_children_init(void);
void hd_children_watched(uint64_t pc);        // SIGCHLD gets a handler
void hd_children_reset(void);
bool hd_child_kill(int pid, int sig, uint64_t pc, int *err); // false: not a child
int hd_child_number(int pid);                 // in HD_CHILD mode: the kernel's
bool hd_child_ready(const struct hd_thread *u); // it waits for one
bool hd_children_outside(void);               // nobody can run: false if nobody waits for a child, either
void hd_children_end(void);                   // of the execution
void hd_outcome_remove(void);                 // outcome.c: give the runtime's signals back
void hd_signals_release(uint64_t mask);       // signals/signals.c: what the program set is the kernel's from now on
void hd_shared_end(void);                     // files/shared_memory.c: of the execution
void *hd_map_place(uint64_t bytes);           // files/files.c: where a mapping that may be anywhere goes
extern bool hd_shared_early;                  // files/files.c: there is shared memory from before main
void hd_files_release(void);                  // files/files.c: close heddle's own

// ---- carrier.c
extern int (*hd_program_main)(int, char **, char **);
extern int hd_argc; extern char **hd_argv, **hd_envp;
int hd_main(int argc, char **argv, char **envp);
extern uintptr_t hd_main_sp;                  // program main starts below this
extern uintptr_t hd_main_fs;

// ---- process/initial_stack.c: the first stack, as the kernel laid it out
void hd_start_init(char **envp);
struct hd_extent { uintptr_t lo, hi; }; // whole pages; empty if lo >= hi
extern struct hd_extent hd_padding[3];  // nothing there changes during an execution
void hd_start_grow(uintptr_t sp);       // maps as much below sp as the program may use
uint64_t hd_start_stack(void);          // how much that was, 0: it is not known

// ---- process/nondeterminism.c: what differs between processes is the same for the program
void hd_chance_init(void);

// ---- files/files.c: descriptors, mappings, captured output
void hd_files_save(void);
void hd_files_restore(void);
void hd_files_output(void);                   // send what was written
uint32_t hd_files_written(void);
void hd_maps_save(void);
void hd_maps_restore(void);

// ---- modules.c: which memory instructions are scheduling points
struct hd_text { uint64_t lo, len; uint8_t *bits; };
enum { HD_TEXTS = 64 + HD_MAX_LATE };
extern struct hd_text hd_texts[HD_TEXTS];
extern uint32_t hd_ntexts, hd_npoints;
void hd_points_set(const uint64_t *pc, uint32_t n);
static inline bool hd_is_point(uint64_t pc) {
  for (uint32_t i = 0; i < hd_ntexts; i++) {
    uint64_t off = pc - hd_texts[i].lo;
    if (off < hd_texts[i].len) return hd_texts[i].bits[off >> 3] >> (off & 7) & 1;
  }
  return false;
}
void hd_modules_list(void);
bool hd_in_runtime(uint64_t pc);
bool hd_in_loader(uint64_t pc);
uint64_t hd_runtime_offset(uint64_t pc); // from the runtime's load address

// ---- late_modules.c: what the controller calls an address that is in no module of main's
extern bool hd_late;     // modules have come or gone in this execution
extern uint32_t hd_loading; // threads that are inside the loader, in a constructor or destructor for instance
uint64_t hd_late_name(uint64_t address);
static inline uint64_t hd_name(uint64_t address) { return HD_LIKELY(!hd_late) ? address : hd_late_name(address); }
void *hd_area_own(uint64_t bytes); // memory/address_space.c: where a mapping of the runtime's own goes, NULL: anywhere
void hd_tls_init(uintptr_t fs); // late_modules.c: thread-local storage of a thread that begins anew
extern uint64_t hd_tls_at_main; // modules.c: bytes below the thread control block
bool hd_known(uint64_t address); // is it in a module, or was it?
// loader/loader.c: a library loaded during the run stays until what is held is dropped, and for as
// long after that as nobody calls dlclose. NULL: it is none.
void *hd_library_hold(void *in, uint64_t pc);
void hd_library_drop(void *held);
void hd_late_look(void); // have modules come or gone?
void hd_loader_reset(void); // loader/loader.c: an execution begins
bool hd_loader_busy(void);  // loader/loader.c: another thread has the loader's lock
void *hd_loader_cxx(const char *name); // loader/loader.c: of the C++ library that came with a plug-in
void hd_loader_pass(uint64_t pc); // loader/loader.c: waits while another thread has the loader's lock
const char *hd_late_gone(uint64_t address); // the path of the module that was there, NULL: none was

// ---- omit.c: calls that are left out. Each hook asks first; where nothing is to be left
// out that is one comparison.
extern uint32_t hd_nignored;
void hd_without_begin(void); // an execution begins
bool hd_without(uint64_t pc);
bool hd_without_lock(uint64_t pc, uint64_t object, uint32_t held);
bool hd_without_unlock(uint64_t object, uint32_t held);
bool hd_without_held(uint64_t object); // the running thread has "taken" it by a call that was left out
// Is the call that returns to pc to be left out? Then it returns success.
static inline bool hd_skip(uint64_t pc) { return HD_UNLIKELY(hd_nignored) && hd_without(pc); }
// The same for one that takes object, which the running thread holds so often already.
static inline bool hd_skip_lock(uint64_t pc, const void *object, uint32_t held) {
  return HD_UNLIKELY(hd_nignored) && hd_without_lock(pc, (uint64_t)object, held);
}
// And for the one that gives it back.
static inline bool hd_skip_unlock(const void *object, uint32_t held) {
  return HD_UNLIKELY(hd_nignored) && hd_without_unlock((uint64_t)object, held);
}

struct dl_phdr_info;
// ---- libc.c: libc's own functions
struct hd_cookie { void *f[4]; }; // cookie_io_functions_t
struct hd_real {
#define HD_REAL(ret, name, args) ret (*name) args;
#include "core/libc.def"
#undef HD_REAL
};
extern struct hd_real hd_real;
void hd_real_init(void);
void *hd_real_find(const char *name); // libc's, NULL: it has none
extern void *(*hd_real_dlsym)(void *, const char *); // once something was found
bool hd_real_is(const void *p, const char *name); // libc's function that the runtime stands in for
#define REAL(name) ({ if (HD_UNLIKELY(!hd_real.name)) hd_real_init(); hd_real.name; })

#endif
