// heddle: Three stations hand a token round; each counts the hop after it has passed the token on, when the next one may already be reading it.
// kind: assertion
// finding: token.hops == me
// minimum: switches=2 preemptions=1
// why: Some station has posted its neighbour's semaphore and not yet counted the hop when the
//   neighbour reads: poster, then neighbour, and main before both. The poster is left before a
//   plain access, where it is enabled. The first station's first hop is enough.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#define STATIONS 3

static struct {
  int hops;
  int last_holder;
} token;

static sem_t turn[STATIONS];

static void *station(void *arg) {
  int me = (int)((sem_t *)arg - turn);
  sem_wait(&turn[me]);
  assert(token.hops == me);
  token.last_holder = me;
  sem_post(&turn[(me + 1) % STATIONS]);
  token.hops++;
  return NULL;
}

int main(void) {
  pthread_t stations[STATIONS];
  for (int i = 0; i < STATIONS; i++) sem_init(&turn[i], 0, i == 0);
  for (int i = 0; i < STATIONS; i++) pthread_create(&stations[i], NULL, station, &turn[i]);
  for (int i = 0; i < STATIONS; i++) pthread_join(stations[i], NULL);
  for (int i = 0; i < STATIONS; i++) sem_destroy(&turn[i]);
  return 0;
}
// cause: token.hops: token.hops++ | token.hops == me
