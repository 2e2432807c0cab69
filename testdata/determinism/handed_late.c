// heddle: Main creates the worker before it takes the lock that guards the value: handed_over.c with a race for the lock.
//   Fails: the worker may read before main writes.
// kind: clean
#include <pthread.h>
#include <stddef.h>

static int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
  pthread_mutex_lock(&lock);
  int *result = arg;
  *result = value;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t t;
  int result = 0;
  pthread_create(&t, NULL, work, &result);
  pthread_mutex_lock(&lock);
  value = 5;
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  return result != 5 && result != 0;
}
