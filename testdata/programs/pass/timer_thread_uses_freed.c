// heddle: A session is freed once its timer's notification thread has released it.
// kind: clean
// needs: timeouts
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct session { int id, expired; sem_t done; };

static void on_expiry(union sigval v) {
  struct session *s = v.sival_ptr;
  s->expired = 1;
  sem_post(&s->done);
}

int main(void) {
  static struct session room;
  struct session *s = &room;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_expiry, .sigev_value.sival_ptr = s};
  struct itimerspec soon = {.it_value = {0, 1000000}};
  timer_t timer;
  sem_init(&s->done, 0, 0);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  timer_settime(timer, 0, &soon, NULL);
  sem_wait(&s->done);
  timer_delete(timer);
  sem_destroy(&s->done);
  return s->expired != 1;
}
