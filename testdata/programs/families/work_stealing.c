// A work-stealing deque: its owner puts tasks in and takes them from the same end, and THIEVES take
// them from the other end. With SEEDED, the owner does not settle with the thieves who gets the last
// task. TASKS is the number of tasks.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef TASKS
#define TASKS 4
#endif
#ifndef THIEVES
#define THIEVES 2
#endif

static struct {
  _Atomic int top;     // thieves take here
  _Atomic int bottom;  // the owner puts and takes here
  _Atomic int task[TASKS];
} deque;

static _Atomic unsigned char runs[TASKS];

static void run(int task) {
  int times_run = atomic_fetch_add(&runs[task], 1);
  assert(times_run == 0);
}

static void put(int task) {
  int b = atomic_load(&deque.bottom);
  atomic_store(&deque.task[b], task);
  atomic_store(&deque.bottom, b + 1);
}

static int take(void) {
  int b = atomic_load(&deque.bottom) - 1;
  atomic_store(&deque.bottom, b);
  int t = atomic_load(&deque.top);
  if (t > b) {
    atomic_store(&deque.bottom, b + 1);
    return -1;
  }
  int task = atomic_load(&deque.task[b]);
#ifndef SEEDED
  if (t == b) {
    if (!atomic_compare_exchange_strong(&deque.top, &t, t + 1)) task = -1;
    atomic_store(&deque.bottom, b + 1);
  }
#endif
  return task;
}

static int steal(void) {
  int t = atomic_load(&deque.top);
  int b = atomic_load(&deque.bottom);
  if (t >= b) return -1;
  int task = atomic_load(&deque.task[t]);
  return atomic_compare_exchange_strong(&deque.top, &t, t + 1) ? task : -1;
}

static void *thief(void *arg) {
  (void)arg;
  for (int i = 0; i < 2; i++) {
    int task = steal();
    if (task >= 0) run(task);
  }
  return NULL;
}

int main(void) {
  pthread_t thieves[THIEVES];
  for (int i = 0; i < THIEVES; i++) pthread_create(&thieves[i], NULL, thief, NULL);
  for (int i = 0; i < TASKS; i++) put(i);
  for (int task; (task = take()) >= 0;) run(task);
  for (int i = 0; i < THIEVES; i++) pthread_join(thieves[i], NULL);
  return 0;
}
