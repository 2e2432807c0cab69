// heddle: Two clerks sell seats; looking whether one is free and taking it are two critical sections, so the last seat is sold twice.
// kind: assertion
// finding: seats_free >= 0
// minimum: switches=3 preemptions=1
// why: Both clerks must look while the last seat is free, and the second taker fails. So the
//   clerk that fails is preempted between check and take, and continues after the other has
//   taken: clerk, clerk, clerk, with main before them. Between the two critical sections the
//   clerk that is left waits for nothing, since the lock is free.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats_free = 1;
static int tickets[2];

static int seat_is_free(void) {
  pthread_mutex_lock(&lock);
  int yes = seats_free > 0;
  pthread_mutex_unlock(&lock);
  return yes;
}

static void take_seat(int clerk) {
  pthread_mutex_lock(&lock);
  seats_free--;
  tickets[clerk]++;
  assert(seats_free >= 0);
  pthread_mutex_unlock(&lock);
}

static void *clerk(void *arg) {
  int me = *(const int *)arg;
  if (seat_is_free()) take_seat(me);
  return NULL;
}

int main(void) {
  static const int ids[2] = {0, 1};
  pthread_t clerks[2];
  for (int i = 0; i < 2; i++) pthread_create(&clerks[i], NULL, clerk, (void *)&ids[i]);
  for (int i = 0; i < 2; i++) pthread_join(clerks[i], NULL);
  return 0;
}
// cause: seats_free: seats_free > 0 | seats_free--
