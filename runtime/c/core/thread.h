// thread.h: a thread of the program. Its state is grouped by the room that writes it; "read
// by" names the others that look at it.
#ifndef HD_CORE_THREAD_H
#define HD_CORE_THREAD_H
#include "core/base.h"

struct hd_host;
struct hd_io_wait;
struct hd_timer;
struct hd_tls_dtor;

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
// Why a signal that is due comes before the pending operation.
enum hd_owed { HD_OWED_NOT, HD_OWED_ARRIVED /* by now */, HD_OWED_BLOCKED /* it came while the thread was */ };

// What the pending operation waits for. A signal handler that interrupts it runs with an
// empty one; the operation's is kept with it (struct hd_suspended).
struct hd_wait {
  uint64_t on, on2;        // objects whose state decides whether it is enabled; 0: always enabled
  uint64_t deadline;       // virtual ns, while timed
  uint64_t arrival;        // when it enqueued, for first-in-first-out waking
  struct hd_io_wait *io;   // of an operation on a descriptor (io/blocking.h)
  bool woken;              // condition, barrier, futex: another thread ended the wait
  bool timed, timed_out;   // it has a deadline; the deadline has been used
  bool due;                // condition wait: the deadline has passed, COND_TIMEOUT can happen
  bool interrupted;        // a handler has run in it: it is to fail with EINTR
  bool cancelable;         // it is a cancellation point
  bool begun;              // the call has had an effect: a handler can only end it, not come before it
  uint8_t intr;            // enum hd_intr
  uint8_t owed;            // enum hd_owed: a handler runs before the call goes on (core/interrupts.c)
};

// What a thread was about to do when a signal handler began to run on its stack. It lies
// in the frame of the code that runs the handler. A condition or barrier wait stays one
// that others can wake.
struct hd_suspended {
  struct hd_suspended *outer;
  int sig;
  struct hd_pending pend;
  struct hd_wait wait;
  uint64_t touched_low;
  uint32_t depth;
};

enum { HD_SEEN_SETS = 4, HD_SEEN_WAYS = 4, HD_SHADOW_MAX = 1024 };

struct hd_frame { uint64_t pc; uintptr_t sp; };

struct hd_thread {
  // ---- core: set by fiber.c when the thread is made and at each switch
  void *sp;                // saved stack pointer while not running
  uintptr_t start;         // where its fiber's stack begins
  uintptr_t fs;            // FS base, which is also its pthread_t
  struct hd_host *host;    // NULL for main and for what runs no code

  // ---- core: set by threads.c and slots.c, read by all
  uint32_t index;          // its slot: its place in hd_threads and in sets, reused (slots.c)
  uint32_t number;         // in order of creation: how everything outside of the scheduler names it
  uint32_t parent, nth, children; // parent by its number
  uint32_t referred;       // pending operations of others that hold a pointer to it; set by those
  uint32_t planned;        // script.c: its place in the plan's table of names + 1, 0: not in it
  uint64_t name;
  void (*fires)(struct hd_thread *); // runs no code: called when it is chosen. NULL: a thread of the program
  struct hd_timer *timer;  // time/timers.c: the timer that it stands for

  // ---- threads: set at creation, join, detach and end; read by core and by reports
  void *(*entry)(void *);
  void *arg;
  void *ret;
  bool ended, detached, joined;
  bool exiting;            // it runs exit

  // ---- the pending operation: set by the room that models it, through sched.h
  struct hd_pending pend;
  struct hd_wait wait;
  uint16_t detour;         // policy.c, script.c: what it does once chosen, before its pending operation; HD_OP_* or 0
  int64_t prio;            // policy.c
  uint32_t ran;            // sched.c: hd.points when it last did an operation, or became enabled

  // ---- core: progress.c; wrote and quiet are set by memory/access.c
  struct {
    struct { uint64_t key, value; } seen[HD_SEEN_SETS][HD_SEEN_WAYS];
    uint32_t seen_next;
    uint32_t stale;        // observations in a row that told the thread nothing new
    uint32_t idle, futile; // of those since hd.progress_at was idle_at: see progress.c
    uint64_t idle_at;
    uint8_t wrote;         // HD_WROTE_*: it has written to memory
    uint32_t quiet;        // accesses since its last scheduling point
    uint32_t samples;      // forced yields so far
  } progress;

  // ---- time: looks at clocks, and sleeps in loops (clocks.c, core/virtual_time.c)
  struct {
    uint32_t looks, looks_at; // looks at a clock without a scheduling point between them, and hd.points then
    uint32_t naps;         // waits with a deadline in a row, at one place and with no progress between them
    uint64_t nap_pc, nap_began, nap_progress;
  } clock;

  // ---- signals: what belongs to a thread, not to the carrier; read by core/interrupts.c
  struct {
    uint64_t mask, pending;
    uint64_t mask_back;    // while masked: the mask that its call returns with
    bool masked;           // it waits with a mask for this call only (sigsuspend, ppoll and kin)
    uintptr_t alt_lo;      // sigaltstack
    uint64_t alt_size;     // 0: none
    struct hd_suspended *suspended; // handlers that run, innermost first
    struct hd_suspended *waking;    // hd_wake is for this wait (sched.c)
    uint64_t fault_pc;     // of the last fault its own handler was called for
    uint32_t faults, fault_at; // how many there were of it in a row; hd.points at the last
  } signals;

  // ---- threads: cancellation
  uint8_t cancel;          // HD_CANCEL_*

  // ---- sync
  uint64_t robust;         // mutex.c: the robust mutex it took last of those it holds

  // ---- threads: attributes, which have no effect and are returned when asked for
  struct {
    char label[16];
    int policy, priority;
    uint64_t cpus[16];     // all zero: as at the start
  } attributes;

  // ---- loader: C++ thread_local destructors registered by this thread, newest first
  struct hd_tls_dtor *dtors;

  uint32_t nfiles;         // io: channels it made
  uint32_t nrandom;        // process: random words it drew

  // ---- its stack: lo and hi by threads, where it is not its host's; touched_low by memory
  struct {
    uintptr_t lo, hi;
    uint64_t touched_low;  // lowest address the runtime has seen it use
  } stack;

  // ---- memory: shadow call stack from __tsan_func_entry; read by event.c and outcome.c.
  // The frames come last: a new thread's are not cleared.
  struct {
    uint64_t left_pc;      // where its outermost instrumented function returned
    uint32_t depth;
    struct hd_frame frames[HD_SHADOW_MAX];
  } calls;
};

extern struct hd_thread *hd_threads; // HD_MAX_THREADS of them by slot, mapped, not restored

enum { HD_WORDS = HD_MAX_THREADS / 64 };

struct hd_set { uint64_t w[HD_WORDS]; };
static inline bool hd_has(const struct hd_set *s, uint32_t i) { return s->w[i >> 6] >> (i & 63) & 1; }
static inline void hd_add(struct hd_set *s, uint32_t i) { s->w[i >> 6] |= 1ull << (i & 63); }
static inline void hd_del(struct hd_set *s, uint32_t i) { s->w[i >> 6] &= ~(1ull << (i & 63)); }

static inline void hd_pend(struct hd_thread *t, uint16_t op, uint64_t pc, uint64_t obj) {
  t->pend.op = op; t->pend.flags = 0; t->pend.size = 0; t->pend.pc = pc; t->pend.obj = obj; t->pend.aux = 0;
}
#endif
