// heddle: A detached thread for each of 5,000 requests, eight at a time; each finds its thread-local storage fresh, whoever had the slot before.
// kind: clean
// executions: few
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#ifndef TASKS
#define TASKS 5000
#endif
enum { AT_ONCE = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t room, done;
static int total;
static __thread int mine = 7;
static pthread_key_t key;

static void leave(void *arg) { *(int *)arg += 1; sem_post(&room); sem_post(&done); }

static void *serve(void *arg) {
  assert(mine == 7 && !pthread_getspecific(key));
  mine = 8;
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
  pthread_setspecific(key, arg);
  return NULL;
}

static int left[TASKS];

int main(void) {
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  pthread_key_create(&key, leave);
  sem_init(&room, 0, AT_ONCE);
  sem_init(&done, 0, 0);
  for (int n = 0; n < TASKS; n++) {
    pthread_t id;
    sem_wait(&room);
    pthread_create(&id, &attr, serve, &left[n]);
  }
  for (int n = 0; n < TASKS; n++) sem_wait(&done);
  int sum = 0;
  for (int n = 0; n < TASKS; n++) sum += left[n];
  assert(total == TASKS && sum == TASKS);
  return 0;
}
