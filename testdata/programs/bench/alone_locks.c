// heddle: two threads lock and unlock, mostly a mutex of their own, sometimes a common one. Measures what locks cost without heddle.
// kind: clean
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t own[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER;
static long counts[2], total;
static int rounds = 3;

static void *count(void *arg) {
  int me = arg != counts;
  for (int i = 0; i < rounds; i++) {
    pthread_mutex_lock(&own[me]);
    counts[me]++;
    pthread_mutex_unlock(&own[me]);
    if (i % 64) continue;
    pthread_mutex_lock(&common);
    total++;
    pthread_mutex_unlock(&common);
  }
  return arg;
}

int main(int argc, char **argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, count, &counts[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return total == 2 * ((rounds + 63) / 64) ? 0 : 1;
}
