// heddle: The life of threads: joins with limits, detaching, attributes, names, stacks.
// kind: clean
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "say.h"

static sem_t go, there;

static void *waits(void *arg) {
  sem_post(&there);
  sem_wait(&go);
  return arg;
}
static void *ends(void *arg) { return arg; }

static void joins(void) {
  pthread_t t;
  static int mark;
  void *ret = NULL;
  struct timespec before = { .tv_sec = 1 }, soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  pthread_create(&t, NULL, waits, &mark);
  sem_wait(&there);
  SAY(pthread_join(pthread_self(), &ret));
  SAY(pthread_tryjoin_np(t, &ret));
  SAY(pthread_timedjoin_np(t, &ret, &before));
  SAY(pthread_timedjoin_np(t, &ret, &soon));
  SAY(pthread_clockjoin_np(t, &ret, CLOCK_MONOTONIC, &before));
  SAY(pthread_clockjoin_np(t, &ret, CLOCK_PROCESS_CPUTIME_ID, &before));
  SAY(pthread_kill(t, 0));
  sem_post(&go);
  soon.tv_sec += 1000;
  SAY(pthread_timedjoin_np(t, &ret, &soon));
  SAY(ret == &mark);
  pthread_create(&t, NULL, ends, &go);
  SAY(pthread_clockjoin_np(t, &ret, CLOCK_REALTIME, NULL));
  SAY(ret == &go);
  pthread_create(&t, NULL, ends, &there);
  usleep(50000); // until it has ended, mostly
  signal(SIGUSR1, SIG_IGN);
  SAY(pthread_kill(t, 0));
  SAY(pthread_kill(t, SIGUSR1));
  while (pthread_tryjoin_np(t, &ret) == EBUSY) sched_yield();
  SAY(ret == &there);
}

static void detached(void) {
  pthread_t t;
  pthread_attr_t a;
  int v = -1;
  pthread_create(&t, NULL, waits, NULL);
  sem_wait(&there);
  SAY(pthread_detach(t));
  SAY(pthread_detach(t));
  pthread_getattr_np(t, &a);
  pthread_attr_getdetachstate(&a, &v);
  SAY(v == PTHREAD_CREATE_DETACHED);
  pthread_attr_destroy(&a);
  sem_post(&go);
  SAY(pthread_attr_init(&a));
  SAY(pthread_attr_setdetachstate(&a, 17));
  SAY(pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED));
  MUST(pthread_create(&t, &a, waits, NULL));
  sem_wait(&there);
  SAY(pthread_detach(t));
  sem_post(&go);
  pthread_attr_destroy(&a);
  pthread_create(&t, NULL, ends, NULL); // it may end before or after
  SAY(pthread_detach(t));
}

// ---- stacks
static char *lo, *hi;
static void *on_stack(void *arg) {
  char here;
  pthread_attr_t a;
  void *addr;
  size_t size;
  int v;
  SAY(pthread_getattr_np(pthread_self(), &a));
  SAY(pthread_attr_getstack(&a, &addr, &size));
  SAY(&here >= (char *)addr && &here < (char *)addr + size);
  if (arg) SAY(&here >= lo && &here < hi);
  if (arg) SAY((char *)addr >= lo && (char *)addr + size <= hi);
  SAY(pthread_attr_getdetachstate(&a, &v));
  SAY(v == PTHREAD_CREATE_JOINABLE);
  SAY(pthread_attr_destroy(&a));
  return NULL;
}
static void *deep(void *arg) {
  volatile char big[24 << 20];
  for (size_t i = 0; i < sizeof big; i += 4096) big[i] = (char)i;
  big[sizeof big - 1] = 5;
  SAY(big[sizeof big - 1]);
  return arg;
}
static void stacks(void) {
  pthread_t t;
  pthread_attr_t a;
  size_t size = 0;
  on_stack(NULL); // main's
  pthread_create(&t, NULL, on_stack, NULL);
  pthread_join(t, NULL);
  pthread_attr_init(&a);
  SAY(pthread_attr_setstacksize(&a, 1000));
  SAY(pthread_attr_setstacksize(&a, 256 << 10));
  SAY(pthread_attr_getstacksize(&a, &size));
  SAY(size == 256 << 10);
  MUST(pthread_create(&t, &a, on_stack, NULL));
  pthread_join(t, NULL);
  SAY(pthread_attr_setstacksize(&a, 96 << 20));
  MUST(pthread_create(&t, &a, deep, NULL));
  pthread_join(t, NULL);
  for (int i = 0; i < 2; i++) {
    static char fixed[512 << 10] __attribute__((aligned(4096)));
    lo = i ? aligned_alloc(4096, sizeof fixed) : fixed;
    hi = lo + sizeof fixed;
    SAY(pthread_attr_setstack(&a, lo, sizeof fixed));
    MUST(pthread_create(&t, &a, on_stack, lo));
    SAY(pthread_join(t, NULL));
    if (i) free(lo);
  }
  pthread_attr_destroy(&a);
}

// ---- what can be asked for again
static void *label(void *arg) {
  char name[16];
  SAY(pthread_getname_np(pthread_self(), name, sizeof name));
  puts(name); // its parent's
  SAY(pthread_setname_np(pthread_self(), "worker"));
  SAY(pthread_getname_np(pthread_self(), name, sizeof name));
  puts(name);
  return arg;
}

static void attributes(void) {
  pthread_t t, self = pthread_self();
  char name[32];
  SAY(pthread_setname_np(self, "a name that is too long"));
  SAY(pthread_setname_np(self, "fifteen letters"));
  SAY(pthread_getname_np(self, name, 15));
  SAY(pthread_getname_np(self, name, sizeof name));
  puts(name);
  pthread_create(&t, NULL, label, NULL);
  pthread_join(t, NULL);
  SAY(pthread_getname_np(self, name, 16));
  puts(name);
  SAY(pthread_setname_np(self, ""));
  SAY(pthread_getname_np(self, name, 16));
  puts(name);

  cpu_set_t all, one, got;
  int cpu = 0;
  SAY(pthread_getaffinity_np(self, sizeof all, &all));
  while (!CPU_ISSET(cpu, &all)) cpu++;
  CPU_ZERO(&one);
  SAY(pthread_setaffinity_np(self, sizeof one, &one));
  CPU_SET(cpu, &one);
  SAY(pthread_setaffinity_np(self, sizeof one, &one));
  SAY(pthread_getaffinity_np(self, sizeof got, &got));
  SAY(CPU_EQUAL(&one, &got));
  SAY(sched_getaffinity(0, sizeof got, &got));
  SAY(CPU_EQUAL(&one, &got));
  SAY(sched_setaffinity(0, sizeof all, &all));
  SAY(pthread_getaffinity_np(self, sizeof got, &got));
  SAY(CPU_EQUAL(&all, &got));

  int policy = -1;
  struct sched_param p = { .sched_priority = 3 };
  SAY(pthread_getschedparam(self, &policy, &p));
  SAY(policy); SAY(p.sched_priority);
  p.sched_priority = 1;
  SAY(pthread_setschedparam(self, SCHED_OTHER, &p));
  SAY(pthread_setschedparam(self, 17, &p));
  p.sched_priority = 0;
  SAY(pthread_setschedparam(self, SCHED_FIFO, &p));
  SAY(pthread_setschedparam(self, SCHED_BATCH, &p));
  SAY(pthread_getschedparam(self, &policy, &p));
  SAY(policy); SAY(p.sched_priority);
  SAY(pthread_setschedprio(self, 5));
  SAY(pthread_setschedparam(self, SCHED_OTHER, &p));

  clockid_t clock;
  struct timespec ts;
  SAY(pthread_getcpuclockid(self, &clock));
  SAY(clock_gettime(clock, &ts));
  SAY(pthread_setconcurrency(-1));
  SAY(pthread_getconcurrency());
  SAY(pthread_setconcurrency(3));
  SAY(pthread_getconcurrency());
  SAY(pthread_atfork(NULL, NULL, NULL));
  SAY(pthread_equal(self, pthread_self()) != 0);
}

// ---- barriers, once
static pthread_barrier_t barrier;
static int serial;
static void *meets(void *arg) {
  for (int i = 0; i < 5; i++) {
    int r = pthread_barrier_wait(&barrier);
    if (r == PTHREAD_BARRIER_SERIAL_THREAD) __atomic_fetch_add(&serial, 1, __ATOMIC_SEQ_CST);
    else if (r) SAY(r);
  }
  return arg;
}
static void barriers(void) {
  pthread_t t[2];
  SAY(pthread_barrier_init(&barrier, NULL, 0));
  SAY(pthread_barrier_init(&barrier, NULL, 3));
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, meets, NULL);
  meets(NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  SAY(serial); // one of the threads in each round
  SAY(pthread_barrier_destroy(&barrier));
  SAY(pthread_barrier_init(&barrier, NULL, 1));
  SAY(pthread_barrier_wait(&barrier));
  SAY(pthread_barrier_destroy(&barrier));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int tries;
static void initialise(void) {
  if (++tries == 1) {
    sem_post(&there);
    sem_wait(&go); // it is cancelled here
  }
}
static void *runs_once(void *arg) {
  SAY(pthread_once(&once, initialise));
  return arg;
}
static void onces(void) {
  pthread_t t;
  pthread_create(&t, NULL, runs_once, NULL);
  sem_wait(&there);
  pthread_cancel(t);
  pthread_join(t, NULL);
  runs_once(NULL);
  runs_once(NULL);
  SAY(tries);
}

// main ends by pthread_exit; the process ends with the last thread, with status 0.
static void *outlives(void *arg) {
  struct timespec t = { .tv_nsec = 30000000 };
  nanosleep(&t, NULL);
  puts("the last thread");
  return arg;
}
static void at_exit(void) { puts("exit handler"); }

int main(void) {
  sem_init(&go, 0, 0);
  sem_init(&there, 0, 0);
  joins();
  detached();
  stacks();
  attributes();
  barriers();
  onces();
  atexit(at_exit);
  pthread_t t;
  pthread_create(&t, NULL, outlives, NULL);
  pthread_exit((void *)3);
}
