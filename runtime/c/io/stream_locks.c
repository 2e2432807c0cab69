// stream_locks.c: the locks of stdio streams, for programs that acquire them with flockfile. libc's own lie inside its
// functions, where no other thread could run, so each stream has a mutex of the runtime's in its place: flockfile acquires
// it, and so does every function of stdio that acquires the stream's lock.
//
// Whether a call on a stream is a scheduling point must not depend on what other threads have done. So it is one in all
// executions of a program that refers to flockfile, and in none of others.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include "core/libc.h"
#include "core/modules.h"
#include "core/outcome.h"
#include "core/registration.h"
#include "core/rings.h"
#include "core/run.h"
#include "core/sched.h"
#include "sync/sync.h"
#include "io/stdio.h"

enum { BY_CALLER = 0x8000 /* libc's _flags: __fsetlocking */ };
static const char *const functions[] = { "flockfile", "ftrylockfile", "funlockfile", NULL };
static bool locked;                          // the program locks streams
static const FILE *streams[HD_STREAM_LOCKS]; // NULL: free
static uint32_t nstreams;                    // slots that were ever used

static void save(void) { locked = hd_program_refers(functions); }

static void begin(void) {
  for (uint32_t i = 0; i < nstreams; i++) streams[i] = NULL;
  nstreams = 0;
}

static bool name_taken(uint64_t name) {
  for (uint32_t i = 0; i < nstreams; i++)
    if (streams[i] && hd_stream_lock_names[i] == name) return true;
  return false;
}

static uint64_t name_of(const FILE *f) {
  uint64_t fd = (uint64_t)f->_fileno % HD_FD_NUMBERS, number = f != stdin && f != stdout && f != stderr;
  uint64_t name = 1ull << HD_FD_OBJECT_BIT | (uint64_t)HD_FD_STREAM << HD_FD_KIND_SHIFT | fd << HD_FD_SHIFT;
  while (name_taken(name + number)) number++;
  return name + number;
}

void *hd_stream_lock(const void *stream) {
  static const pthread_mutex_t free = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  const FILE *f = stream;
  if (!locked || !f || f->_flags & BY_CALLER) return NULL;
  uint32_t i = 0, unused = nstreams;
  while (i < nstreams && streams[i] != f) {
    if (!streams[i]) unused = i;
    i++;
  }
  if (i < nstreams) return &hd_stream_locks[i];
  if (unused == HD_STREAM_LOCKS) hd_unsupported("more than 256 stdio streams at a time in a program that locks streams");
  hd_stream_lock_names[unused] = name_of(f);
  hd_stream_locks[unused] = free;
  hd_renamed = true;
  streams[unused] = f;
  if (unused == nstreams) nstreams++;
  return &hd_stream_locks[unused];
}

static void pass(void *lock, uint64_t pc) {
  hd_mutex_lock(lock, pc, HD_OP_MUTEX_LOCK, NULL);
  hd_mutex_unlock(lock, pc);
}

void hd_stream_closes(const void *f, uint64_t pc) {
  uint32_t i = 0;
  while (i < nstreams && streams[i] != f) i++;
  if (i == nstreams) return;
  uint64_t lock = (uint64_t)&hd_stream_locks[i];
  if (hd_stream_lock(f)) pass((void *)lock, pc);
  if (hd_waited_for(lock, hd.cur, HD_OP_MUTEX_LOCK)) hd_misuse(pc, lock, "fclose of a stream that another thread waits for");
  streams[i] = NULL;
}

void hd_stream_locks_pass(uint64_t pc) {
  for (uint32_t i = 0; i < nstreams; i++)
    if (streams[i] && hd_stream_lock(streams[i])) pass(&hd_stream_locks[i], pc);
}

// ---- the program's calls
static void *lock_of(FILE *f, const char *function, uint64_t pc) {
  hd.cur->pend.pc = pc;
  if (!locked) hd_unsupported(hd_text("%s in a library that dlopen has loaded (link the program with it instead)", function));
  void *modelled = hd_stdio_lock(f, pc);
  return modelled ? modelled : hd_stream_lock(f);
}

HD_INTERPOSE(void, flockfile, (FILE *f), (f)) {
  void *lock = lock_of(f, "flockfile", HD_RA);
  if (lock) hd_mutex_lock(lock, HD_RA, HD_OP_MUTEX_LOCK, NULL);
}
HD_INTERPOSE(int, ftrylockfile, (FILE *f), (f)) {
  void *lock = lock_of(f, "ftrylockfile", HD_RA);
  return lock ? hd_mutex_trylock(lock, HD_RA) : 0;
}
HD_INTERPOSE(void, funlockfile, (FILE *f), (f)) {
  void *lock = lock_of(f, "funlockfile", HD_RA);
  if (!lock) return;
  if (!hd_mutex_held((uint64_t)lock, hd.cur))
    hd_misuse(HD_RA, (uint64_t)lock, hd_mutex_free((uint64_t)lock) ? "funlockfile of a stream that is not locked" : "funlockfile of a stream that another thread has locked");
  hd_mutex_unlock(lock, HD_RA);
}

const struct hd_registration hd_streams_locked = { .save = save, .begin = begin };
