// heddle: The owner of a work-stealing deque takes the last task without settling with the thief, so both can run it.
// kind: assertion
// finding: times_run == 0
// minimum: switches=3 preemptions=1
// why: The thief reads both ends before the owner takes the last task and moves `top` after it:
//   thief, owner, thief, with main before them. Atomics never block, so the thief is enabled
//   where it is left. The owner alone leads nowhere: once it has lowered `bottom`, a thief that
//   starts to look finds nothing.
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
  if (t <= b) return deque.task[b];
  atomic_store(&deque.bottom, b + 1);
  return -1;
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
// cause: deque.bottom: atomic_store(&deque.bottom, b) | b = atomic_load(&deque.bottom);
