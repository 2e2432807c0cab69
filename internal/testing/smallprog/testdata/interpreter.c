// interpreter.c executes a small program (package smallprog), whose text form is its arguments.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORDS = 2, MUTEXES = 2, THREADS = 4, NOTES = 64 };

static union word { uint32_t whole; uint8_t bytes[4]; } words[WORDS];
static pthread_mutex_t mutexes[MUTEXES] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_cond_t conds[MUTEXES] = { PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER };
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int event, ends[2];
static int leaves;
static const char *text[THREADS];

static pthread_t handles[THREADS];
static char notes[THREADS][NOTES];
static int noted[THREADS];
static unsigned joined; // by main
static int shown;
static __thread int target; // of the once

// What is not the program's own is not instrumented, and so does not change the comparison.
#define PLAIN __attribute__((no_sanitize("thread"), noinline))

PLAIN static void put(int me, char c) { if (noted[me] < NOTES - 1) notes[me][noted[me]++] = c; }

PLAIN static int note(int me, uint32_t v) {
  char digits[8];
  int n = 0;
  do digits[n++] = "0123456789abcdef"[v % 16]; while (v /= 16);
  while (n) put(me, digits[--n]);
  put(me, ',');
  return 1;
}

PLAIN static void show(void) {
  if (shown) return;
  shown = 1;
  for (int t = 0; t < THREADS; t++) {
    if (!text[t] || !(t == 0 || joined >> t & 1 || leaves)) continue;
    putchar('0' + t);
    putchar(':');
    for (int i = 0; i < noted[t]; i++) putchar(notes[t][i]);
    putchar(';');
  }
  putchar('\n');
}

PLAIN static void join_noted(int me, int t) { if (me == 0) joined |= 1u << t; }

static void initialise(void) { __atomic_add_fetch(&words[target].whole, 4, __ATOMIC_SEQ_CST); }

static void *run(void *arg) {
  int me = (int)(intptr_t)arg;
  int held[MUTEXES] = { 0 }, rw = 0, has[THREADS] = { 0 };
  for (const char *p = text[me]; *p; p += 3) {
    int o = p[1] - '0', v = p[2] - '0';
    uint32_t *w = &words[o].whole;
    switch (*p) {
    case 'l': note(me, __atomic_load_n(w, __ATOMIC_SEQ_CST)); break;
    case 's': __atomic_store_n(w, v, __ATOMIC_SEQ_CST); break;
    case 'a': note(me, __atomic_add_fetch(w, 1, __ATOMIC_SEQ_CST)); break;
    case 'x': { uint32_t old = 0; note(me, __atomic_compare_exchange_n(w, &old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); break; }
    case 'b': __atomic_store_n(&words[o].bytes[1], v, __ATOMIC_SEQ_CST); break;
    case 'q': if (__atomic_load_n(w, __ATOMIC_SEQ_CST) == (uint32_t)v) abort(); break;
    case 'L': if (!held[o]) { pthread_mutex_lock(&mutexes[o]); held[o] = 1; } break;
    case 'T': if (!held[o]) { held[o] = pthread_mutex_trylock(&mutexes[o]) == 0; note(me, held[o]); } break;
    case 'U': if (held[o]) { pthread_mutex_unlock(&mutexes[o]); held[o] = 0; } break;
    case 'R': if (!rw) { pthread_rwlock_rdlock(&rwlock); rw = 1; } break;
    case 'r': if (!rw) { rw = pthread_rwlock_tryrdlock(&rwlock) == 0; note(me, rw); } break;
    case 'W': if (!rw) { pthread_rwlock_wrlock(&rwlock); rw = 1; } break;
    case 'w': if (!rw) { rw = pthread_rwlock_trywrlock(&rwlock) == 0; note(me, rw); } break;
    case 'u': if (rw) { pthread_rwlock_unlock(&rwlock); rw = 0; } break;
    case 'C': if (held[o]) pthread_cond_wait(&conds[o], &mutexes[o]); break;
    case 'S': pthread_cond_signal(&conds[o]); break;
    case 'B': pthread_cond_broadcast(&conds[o]); break;
    case 'D': sem_wait(&semaphore); break;
    case 'd': note(me, sem_trywait(&semaphore) == 0); break;
    case 'P': sem_post(&semaphore); break;
    case 'c': { int n; sem_getvalue(&semaphore, &n); note(me, n); break; }
    case 'A': note(me, pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD); break;
    case 'O': target = o; pthread_once(&once, initialise); break;
    case 'g': pthread_create(&handles[v], 0, run, (void *)(intptr_t)v); break;
    case 'j': if (!has[v]) { pthread_join(handles[v], 0); has[v] = 1; join_noted(me, v); } break;
    case 't':
      if (has[v]) break;
      has[v] = pthread_tryjoin_np(handles[v], 0) == 0;
      note(me, has[v]);
      if (has[v]) join_noted(me, v);
      break;
    case 'e': exit(3);
    case 'f': note(me, syscall(SYS_futex, w, FUTEX_WAIT_PRIVATE, v, 0, 0, 0) == 0); break;
    case 'F': syscall(SYS_futex, w, FUTEX_WAKE_PRIVATE, v == 1 ? 100 : 1, 0, 0, 0); break;
    case 'v': { uint64_t one = 1; if (write(event, &one, 8) != 8) _exit(9); break; }
    case 'V': { uint64_t n; if (read(event, &n, 8) != 8) _exit(9); note(me, (uint32_t)n); break; }
    case 'i': if (write(ends[1], "x", 1) != 1) _exit(9); break;
    case 'I': { char c; if (read(ends[0], &c, 1) != 1) _exit(9); break; }
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  sem_init(&semaphore, 0, argv[1][0] - '0');
  pthread_barrier_init(&barrier, 0, argv[1][1] - '0');
  leaves = argv[1][2] == '1';
  int all = 0;
  for (int t = 0; t < argc - 2; t++) { text[t] = argv[t + 2] + 1; all |= !!strpbrk(text[t], "vViI"); }
  if (all) {
    event = eventfd(0, 0);
    if (pipe(ends)) return 9;
  }
  if (leaves) atexit(show);
  run(0);
  if (leaves) pthread_exit(0);
  show();
  return 0;
}
