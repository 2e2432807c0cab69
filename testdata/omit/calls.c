// Every call that can be left out, in a function of its own.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER, recursive;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t sem, ready, gate;
static pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;
static volatile int n; // two reads are two
static int atomically, half[2];

static void add(void) {
  int v = n;
  n = v + 1;
}

static void in_two_minutes(struct timespec *t, int clock) {
  clock_gettime(clock, t);
  t->tv_sec += 120;
}

static void *mutex(void *arg) {
  pthread_mutex_lock(&m); // needed mutex: pthread_mutex_lock
  add();
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&other); // spare mutex: pthread_mutex_lock
  __atomic_fetch_add(&atomically, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&other);
  return arg;
}

static void *trylock(void *arg) {
  while (pthread_mutex_trylock(&m)) sched_yield(); // needed trylock: pthread_mutex_trylock
  add();
  pthread_mutex_unlock(&m);
  return arg;
}

static void *timedlock(void *arg) {
  struct timespec t;
  in_two_minutes(&t, CLOCK_REALTIME);
  if (pthread_mutex_timedlock(&m, &t) == 0) { // needed timedlock: pthread_mutex_timedlock
    add();
    pthread_mutex_unlock(&m);
  } else {
    abort();
  }
  return arg;
}

static void *clocklock(void *arg) {
  struct timespec t;
  in_two_minutes(&t, CLOCK_MONOTONIC);
  if (pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &t)) abort(); // needed clocklock: pthread_mutex_clocklock
  add();
  pthread_mutex_unlock(&m);
  return arg;
}

// What is let go belongs to the lock that was taken last.
static void *nested(void *arg) {
  pthread_mutex_lock(&recursive); // needed nested: pthread_mutex_lock
  int v = n;
  pthread_mutex_lock(&recursive); // spare nested: pthread_mutex_lock
  atomically++;
  pthread_mutex_unlock(&recursive);
  n = v + 1;
  pthread_mutex_unlock(&recursive);
  return arg;
}

static void *rwlock(void *arg) {
  pthread_rwlock_rdlock(&rw); // spare rwlock: pthread_rwlock_rdlock
  int first = half[0];
  pthread_rwlock_unlock(&rw);
  pthread_rwlock_wrlock(&rw); // needed rwlock: pthread_rwlock_wrlock
  add();
  pthread_rwlock_unlock(&rw);
  pthread_rwlock_rdlock(&rw); // needed rwlock: pthread_rwlock_rdlock
  int one = n, two = n;
  pthread_rwlock_unlock(&rw);
  assert(one == two && first == 0);
  return arg;
}

static void *tryrwlock(void *arg) {
  while (pthread_rwlock_trywrlock(&rw)) sched_yield(); // needed tryrwlock: pthread_rwlock_trywrlock
  add();
  pthread_rwlock_unlock(&rw);
  while (pthread_rwlock_tryrdlock(&rw)) sched_yield(); // needed tryrwlock: pthread_rwlock_tryrdlock
  int one = n, two = n;
  pthread_rwlock_unlock(&rw);
  assert(one == two);
  return arg;
}

static void *spinlock(void *arg) {
  pthread_spin_lock(&spin); // needed spinlock: pthread_spin_lock
  add();
  pthread_spin_unlock(&spin);
  return arg;
}

static void *spintry(void *arg) {
  while (pthread_spin_trylock(&spin)) sched_yield(); // needed spintry: pthread_spin_trylock
  add();
  pthread_spin_unlock(&spin);
  return arg;
}

// A semaphore as a lock: the post belongs to the wait.
static void *semaphore(void *arg) {
  sem_wait(&sem); // needed semaphore: sem_wait
  add();
  sem_post(&sem);
  while (sem_trywait(&sem)) sched_yield(); // needed semaphore: sem_trywait
  int one = n, two = n;
  sem_post(&sem);
  assert(one == two);
  return arg;
}

static void *semtimed(void *arg) {
  struct timespec t;
  in_two_minutes(&t, CLOCK_REALTIME);
  if (sem_timedwait(&sem, &t)) abort(); // needed semtimed: sem_timedwait
  add();
  sem_post(&sem);
  in_two_minutes(&t, CLOCK_MONOTONIC);
  if (sem_clockwait(&sem, CLOCK_MONOTONIC, &t)) abort(); // needed semtimed: sem_clockwait
  int one = n, two = n;
  sem_post(&sem);
  assert(one == two);
  return arg;
}

// And as a count of what is there.
static void *handover(void *arg) {
  if (arg) {
    n = 2;
    sem_post(&ready); // needed handover: sem_post
  } else {
    sem_wait(&ready); // needed handover: sem_wait
    assert(n == 2);
  }
  sem_post(&gate); // spare handover: sem_post
  return arg;
}

static void *rendezvous(void *arg) {
  int me = arg != NULL;
  half[me] = 1;
  pthread_barrier_wait(&barrier); // needed rendezvous: pthread_barrier_wait
  assert(half[!me] == 1);
  pthread_barrier_wait(&barrier); // spare rendezvous: pthread_barrier_wait
  __atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST);
  return arg;
}

static void *condition(void *arg) {
  pthread_mutex_lock(&m); // needed condition: pthread_mutex_lock
  if (arg) {
    n = 2;
    pthread_cond_signal(&c); // needed condition: pthread_cond_signal
    pthread_cond_broadcast(&nobody); // spare condition: pthread_cond_broadcast
  } else {
    while (n == 0) pthread_cond_wait(&c, &m);
  }
  pthread_mutex_unlock(&m);
  return arg;
}

static void *broadcast(void *arg) {
  pthread_mutex_lock(&m);
  if (arg) {
    n = 2;
    pthread_cond_broadcast(&c); // needed broadcast: pthread_cond_broadcast
  } else {
    while (n == 0) pthread_cond_wait(&c, &m);
  }
  pthread_mutex_unlock(&m);
  return arg;
}

int main(int argc, char **argv) {
  static const struct { const char *name; void *(*run)(void *); } scenarios[] = {
    { "mutex", mutex }, { "trylock", trylock }, { "timedlock", timedlock }, { "clocklock", clocklock },
    { "nested", nested }, { "rwlock", rwlock }, { "tryrwlock", tryrwlock }, { "spinlock", spinlock },
    { "spintry", spintry }, { "semaphore", semaphore }, { "semtimed", semtimed }, { "handover", handover },
    { "rendezvous", rendezvous }, { "condition", condition }, { "broadcast", broadcast }, { "join", mutex },
  };
  void *(*run)(void *) = NULL;
  for (unsigned i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
    if (argc == 2 && strcmp(argv[1], scenarios[i].name) == 0) run = scenarios[i].run;
  if (!run) return 2;
  pthread_mutexattr_t attr;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attr);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&barrier, NULL, 2);
  sem_init(&sem, 0, 1);
  sem_init(&ready, 0, 0);
  sem_init(&gate, 0, 0);
  pthread_t a, b;
  pthread_create(&a, NULL, run, NULL);
  pthread_create(&b, NULL, run, &attr);
  void *ret = &attr;
  pthread_join(a, &ret); // needed join: pthread_join
  pthread_join(b, NULL);
  assert(n == 2);
}
