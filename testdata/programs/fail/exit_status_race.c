// heddle: A fallback lookup sets the exit status to 3 unless it sees that the primary one has answered; it may look before the primary has started.
// kind: exit
// finding: status 3
// minimum: switches=3 preemptions=0
// why: The fallback must run before the primary has answered, and main waits for both before it
//   exits: main, fallback, primary, main. Every thread is left where it waits in a join or has
//   ended.
#include <pthread.h>

static int answered;
static int exit_status;

static void *primary(void *arg) {
  (void)arg;
  answered = 1;
  return NULL;
}

static void *fallback(void *arg) {
  (void)arg;
  if (!answered) exit_status = 3;
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
// cause: answered: answered = 1 | if (!answered)
