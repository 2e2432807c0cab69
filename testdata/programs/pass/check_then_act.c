// heddle: Two clerks sell seats; looking whether one is free and taking it are one critical section.
// kind: clean
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats_free = 1;
static int tickets[2];

static void take_seat_if_free(int clerk) {
  pthread_mutex_lock(&lock);
  if (seats_free > 0) {
    seats_free--;
    tickets[clerk]++;
  }
  assert(seats_free >= 0);
  pthread_mutex_unlock(&lock);
}

static void *clerk(void *arg) {
  take_seat_if_free(*(const int *)arg);
  return NULL;
}

int main(void) {
  static const int ids[2] = {0, 1};
  pthread_t clerks[2];
  for (int i = 0; i < 2; i++) pthread_create(&clerks[i], NULL, clerk, (void *)&ids[i]);
  for (int i = 0; i < 2; i++) pthread_join(clerks[i], NULL);
  assert(tickets[0] + tickets[1] == 1);
  return 0;
}
