// heddle: The text of the failure contains a number that is different in every execution, a request's
//   UUID. It is one bug all the same.
// kind: assertion
// note: the message varies while every event is the same
// finding: was lost
// minimum: switches=4 preemptions=1
// why: As in lost_update: main runs before and after the workers, one of which is left between its
//   read and its write while the other writes.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int served;

static void *worker(void *arg) {
  served = served + 1;
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
// cause: served: served = served + 1
