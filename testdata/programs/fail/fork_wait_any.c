// heddle: Two workers start a process each and wait for it with wait(), which returns any child that has ended, so one may get the other's.
// kind: assertion
// finding: got == pid
// minimum: switches=2 preemptions=1
// why: main creates the workers, one of them starts its process and is left before it waits, the other
//   starts one and waits: three intervals. Fewer cannot have three threads in them. The worker that
//   is left is about to wait, which it may do at any time.
// isolation: fork
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static void *worker(void *arg) {
  int code = (int)(intptr_t)arg, status = 0;
  pid_t pid = fork();
  if (pid == 0) _exit(code);
  pid_t got = wait(&status);
  assert(got == pid);
  assert(WIFEXITED(status) && WEXITSTATUS(status) == code);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  for (intptr_t i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, (void *)(i + 3));
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return 0;
}
// cause: : wait(&status)
