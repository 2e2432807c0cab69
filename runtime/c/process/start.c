// start.c: how the runtime starts in the program's process, and how it learns of the program's end.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include "core/carrier.h"
#include "core/libc.h"
#include "core/outcome.h"
#include "core/program_memory.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "threads/threads.h"
#include "libraries/libraries.h"
#include "loader/loader.h"
#include "io/stdio.h"
#include "process/process.h"

// The loader's exit handler, which acquires the loader's lock and runs the destructors of all modules.
static void (*rtld_end)(void);
static void loader_end(void) {
  if (hd_active()) hd_loader_pass(hd.cur->pend.pc);
  rtld_end();
}

static int run(int argc, char **argv, char **envp) {
  hd_libomp_start();
  // Frees the error text of a dlsym that failed before main. Otherwise the runtime's first lookup during an execution would
  // free it, which only the first execution of a process would see.
  hd_real_find("malloc");
  hd_carrier(argc, argv, envp, hd_thread_main);
}

HD_EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                                void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  if (hd_controlled()) {
    hd_program_main = main;
    main = run;
    rtld_end = rtld_fini;
    if (rtld_fini) rtld_fini = loader_end;
  }
  return REAL(__libc_start_main)(main, argc, argv, init, fini, rtld_fini, stack_end);
}

static void last_exit_handler(int status, void *arg), last_quick_exit_handler(void *arg);
extern int __cxa_at_quick_exit(void (*)(void *), void *);
extern int on_exit(void (*)(int, void *), void *);

__attribute__((constructor)) static void loaded(int argc, char **argv, char **envp) {
  (void)argc;
  if (!hd_controlled()) return;
  hd_real_init();
  hd_modules_set(hd_all_modules);
  hd_initial_stack_init(argv, envp);
  hd_nondeterminism_init();
  hd_sys(SYS_prctl, PR_SET_DUMPABLE, 1, 0);
  hd_children_init();
  // Registered before every other handler, so it runs after all of them.
  on_exit(last_exit_handler, NULL);
  __cxa_at_quick_exit(last_quick_exit_handler, NULL);
  hd_shm->heap_base = hd_heap_base;
  __atomic_store_n(&hd_shm->state, HD_STATE_LOADED, __ATOMIC_RELEASE);
}

// Called when exit() or quick_exit() has run all handlers of the program: ends the execution.
//
// If libc called exit internally (for instance in argp_parse), only exit handlers learn the status.
static void over(int status, bool flush) {
  if (hd_mode == HD_EARLY)
    hd_refuse("the program ended with status %d before main: a constructor called exit", hd.exit_status);
  if (hd_mode != HD_ACTIVE) return;
  if (flush) {
    hd_stdio_flush(hd.cur->pend.pc);
    REAL(fflush)(NULL);
  }
  hd_end(HD_OUT_CLEAN, status & 0xff, hd.exit_pc, 0, NULL);
}
static void last_exit_handler(int status, void *arg) { (void)arg; over(status, true); }
static void last_quick_exit_handler(void *arg) { (void)arg; over(hd.exit_status, false); }
