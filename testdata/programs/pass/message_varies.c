// heddle: The requests are counted under a lock, so none is lost and no message is made.
// kind: clean
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int served;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
  pthread_mutex_lock(&lock);
  served = served + 1;
  pthread_mutex_unlock(&lock);
  return arg;
}

// Builds the message as test frameworks do; assert's own would be the expression.
static void fail(void) {
  char id[9] = "", text[64];
  int fd = open("/proc/sys/kernel/random/uuid", O_RDONLY);
  if (fd < 0 || read(fd, id, 8) != 8) return;
  close(fd);
  snprintf(text, sizeof text, "request %s was lost", id);
  __assert_fail(text, __FILE__, __LINE__, __func__);
}

int main(void) {
  pthread_t workers[2];
  for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, worker, NULL);
  for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
  if (served != 2) fail();
  return 0;
}
