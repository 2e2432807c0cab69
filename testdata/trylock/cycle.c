// heddle: Two threads acquire two locks in opposite orders, so each can wait for the other's. A third lock
//   around both acquisitions cures it; around those of one thread only, it does not.
// kind: deadlock
// finding: backward
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void *forward(void *arg) {
  pthread_mutex_lock(&a);   // forward begins
  pthread_mutex_lock(&b);
  moved++;
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a); // forward ends
  return arg;
}

static void *backward(void *arg) {
  pthread_mutex_lock(&b);   // backward begins
  pthread_mutex_lock(&a);
  moved++;
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b); // backward ends
  return arg;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, forward, NULL);
  pthread_create(&t[1], NULL, backward, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return moved != 2;
}
