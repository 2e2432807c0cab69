// heddle: Two threads acquire a recursive mutex twice. Correct, also if any of these lines hold the mutex as well.
// kind: clean
#include <pthread.h>
static pthread_mutex_t mu;
static int n;
static void *work(void *arg) {
  pthread_mutex_lock(&mu);   // first
  n++;
  pthread_mutex_lock(&mu);
  n++;
  pthread_mutex_unlock(&mu);
  n++;
  pthread_mutex_unlock(&mu); // last
  return arg;
}
int main(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mu, &a);
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  if (pthread_mutex_destroy(&mu)) return 2;
  return n < 6;
}
