// heddle: The program of FSE'10 Figure 1 made right: the first thread raises the flag after it has tested x, and a lock and a condition variable guard both.
// kind: clean
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flag_changed = PTHREAD_COND_INITIALIZER;
static int flag;
static int x;

__attribute__((noinline)) static void error(void) { abort(); }

static void *first(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  x = 1;
  if (x == 3) error();
  flag = 1;
  pthread_cond_signal(&flag_changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void *second(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  while (!flag) pthread_cond_wait(&flag_changed, &lock);
  x = 3;
  flag = 0;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t t1, t2;
  pthread_create(&t1, NULL, first, NULL);
  pthread_create(&t2, NULL, second, NULL);
  pthread_join(t1, NULL);
  pthread_join(t2, NULL);
  return x == 3 ? 0 : 1;
}
