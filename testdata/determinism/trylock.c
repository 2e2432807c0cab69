// heddle: Main tries the lock that the worker takes, and the two share nothing else.
//   Fails: whether main gets it depends on the schedule.
// kind: clean
#include <pthread.h>
#include <stddef.h>

static int mine, its;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
  pthread_mutex_lock(&lock);
  its = 1;
  pthread_mutex_unlock(&lock);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  if (pthread_mutex_trylock(&lock) == 0) {
    mine = 1;
    pthread_mutex_unlock(&lock);
  }
  pthread_join(t, NULL);
  return 0;
}
