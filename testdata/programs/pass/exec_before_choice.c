// heddle: main waits for both workers before it runs another program in its place.
// kind: clean
// isolation: fork
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *code = "exit 1";

static void *choose(void *arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  code = "exit 0";
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void *prepare(void *arg) {
  return arg;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, choose, NULL);
  pthread_create(&b, NULL, prepare, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  pthread_mutex_lock(&lock);
  const char *run = code;
  pthread_mutex_unlock(&lock);
  execl("/bin/sh", "sh", "-c", run, (char *)NULL);
  return 2;
}
