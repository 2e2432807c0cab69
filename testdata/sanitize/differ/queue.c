// heddle: threads take tasks from a queue under a lock: the program is free of races, but which
//   thread takes a task depends on the schedule, so it is not pseudo-deterministic.
// kind: clean
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 6, THREADS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_task;
static long results[TASKS];

static void *work(void *arg) {
  for (;;) {
    pthread_mutex_lock(&lock);
    int task = next_task < TASKS ? next_task++ : -1;
    pthread_mutex_unlock(&lock);
    if (task < 0) return arg;
    results[task] = (long)task * task;
  }
}

int main(void) {
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, work, NULL);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  long sum = 0;
  for (int i = 0; i < TASKS; i++) sum += results[i];
  printf("%ld\n", sum);
  return 0;
}
