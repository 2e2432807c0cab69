// heddle: Two threads write a word at a time under locks of their own, then both increment a counter.
// kind: clean

// No thread learns of the other's progress, so later accesses could race with each of the WORDS
// writes of a thread, and each is in an epoch of its own. With -DRACY, the increments race: two
// pairs of instructions, which a watch finds only if it has memory for all the writes before them.
#include <pthread.h>

enum { WORDS = 30000 };

long words[2][WORDS];
static int counter;
static pthread_mutex_t own[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
#ifndef RACY
static pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *worker(void *arg) {
  int me = arg != NULL;
  for (int i = 0; i < WORDS; i++) {
    pthread_mutex_lock(&own[me]);
    words[me][i] = i;
    pthread_mutex_unlock(&own[me]);
  }
#ifndef RACY
  pthread_mutex_lock(&common);
#endif
  counter++;
#ifndef RACY
  pthread_mutex_unlock(&common);
#endif
  return NULL;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, i ? &counter : NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
