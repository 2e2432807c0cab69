// once: Workers continue until main has slept for a minute; another waits for them, asleep or not.
#include "rest.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int stop, done;

static void *worker(void *arg) {
  while (!atomic_load(&stop)) atomic_fetch_add(&done, 1);
  return arg;
}

static void *watcher(void *arg) {
  while (!atomic_load(&stop)) rest();
  return arg;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, worker, NULL);
  pthread_create(&t[1], NULL, watcher, NULL);
  sleep(60);
  atomic_store(&stop, 1);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}
