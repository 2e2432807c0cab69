// heddle: Two workers acquire two locks in opposite orders, one of them after much else.
//   Fails: they can wait for each other, and then their threads have fewer events.
//   With -DGATE a third lock surrounds both acquisitions, and with -DSAME_ORDER there is one order: holds.
// kind: clean
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
#ifdef GATE
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
#endif
static int left, right, fill[40];

static void both(pthread_mutex_t *first, pthread_mutex_t *second, int *value) {
#ifdef GATE
  pthread_mutex_lock(&gate);
#endif
  pthread_mutex_lock(first);
  *value = 1;
  pthread_mutex_lock(second);
  *value = 2;
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
#ifdef GATE
  pthread_mutex_unlock(&gate);
#endif
}

static void *one(void *arg) {
  (void)arg;
  both(&a, &b, &left);
  return NULL;
}

static void *other(void *arg) {
  (void)arg;
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 40; i++) {
    pthread_mutex_lock(&own);
    fill[i] = i;
    pthread_mutex_unlock(&own);
  }
#ifdef SAME_ORDER
  both(&a, &b, &right);
#else
  both(&b, &a, &right);
#endif
  return NULL;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, one, NULL);
  pthread_create(&t[1], NULL, other, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return left + right != 4;
}
