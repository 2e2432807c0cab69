// heddle: A server reads one byte for each edge that epoll reports; of two bytes that arrive together the second is never reported.
// kind: deadlock
// finding: serve
// minimum: switches=2
// why: Both bytes must be in before the first wait returns, and main can be in its wait by then:
//   main, the sender, main.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

static int input[2], set;

static void *sender(void *arg) {
  for (int i = 0; i < 2; i++) {
    ssize_t n = write(input[1], "x", 1);
    assert(n == 1);
  }
  return arg;
}

__attribute__((noinline)) static void serve(void) {
  for (int got = 0; got < 2;) {
    struct epoll_event event;
    int n = epoll_wait(set, &event, 1, -1);
    assert(n == 1);
    char c;
    if (read(input[0], &c, 1) == 1) got++;
  }
}

int main(void) {
  pthread_t t;
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  assert(pipe2(input, O_NONBLOCK) == 0);
  set = epoll_create1(0);
  assert(epoll_ctl(set, EPOLL_CTL_ADD, input[0], &event) == 0);
  pthread_create(&t, NULL, sender, NULL);
  serve();
  pthread_join(t, NULL);
  return 0;
}
// cause: : write(input[1] | epoll_wait(set
