// run.h: one execution. The file that sets a group of fields is named with it.
#ifndef HD_CORE_RUN_H
#define HD_CORE_RUN_H
#include "core/attach.h"
#include "core/thread.h"

struct hd_run {
  // ---- plan (carrier.c)
  struct hd_plan plan;
  const struct hd_step *steps;
  const uint64_t *names;    // plan index -> thread name
  uint64_t rng;
  bool record;              // plan wants events
  bool accesses;            // plan wants plain accesses too, and has not had as many as it wants
  uint64_t nprofiled;       // memory/access.c: events other than scheduling points: sent, and skipped
  // ---- threads (slots.c, threads.c)
  struct hd_thread *cur;    // the one that runs (sched.c)
  uint32_t nthreads, nwords, nlive; // slots that have been used, words of sets that takes, threads that have not ended
  uint32_t nhosts;          // host threads before that are used (fiber.c)
  uint32_t nborn;           // threads that were created: the number of the next
  uint32_t unjoined;        // created threads whose end main's side has not seen
  uint32_t ntimers;         // timers that were made (time/timers.c)
  // ---- signals (signals room; read by interrupts.c)
  uint32_t npending;        // signals that are pending
  uint32_t nsuspended;      // handlers that run
  bool handlers;            // the program has installed a signal handler
  uint64_t process_pending; // signals pending for the process
  uint64_t restarting;      // signals whose handler was installed with SA_RESTART
  // ---- scheduling (sched.c)
  struct hd_set enabled;    // pending operation enabled, or running
  struct hd_set needers;    // threads whose pending operation waits for an object
  struct hd_set timers;     // threads with timed && !timed_out
  struct hd_set decision;   // enabled when the current event was chosen
  uint32_t last;            // slot of the last event's thread, ~0 none
  uint32_t since;           // points when it began to run on end
  uint32_t points, switches, preemptions, deviations;
  uint64_t vtime;
  uint64_t next_deadline;   // no timed wait ends before that
  uint64_t arrivals;
  uint64_t progress_at;     // points when something last changed for somebody (progress.c)
  uint64_t slack;           // virtual ns that threads may still overtake others by (virtual_time.c)
  uint64_t long_since;      // hd.vtime when the execution became a long one, 0: it is none
  uint64_t drift, drift_at; // virtual ns of the next step of time while nothing changes; hd.progress_at then
  // ---- exit (threads/process_exit.c)
  bool process_exiting;
  int exit_status;
  uint64_t exit_pc;         // of the call of exit, or main's return; 0 if libc called it itself
  // ---- policy (policy.c)
  int64_t prio_low;
  uint32_t change[HD_CHANGE_POINTS]; // PCT change points, 0: used
  uint32_t nchange;
  // ---- script (script.c)
  uint32_t pos;             // next step
  uint32_t dev_run;         // operations done off the script in this interval
  uint32_t *plan_to_slot;   // plan index -> slot + 1; the thread there may be another one by now
  int32_t wake_choice;      // slot of the thread the script wants woken, -1: none said
  bool open;                // cur was chosen and its operation is not committed yet (sched.c)
  // ---- results
  uint64_t signature;       // signature.c
  struct hd_result result;  // outcome.c, carrier.c
};
extern struct hd_run hd;
#endif
