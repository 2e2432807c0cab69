// heddle: A pipe is closed while another thread still writes to it, and its number goes to the next pipe: the line ends up there.
// kind: assertion
// finding: n == 0
// minimum: switches=2 preemptions=0
// why: The writer may not begin before the number has gone to the new pipe: main until it joins,
//   the writer, main.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int old[2];

static void *logger(void *arg) {
  if (write(old[1], "log", 3) != 3) return NULL; // nobody listens any more
  return arg;
}

int main(void) {
  pthread_t t;
  int fresh[2];
  assert(pipe(old) == 0);
  pthread_create(&t, NULL, logger, NULL);
  close(old[1]);
  close(old[0]);
  assert(pipe(fresh) == 0);
  pthread_join(t, NULL);
  struct pollfd p = {fresh[0], POLLIN, 0};
  int n = poll(&p, 1, 0);
  assert(n == 0);
  return 0;
}
// cause: : write(old[1], | close(old[1])
