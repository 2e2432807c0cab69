// run.h: the state of one execution. Each group of fields names the file that sets it.
#ifndef HD_CORE_RUN_H
#define HD_CORE_RUN_H
#include "core/attach.h"
#include "core/reached.h"
#include "core/thread.h"

// A quiet stretch ends when one of the counters exceeds HD_QUIET_EACH. So it has at most twice
// HD_QUIET accesses, and at least a quarter of it.
enum { HD_QUIET_COUNTERS = 8, HD_QUIET_EACH = HD_QUIET / 4 };

struct hd_run {
  // ---- plan (carrier.c)
  struct hd_plan plan;
  const struct hd_step *steps;
  const uint64_t *names;    // plan index -> thread name
  uint64_t seed;            // of this execution
  uint64_t rng;
  bool record;              // plan wants events
  bool accesses;            // plan wants plain accesses too, and its limit is not reached
  bool values;              // plan wants every plain access with its value
  bool functions;           // plan wants function entries and exits
  uint64_t nprofiled;       // memory/access.c: events other than scheduling points, both sent and skipped
  // memory/watch.c: called after each operation that is an event; NULL unless the plan watches
  void (*watcher)(struct hd_thread *t, uint64_t value, int32_t result, uint32_t flags);
  bool write_open; // the value of the last recorded write is not known before its thread's next access (core/event.c)
  // HD_QUIET_EACH, or 0 if each access is watched, recorded, waited for (write_open) or asked for (hd_reached); set by
  // hd_accesses_changed
  uint32_t unobserved;
  // The plan's shared instructions are all (HD_PLAN_KNOWN), so that the accesses of others are those of an execution that is not
  // recorded; hd_point_hints has the shared ones. Set by memory/shared_accesses.c.
  bool listed;
  // Accesses of the running thread in its current quiet stretch (core/computation.c), counted apart
  // by the low bits of the instruction's address: an increment waits for the one before it, and
  // consecutive accesses mostly increment different counters.
  uint32_t quiet[HD_QUIET_COUNTERS];
  uint8_t wrote;            // HD_WROTE, or 0: see hd_progress_wrote
  // ---- unused stack (stack_use.c)
  uintptr_t unused_lo, unused_size; // of main's stack, while another thread runs: what main's frames do not cover
  uintptr_t own_lo, own_size;       // the running thread's host's stack
  // ---- threads (slots.c, threads.c)
  struct hd_thread *cur;    // the running thread (sched.c)
  uint32_t nthreads, nwords, nlive; // slots used so far, words those take in a set, threads that have not ended
  uint32_t nhosts;          // the host threads below this index are used (fiber.c)
  uint32_t nborn;           // threads created so far, and so the next thread's number
  uint32_t unjoined;        // created threads whose end main's side has not seen
  uint32_t ntimers;         // timers created so far (time/timers.c)
  // ---- signals (signals/; read by interrupts.c)
  uint32_t npending;        // pending signals
  uint32_t nsuspended;      // running handlers
  bool handlers;            // the program has installed a signal handler
  uint64_t process_pending; // signals pending for the process
  uint64_t restarting;      // signals whose handler was installed with SA_RESTART
  // ---- scheduling (sched.c)
  struct hd_set enabled;    // pending operation enabled, or running
  struct hd_set needers;    // threads whose pending operation blocks on an object
  struct hd_set timers;     // threads with timed && !timed_out
  struct hd_set decision;   // enabled when the current event was chosen
  uint32_t last;            // slot of the last event's thread; ~0: none
  uint32_t since;           // points when that thread was last switched to
  uint32_t points, switches, preemptions, deviations;
  uint64_t vtime;
  uint64_t idled;          // ns of it that passed as all threads waited
  uint64_t effects;        // calls that changed state which no event tells of, in libc or the kernel
  uint64_t next_deadline;   // lower bound on the deadlines of all timed waits
  uint64_t arrivals;
  uint64_t progress_at;     // points when a thread last made progress (progress.c)
  uint32_t ncomputing;      // threads whose pending operation is a yield of a computation (computation.c)
  uint64_t slack;           // virtual ns by which threads may still overtake others (virtual_time.c)
  uint64_t long_since;      // hd.vtime when the execution became a long one; 0: it is not long
  uint64_t outside;         // ns that the execution has waited for other processes although threads are enabled (outside.c)
  uint64_t drift, drift_at; // virtual ns of the next time step without progress; hd.progress_at at that time
  // ---- exit (threads/process_exit.c)
  bool process_exiting;
  int exit_status;
  uint64_t exit_pc;         // of the call of exit, or main's return; 0 if libc called it itself
  // ---- policy (policy.c)
  int64_t prio_low;
  bool late;                // the fair phase has begun
  bool suspected;           // of a hang: the phase begins with the next decision (progress.c)
  uint32_t stretches;       // quiet stretches of all threads that computed
  uint32_t fair_at;         // points passed when it began; 0: it has not
  uint32_t fair_until;      // points with which the last fair window ends
  uint32_t vain;            // fruitless observations of all threads since then
  uint32_t wasted;          // fruitless observations of the execution
  uint64_t fair_rng;        // of strongly fair decisions
  uint32_t change[HD_CHANGE_POINTS]; // change points of PCT, delays of DELAY; 0: used
  uint32_t nchange;
  uint32_t delays;          // DELAY: those that the next decision makes
  uint64_t passed;          // sched.c: points that the plan's turns left to the running thread
  uint32_t intended;        // WALK: slot of the thread whose interesting event is to come next; ~0: none
  // ---- script (script.c)
  uint32_t pos;             // next step
  uint32_t dev_run;         // operations performed off the script in this TEI
  uint32_t *plan_to_slot;   // plan index -> slot + 1; the slot may have been reused since
  int32_t wake_choice;      // slot of the thread the script wants woken; -1: not specified
  bool open;                // cur was chosen and its operation is not committed yet (sched.c)
  // ---- results
  uint64_t signature;       // signature.c
  struct hd_result result;  // outcome.c, carrier.c
};
extern HD_OWN struct hd_run hd;

// Reports whether threads besides main have been created and not been joined, so that the order of what
// the current thread does and what another does may differ from execution to execution.
static inline bool hd_beside_others(void) { return hd.unjoined != 0; }

// Returns a plan's shared instructions. names are its threads' names.
static inline const uint64_t *hd_plan_shared(const uint64_t *names, const struct hd_plan *p) {
  return (const uint64_t *)((const struct hd_hold *)(names + p->nthreads + p->npoints) + p->nholds) + p->nweights + p->ninteresting;
}

// Called after watcher, accesses, write_open, hd_reached or listed has changed.
static inline void hd_accesses_changed(void) { hd.unobserved = hd.watcher || (hd.accesses && !hd.listed) || hd.write_open || hd_reached ? 0 : HD_QUIET_EACH; }

static inline uint32_t *hd_quiet(uint64_t pc) { return &hd.quiet[pc % HD_QUIET_COUNTERS]; }
static inline void hd_quiet_set(uint32_t n) {
  for (uint32_t i = 0; i < HD_QUIET_COUNTERS; i++) hd.quiet[i] = n;
}
static inline uint32_t hd_quiet_sum(void) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < HD_QUIET_COUNTERS; i++) sum += hd.quiet[i];
  return sum;
}
#endif
