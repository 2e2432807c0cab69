// heddle: Workers add to one sum, under a lock.
//   Fails: the sum is right under every schedule, but what each worker reads is not the same.
// kind: clean
#include <pthread.h>
#include <stddef.h>

static int sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
  pthread_mutex_lock(&lock);
  sum += (int)(long)arg;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, (void *)(i + 1));
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return sum != 3;
}
