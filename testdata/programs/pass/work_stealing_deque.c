// heddle: The owner of a work-stealing deque claims the last task by moving `top`, as a thief does, so one of them gets it.
// kind: clean
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define TASKS 3

static struct {
  _Atomic int top;     // thieves take here
  _Atomic int bottom;  // the owner puts and takes here
  int task[TASKS];
} deque;

static _Atomic unsigned char runs[TASKS];

static void run(int task) {
  int times_run = atomic_fetch_add(&runs[task], 1);
  assert(times_run == 0);
}

static void push(int task) {
  int b = atomic_load(&deque.bottom);
  deque.task[b] = task;
  atomic_store(&deque.bottom, b + 1);
}

static int take(void) {
  int b = atomic_load(&deque.bottom) - 1;
  atomic_store(&deque.bottom, b);
  int t = atomic_load(&deque.top);
  if (t < b) return deque.task[b];
  int task = t == b && atomic_compare_exchange_strong(&deque.top, &t, t + 1) ? deque.task[b] : -1;
  atomic_store(&deque.bottom, b + 1);
  return task;
}

static int steal(void) {
  int t = atomic_load(&deque.top);
  int b = atomic_load(&deque.bottom);
  if (t >= b) return -1;
  int task = deque.task[t];
  return atomic_compare_exchange_strong(&deque.top, &t, t + 1) ? task : -1;
}

static void *owner(void *arg) {
  int task;
  (void)arg;
  while ((task = take()) >= 0) run(task);
  return NULL;
}

static void *thief(void *arg) {
  (void)arg;
  int task = steal();
  if (task >= 0) run(task);
  return NULL;
}

int main(void) {
  pthread_t o, t;
  for (int i = 0; i < TASKS; i++) push(i);
  pthread_create(&o, NULL, owner, NULL);
  pthread_create(&t, NULL, thief, NULL);
  pthread_join(o, NULL);
  pthread_join(t, NULL);
  return 0;
}
