// thread.h: a thread of the program. Its state is grouped by the room that writes it; "read
// by" names the others that read it.
#ifndef HD_CORE_THREAD_H
#define HD_CORE_THREAD_H
#include "core/base.h"

struct hd_host;
struct hd_io_wait;
struct hd_timer;
struct hd_tls_dtor;
struct hd_order;

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

// Whether a signal handler makes the pending call fail with EINTR.
enum hd_intr { HD_INTR_NEVER, HD_INTR_RESTART /* unless SA_RESTART */, HD_INTR_ALWAYS };
// Why a signal that is due comes before the pending operation: it has had time to arrive, or it
// came while the thread was blocked.
enum hd_owed { HD_OWED_NOT, HD_OWED_ARRIVED, HD_OWED_BLOCKED };

// What the pending operation blocks on. A signal handler that interrupts the operation runs with
// an empty hd_wait; the operation's is saved in struct hd_suspended.
struct hd_wait {
  uint64_t on, on2;        // objects whose state decides whether it is enabled; 0: always enabled
  uint64_t deadline;       // virtual ns, while timed
  uint64_t arrival;        // position in the queue, for first-in-first-out waking
  struct hd_io_wait *io;   // for an operation on a descriptor (io/blocking.h)
  bool woken;              // condition, barrier, futex: another thread ended the wait
  bool timed, timed_out;   // the wait has a deadline; the deadline ended the wait
  bool late;               // of the last wait with a deadline: it was over when the wait began
  bool due;                // condition wait: the deadline has passed, so COND_TIMEOUT may occur
  bool interrupted;        // a handler ran during the wait: the call fails with EINTR
  bool cancelable;         // the operation is a cancellation point
  bool begun;              // the call has had an effect: a handler can end it but no longer precede it
  uint8_t intr;            // enum hd_intr
  uint8_t owed;            // enum hd_owed: a handler runs before the call continues (core/interrupts.c)
};

// What a thread was about to do when a signal handler began to run on its stack. It lives in the
// frame of the code that runs the handler. Other threads can still wake a suspended condition or
// barrier wait.
struct hd_suspended {
  struct hd_suspended *outer;
  uintptr_t sp;            // the program's frames that the handler interrupts lie above
  uintptr_t side_top;      // core/side_stack.h: for the code that it interrupts
  int sig;
  struct hd_pending pend;
  struct hd_wait wait;
  uint64_t touched_low;
  uint32_t depth;
};

// A time that a thread has read from a clock, or until which it has asked to wait.
struct hd_moment {
  uint64_t at, origin; // ns of the clock; at virtual time 0
  uint64_t after;      // of a deadline: ns after a reading
  uint64_t reading;    // which one, from 1; 0: none
};
enum { HD_READINGS = 8, HD_DEADLINES = 4 };
enum { HD_SEEN_SETS = 4, HD_SEEN_WAYS = 4, HD_SHADOW_MAX = 1024 };

struct hd_frame { uint64_t pc; uintptr_t sp, fp; }; // fp: the frame pointer that the function has, if it has one

struct hd_thread {
  // ---- core: set by fiber.c when the thread is made and at each switch
  void *sp;                // saved stack pointer while not running
  uintptr_t start;         // its fiber's initial stack pointer
  uintptr_t fs;            // FS base, which is also its pthread_t
  struct hd_host *host;    // NULL for main and for pseudo-threads, which run no code

  // ---- core: set by threads.c and slots.c, read by all
  uint32_t index;          // its slot: its index in hd_threads and in sets, reused (slots.c)
  uint32_t number;         // its number in order of creation, by which all code outside the scheduler names it
  uint32_t parent, nth, children; // parent is a thread number
  uint32_t referred;       // number of other threads' pending operations that point to it; they keep the count
  uint32_t planned;        // script.c: 1 + its index in the plan's table of names; 0: not in the table
  uint64_t name;
  void (*fires)(struct hd_thread *); // for a pseudo-thread: called when it is chosen. NULL: a thread of the program
  struct hd_timer *timer;  // time/timers.c: the timer it represents

  // ---- threads: set at creation, join, detach and exit; read by core and by reports
  void *(*entry)(void *);
  void *arg;
  void *ret;
  bool ended, detached, joined;
  bool exiting;            // it is running exit

  // ---- the pending operation: set through sched.h by the directory that models it
  struct hd_pending pend;
  struct hd_wait wait;
  uint16_t detour;         // policy.c, script.c: operation it performs once chosen, before the pending one; HD_OP_* or 0
  int64_t prio;            // policy.c
  uint64_t left;           // policy.c: WALK: interesting events that it and the threads that it will create have left
  uint32_t ran;            // sched.c: hd.points when it last performed an operation or became enabled
  uint32_t acted;          // sched.c: hd.points when it last performed an operation or was created
  uint64_t holds, felt;    // holds.c: set of the plan's holds for its pending operation; those that were in force at a decision
  uint32_t held_at;        // holds.c: hd.points when it reached the operation

  // ---- core: progress.c, computation.c
  struct {
    struct { uint64_t key, value; } seen[HD_SEEN_SETS][HD_SEEN_WAYS];
    uint32_t seen_next;
    uint32_t stale;        // consecutive reads that returned nothing new to the thread
    struct { uint64_t pc, object, points; uint16_t op; } vain; // the last of these, and hd.points then
    uint32_t idle, futile; // counts of progress.c, valid while hd.progress_at equals idle_at
    uint64_t idle_at;
    uint8_t wrote;         // HD_WROTE_*: it has written to memory, as of the last hd_progress_wrote
    uint32_t stretches;    // multiples of HD_QUIET accesses in quiet stretches since its last scheduling point,
                           // not counting forced yields
    uint32_t part;         // accesses beyond these
    uint32_t length;       // accesses of the quiet stretch that has ended
    uint32_t yield_at;     // value of stretches at which it yields if it still computes
    uint8_t yields;        // number of such yields so far, at most HD_STRETCHES_MORE
    bool computes;         // its pending operation is such a yield
    uint32_t looked, repeats; // accesses examined after the current stretch; the number of fruitless ones at their end
    uint32_t failed;       // stretches after which it was not seen to wait, since it last was
    struct { uint64_t anchor, hash, before; uint32_t length, period; } round; // computation.c: goes_round
  } progress;
  uint64_t left_out;       // core/event.c: accesses that were not sent since its last event (HD_REC_LEFT_OUT)
  uint32_t serial;         // memory/shadow.c: identifies its epoch and depth of handlers; 0: not assigned yet

  // ---- time: clock readings and sleeps in loops (clocks.c, core/virtual_time.c)
  struct {
    uint32_t looks, looks_at; // clock readings with no scheduling point between them, and hd.points at that time
    uint32_t naps;         // consecutive timed waits at one call site with no progress between them
    uint64_t nap_pc, nap_began, nap_progress;
    struct hd_moment read[HD_READINGS], until[HD_DEADLINES]; // its last ones, newest first (core/private_state.h)
  } clock;

  // ---- signals: state per thread rather than per carrier; read by core/interrupts.c
  struct {
    uint64_t mask, pending;
    uint64_t mask_back;    // while masked: the mask to restore when its call returns
    bool masked;           // it waits with a mask for this call only (sigsuspend, ppoll and similar)
    uintptr_t alt_lo;      // sigaltstack
    uint64_t alt_size;     // 0: none
    struct hd_suspended *suspended; // running handlers, innermost first
    struct hd_suspended *waking;    // hd_wake is for this wait (sched.c)
    uint64_t fault_pc;     // pc of the last fault for which its own handler was called
    uint32_t faults, fault_at; // number of consecutive faults at fault_pc; hd.points at the last one
  } signals;

  // ---- threads: cancellation
  uint8_t cancel;          // HD_CANCEL_*

  // ---- sync
  uint64_t robust;         // mutex.c: the most recently acquired of the robust mutexes it holds

  // ---- threads: attributes that are stored and returned; no effect
  struct {
    char label[16];
    bool labelled;         // the label was set for this thread, not inherited
    int policy, priority;  // policy may include SCHED_RESET_ON_FORK
    int nice;
    int death_signal;      // PR_SET_PDEATHSIG
    bool no_new_privs;
    uint64_t slack, default_slack; // of the kernel's timers, ns
    uint64_t cpus[16];     // all zero: unchanged since the start
  } attributes;

  // ---- loader: C++ thread_local destructors registered by this thread, newest first
  struct hd_tls_dtor *dtors;

  struct { const char *what; uint64_t pc; int number; } fork; // process: while it is in fork, the call, its place and, once assigned, the child's number
  uint32_t nfiles;         // io: number of channels it created
  uint32_t nrandom;        // process: number of random words it has drawn
  uint64_t raw_pc;         // process: pc of the latest system call that it made itself, 0 for none
  uint64_t library_pc;     // libraries: pc of the program's library call in progress; 0: none
  struct hd_place *place;  // libraries: its position among the OpenMP constructs; NULL: in no parallel region

  // ---- stack: threads sets lo and hi if it is not the host's stack; memory sets touched_low; core sets sp
  struct {
    uintptr_t lo, hi;
    uint64_t touched_low;  // lowest address the runtime has seen it use
    uint64_t size;         // natively
    uintptr_t limit;       // below it the thread has used more than that (core/stack_limit.c)
    bool moved;            // frames were left as if the program had changed to a stack of its own within this one
    bool jumps;            // it has called longjmp
    uintptr_t sp;          // while it does not run: its frames lie from here on; 0: not known
    uintptr_t side_top;    // while it does not run, or ends the execution: hd_side_top; 0: not known
  } stack;

  struct hd_order *order;  // memory/order.c: its vector clock and related state; NULL: not allocated yet

  // ---- memory: shadow call stack from __tsan_func_entry; read by event.c and outcome.c.
  // frames and functions stay the last members, because creating a thread does not clear them.
  struct {
    uint64_t left_pc;      // pc at which its outermost instrumented function returned
    uint32_t depth;
    struct hd_frame frames[HD_SHADOW_MAX];
    uint64_t functions[HD_SHADOW_MAX]; // for each frame a pc in its function. Frames from depth on have been left
  } calls;
};

extern HD_OWN struct hd_thread *hd_threads; // HD_MAX_THREADS entries, by slot; mapped, not part of the snapshot

enum { HD_WORDS = HD_MAX_THREADS / 64 };

struct hd_set { uint64_t w[HD_WORDS]; };
static inline bool hd_has(const struct hd_set *s, uint32_t i) { return s->w[i >> 6] >> (i & 63) & 1; }
static inline void hd_add(struct hd_set *s, uint32_t i) { s->w[i >> 6] |= 1ull << (i & 63); }
static inline void hd_del(struct hd_set *s, uint32_t i) { s->w[i >> 6] &= ~(1ull << (i & 63)); }

bool hd_in_runtime(uint64_t pc);
// The pc of the program that a pc stands for: a system call that the program makes itself is made by a function of the
// runtime's, in place of libc's.
static inline uint64_t hd_programs_pc(const struct hd_thread *t, uint64_t pc) { return HD_UNLIKELY(t->raw_pc != 0) && hd_in_runtime(pc) ? t->raw_pc : pc; }
static inline void hd_pend(struct hd_thread *t, uint16_t op, uint64_t pc, uint64_t obj) {
  t->pend.op = op; t->pend.flags = 0; t->pend.size = 0; t->pend.pc = pc; t->pend.obj = obj; t->pend.aux = 0;
}
#endif
