// heddle: A server is stopped by a flag and by closing its socket, which does not wake it if it is already in accept.
// kind: deadlock
// finding: accepts on socket
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_int stop;
static int listener;

__attribute__((noinline)) static void serve(void) {
  while (!atomic_load(&stop)) {
    int c = accept(listener, NULL, NULL);
    if (c < 0) return;
    close(c);
  }
}
static void *server(void *arg) { serve(); return arg; }

int main(void) {
  pthread_t t;
  char c;
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t n = sizeof at;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener = socket(AF_INET, SOCK_STREAM, 0);
  assert(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 1) == 0);
  assert(getsockname(listener, (struct sockaddr *)&at, &n) == 0);
  pthread_create(&t, NULL, server, NULL);
  int s = socket(AF_INET, SOCK_STREAM, 0);
  assert(connect(s, (struct sockaddr *)&at, sizeof at) == 0);
  assert(read(s, &c, 1) == 0); // served
  close(s);
  atomic_store(&stop, 1);
  close(listener);
  pthread_join(t, NULL);
  return 0;
}
// cause: stop: while (!atomic_load(&stop)) | atomic_store(&stop, 1)
