// heddle: Main creates the worker while it holds the lock that the worker needs, and writes before it unlocks.
//   Holds: only the lock orders the write and the read, and the worker cannot have it before main.
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
  pthread_mutex_lock(&lock);
  pthread_create(&t, NULL, work, &result);
  value = 5;
  pthread_mutex_unlock(&lock);
  pthread_join(t, NULL);
  return result != 5;
}
