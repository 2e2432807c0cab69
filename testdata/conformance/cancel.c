// heddle: Cancellation: where it is acted on, in what order handlers run, and what they find.
// kind: clean
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "say.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, never = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem, ready;
static pthread_t sleeper;

static void say(void *arg) { printf("handler %s\n", (const char *)arg); }
static void unlock(void *arg) {
  (void)arg;
  printf("handler unlock\n");
  SAY(pthread_mutex_unlock(&lock)); // an error-checking mutex says whether it is held
}

static void *in_cond(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(say, "outer");
  pthread_cleanup_push(unlock, NULL);
  sem_post(&ready);
  for (;;) pthread_cond_wait(&cond, &lock);
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(1);
  return NULL;
}
static void *in_timed_cond(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(unlock, NULL);
  sem_post(&ready);
  struct timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  pthread_cond_timedwait(&cond, &lock, &late);
  pthread_cleanup_pop(1);
  return NULL;
}
static void *in_sem(void *arg) {
  (void)arg;
  pthread_cleanup_push(say, "sem");
  sem_post(&ready);
  sem_wait(&sem);
  pthread_cleanup_pop(0);
  return NULL;
}
static void *in_timed_sem(void *arg) {
  (void)arg;
  struct timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  pthread_cleanup_push(say, "timed sem");
  sem_post(&ready);
  sem_timedwait(&sem, &late);
  pthread_cleanup_pop(0);
  return NULL;
}
static void *in_join(void *arg) {
  (void)arg;
  pthread_cleanup_push(say, "join");
  sem_post(&ready);
  pthread_join(sleeper, NULL);
  pthread_cleanup_pop(0);
  return NULL;
}
static void *in_sleep(void *arg) {
  (void)arg;
  pthread_cleanup_push(say, "sleep");
  sem_post(&ready);
  for (;;) sleep(1000);
  pthread_cleanup_pop(0);
  return NULL;
}
static void *in_sigwait(void *arg) {
  (void)arg;
  sigset_t set;
  int sig;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_cleanup_push(say, "sigwait");
  sem_post(&ready);
  sigwait(&set, &sig);
  pthread_cleanup_pop(0);
  return NULL;
}
static void *in_test(void *arg) {
  (void)arg;
  pthread_cleanup_push(say, "test");
  sem_post(&ready);
  for (;;) pthread_testcancel();
  pthread_cleanup_pop(0);
  return NULL;
}
static void *in_async(void *arg) {
  (void)arg;
  int old;
  SAY(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old));
  SAY(old);
  pthread_cleanup_push(say, "async");
  sem_post(&ready);
  pthread_mutex_lock(&never); // no cancellation point, but with this type everything is one
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancelled(const char *name, void *(*fn)(void *)) {
  printf("== %s\n", name);
  pthread_t t;
  void *ret;
  pthread_create(&t, NULL, fn, NULL);
  sem_wait(&ready);
  int asked = pthread_cancel(t); // told when the thread has ended: it prints, too
  SAY(pthread_join(t, &ret));
  SAY(asked);
  SAY(ret == PTHREAD_CANCELED);
}

// ---- what is not cancelled
static void *disabled(void *arg) {
  int old = -1;
  SAY(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old)); SAY(old);
  SAY(pthread_setcancelstate(17, &old));
  SAY(pthread_setcanceltype(17, &old));
  sem_post(&ready);
  sem_wait(&sem); // the request has come
  struct timespec t = { .tv_nsec = 1000 };
  SAY(nanosleep(&t, NULL));
  pthread_testcancel();
  SAY(pthread_mutex_lock(&lock));
  SAY(pthread_mutex_unlock(&lock));
  if (arg) {
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old); // printing may be a cancellation point
    pthread_testcancel();
    puts("not reached");
  }
  return (void *)7;
}
static void not_cancelled(void *arg) {
  printf("== disabled\n");
  pthread_t t;
  void *ret;
  pthread_create(&t, NULL, disabled, arg);
  sem_wait(&ready);
  SAY(pthread_cancel(t));
  SAY(pthread_cancel(t)); // twice is once; it waits for what comes now
  sem_post(&sem);
  SAY(pthread_join(t, &ret));
  SAY(ret == PTHREAD_CANCELED);
}

static void *itself(void *arg) {
  pthread_cleanup_push(say, "itself");
  pthread_cancel(pthread_self()); // nothing is printed from here on: that may be a cancellation point
  if (arg) {
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    puts("not reached");
    fflush(stdout);
  }
  pthread_mutex_lock(&lock); // no cancellation point
  pthread_mutex_unlock(&lock);
  sem_wait(&sem);
  pthread_cleanup_pop(0);
  return NULL;
}

// Handlers run before destructors of keys; a cancellation point in a handler is none.
static pthread_key_t key;
static void destroy(void *v) { printf("key %s\n", (const char *)v); }
static void wait_more(void *arg) {
  say(arg);
  struct timespec t = { .tv_nsec = 1000 };
  SAY(nanosleep(&t, NULL));
  pthread_testcancel();
}
static void *with_key(void *arg) {
  (void)arg;
  pthread_setspecific(key, "value");
  pthread_cleanup_push(wait_more, "waits");
  pthread_cleanup_push_defer_np(say, "deferred");
  sem_post(&ready);
  sem_wait(&sem);
  pthread_cleanup_pop_restore_np(0);
  pthread_cleanup_pop(0);
  return NULL;
}
static void *with_exit(void *arg) {
  pthread_setspecific(key, "exit");
  pthread_cleanup_push(say, "exit");
  pthread_exit(arg);
  pthread_cleanup_pop(0);
  return NULL;
}

static void *ends(void *arg) { return arg; }

int main(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&lock, &a);
  pthread_mutex_lock(&never);
  sem_init(&sem, 0, 0);
  sem_init(&ready, 0, 0);
  cancelled("condition", in_cond);
  cancelled("timed condition", in_timed_cond);
  cancelled("semaphore", in_sem);
  cancelled("timed semaphore", in_timed_sem);
  pthread_create(&sleeper, NULL, in_sleep, NULL);
  sem_wait(&ready);
  cancelled("join", in_join);
  int asked = pthread_cancel(sleeper);
  SAY(pthread_join(sleeper, NULL)); // nobody has joined it
  SAY(asked);
  cancelled("sleep", in_sleep);
  cancelled("sigwait", in_sigwait);
  cancelled("test", in_test);
  cancelled("async", in_async);
  not_cancelled(NULL);
  not_cancelled("then enabled");
  pthread_t t;
  void *ret;
  for (int async = 0; async < 2; async++) {
    printf("== itself\n");
    pthread_create(&t, NULL, itself, async ? "" : NULL);
    SAY(pthread_join(t, &ret));
    SAY(ret == PTHREAD_CANCELED);
  }
  pthread_key_create(&key, destroy);
  cancelled("keys", with_key);
  printf("== exit\n");
  pthread_create(&t, NULL, with_exit, &key);
  SAY(pthread_join(t, &ret));
  SAY(ret == &key);
  printf("== ended\n");
  pthread_create(&t, NULL, ends, NULL);
  while (pthread_tryjoin_np(t, NULL) == EBUSY) ;
  pthread_create(&t, NULL, ends, NULL);
  struct timespec ms = { .tv_nsec = 20000000 };
  nanosleep(&ms, NULL);
  SAY(pthread_cancel(t));
  SAY(pthread_join(t, NULL));
  return 0;
}
