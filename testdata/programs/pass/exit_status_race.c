// heddle: The fallback lookup waits until the primary one has decided.
// kind: clean
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t decided = PTHREAD_COND_INITIALIZER;
static enum { UNDECIDED, ANSWERED, FAILED } state;
static int exit_status;

static void *primary(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  state = ANSWERED;
  pthread_cond_broadcast(&decided);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void *fallback(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  while (state == UNDECIDED) pthread_cond_wait(&decided, &lock);
  if (state == FAILED) exit_status = 3;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t p, f;
  pthread_create(&p, NULL, primary, NULL);
  pthread_create(&f, NULL, fallback, NULL);
  pthread_join(p, NULL);
  pthread_join(f, NULL);
  return exit_status;
}
