// heddle: Three stations hand a token round; each counts the hop before it passes the token on.
// kind: clean
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
  token.hops++;
  sem_post(&turn[(me + 1) % STATIONS]);
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
