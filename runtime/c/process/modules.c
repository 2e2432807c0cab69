// modules.c: every module that registers something, in the order in which core runs its hooks.
//
// What the order means:
//   save, restore   the stack is mapped before the snapshot saves it; memory is restored before
//                   mappings are removed and the tables that describe memory are restored
//   end             children are killed before the shared memory that they use is released
//   report          descriptors are closed before changes to files are undone
//   thread_ends     the order of libc: thread_local objects, then keys; tried locks are released before robust mutexes, which come last
//   main_begins     refusals before threads are started
//   external        threads that wait for descriptors before those that wait for children
#include "core/beside_assembly.h"
#include "core/registration.h"
#include "memory/mappings.h"
#include "memory/shared_accesses.h"
#include "memory/thread_memory.h"
#include "memory/watch.h"
#include "signals/signals.h"
#include "threads/threads.h"
#include "time/time.h"
#include "sync/sync.h"
#include "libraries/libraries.h"
#include "loader/loader.h"
#include "io/blocking.h"
#include "io/descriptors.h"
#include "io/socket.h"
#include "io/stdio.h"
#include "files/files.h"
#include "process/process.h"

const struct hd_registration *const hd_all_modules[] = {
  // process and memory
  &hd_initial_stack, &hd_snapshot, &hd_descriptors_at_main, &hd_files, &hd_mappings, &hd_watch, &hd_sharings, &hd_volatiles, &hd_thread_memory,
  // threads
  &hd_thread_local, &hd_keys, &hd_threads_before_main, &hd_thread_life, &hd_names, &hd_priorities, &hd_process_exit,
  // signals and time
  &hd_signals, &hd_delivery, &hd_crash, &hd_clocks, &hd_timers,
  // synchronisation
  &hd_tried_locks, &hd_mutexes, &hd_conds, &hd_rwlocks, &hd_barriers, &hd_spinlocks, &hd_semaphores, &hd_named_semaphores, &hd_onces, &hd_futexes,
  &hd_libraries, &hd_openmp_locks, &hd_libomp, &hd_glib, &hd_tbb,
  // descriptors and files
  &hd_descriptors, &hd_socket_addresses, &hd_directories, &hd_stdio, &hd_streams_locked, &hd_signalfds, &hd_io,
  // other processes, libraries
  &hd_instructions, &hd_membarriers, &hd_children, &hd_pidfds, &hd_shared_memory, &hd_loader,
  NULL,
};
