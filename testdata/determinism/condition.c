// heddle: Main waits for a flag on a condition variable.
//   Fails: whether main waits depends on the schedule.
// kind: clean
#include <pthread.h>
#include <stddef.h>

static int ready, value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *work(void *arg) {
  value = 3;
  pthread_mutex_lock(&lock);
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_mutex_lock(&lock);
  while (!ready) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  int right = value == 3;
  pthread_join(t, NULL);
  return !right;
}
