// registration.h: how modules of the other rooms register with core. Core depends on no higher
// room: it looks up operations here and runs the modules' hooks in the order of one list
// (process/modules.c).
#ifndef HD_CORE_REGISTRATION_H
#define HD_CORE_REGISTRATION_H
#include "core/run.h"

typedef void hd_say(const char *fmt, ...); // as hd_format; appends to a message

// One operation. Functions may be NULL.
struct hd_operation {
  uint16_t op;
  bool async_cancel;  // a thread with asynchronous cancelability acts on a request here
  bool timeout_event; // its timeout is an event of its own (core/detour.c)
  bool spurious;      // it may wake up spuriously
  // Reports whether the pending operation is enabled. Called only while it blocks on an object.
  bool (*enabled)(const struct hd_thread *u);
  // Returns 1 + the number of the thread that must act before the operation is enabled; 0: none,
  // or unknown. *object is the pending operation's object; holder replaces it if the thread
  // holds a different one.
  uint32_t (*holder)(const struct hd_thread *u, uint64_t *object);
  // Describes what the blocked thread waits for, for a deadlock report.
  void (*describe)(const struct hd_thread *u, hd_say *say);
  // leave: a signal handler is about to run in the call, which then restarts.
  void (*leave)(struct hd_thread *t);
  void (*enter)(struct hd_thread *t);
  // Performs a detour of this operation. Core performs the common ones (core/detour.c).
  void (*detour)(struct hd_thread *t, uint16_t op);
};

struct hd_registration {
  const struct hd_operation *operations;
  uint32_t noperations;

  // ---- per execution
  void (*begin)(void);   // an execution begins; no thread exists
  void (*main)(struct hd_thread *t); // the execution's first thread was created
  void (*end)(void);     // all threads have stopped; events are not sent yet
  void (*report)(struct hd_result *r); // completes the result, sends other records, and undoes the execution's
                         // effects outside memory: once the result is sent, the controller may end this process
  void (*save)(void);    // the program is about to enter main: save the state that restore restores
  void (*restore)(void); // restores it; only with HD_ISOLATION_SNAPSHOT

  // ---- executions that continue where the first thread is created (core/setup.c)
  const char *(*shares)(void); // main is about to create the first thread: prepares continues. Returns what processes would
                               // share that start from this one and continue there, NULL if nothing
  void (*continues)(void); // in such a process: puts back what an earlier one of them may have changed

  // ---- per thread
  void (*main_begins)(void);            // on main's own fiber, before the program's main
  void (*thread_ends)(struct hd_thread *t);  // t's last operations, on its own fiber
  void (*thread_exits)(struct hd_thread *t); // t ends the process: does what libc would do before exit
  void (*thread_gone)(struct hd_thread *t);  // its slot is about to be reused
  void (*host_reused)(struct hd_host *h);    // a new thread is about to run on it
  void (*kernel_thread)(void);          // the calling kernel thread is about to run code of the program

  // ---- while an execution runs
  bool (*external)(void); // no thread is enabled: waits for other processes. False: no thread waits for one, or time may pass
  bool (*outside)(const struct hd_thread *t, hd_say *say); // threads are enabled. True: another process may end the wait of t, which
                         // is not; if t is NULL, of any thread, or send a signal. Says what is waited for unless say is NULL
  bool (*outside_acts)(long ns); // waits at most so long for that. False: it has not happened
  bool (*meanwhile)(void); // while the runtime waits for another process: ends the execution if one cannot go on. True: it has sent a signal
  void (*passes)(uint64_t ns); // time is about to pass although threads are enabled, which only wait in loops: other processes may act
  void (*leaving)(void); // an execution is about to end cleanly
  void (*failing)(void); // an execution is about to end as a failure: complete its output
  const char *(*stuck)(uint64_t pc); // what blocks the kernel thread at pc, if the module knows
  void (*handled)(int sig, uint64_t pc); // the program installs a handler for sig
  void (*external_used)(int fd, bool write); // a thread is about to use a descriptor that leads to another process
  long (*child)(int pid); // the kernel's identifier of the child process that the program knows by pid, or of any child if
                          // pid is 0; 0: there is no such child, or the program has waited for it
};

extern const struct hd_registration *const *hd_modules; // ended by NULL
extern HD_OWN const struct hd_operation *hd_operations[HD_OP_COUNT]; // never NULL
void hd_modules_set(const struct hd_registration *const *modules); // before the first execution

#define HD_EACH_MODULE(m) for (const struct hd_registration *const *m##_at = hd_modules, *m; (m = *m##_at); m##_at++)
#define HD_CALL_MODULES(hook, ...) \
  do { \
    HD_EACH_MODULE(m) if (m->hook) m->hook(__VA_ARGS__); \
  } while (0)
#define HD_OPERATIONS(table) .operations = table, .noperations = sizeof table / sizeof *table
#endif
