// heddle: Two threads hand a ball to and fro through a condition variable 500 times; every hand-over is a context switch that cannot be avoided. The measure of switching.
// kind: clean
#include <assert.h>
#include <pthread.h>

#define HITS 500

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int hits;

static void *player(void *arg) {
  int side = *(const int *)arg;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (hits < HITS && hits % 2 != side) pthread_cond_wait(&changed, &lock);
    if (hits == HITS) break;
    hits++;
    pthread_cond_signal(&changed);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  static const int sides[2] = {0, 1};
  pthread_t players[2];
  for (int i = 0; i < 2; i++) pthread_create(&players[i], NULL, player, (void *)&sides[i]);
  for (int i = 0; i < 2; i++) pthread_join(players[i], NULL);
  assert(hits == HITS);
  return 0;
}
