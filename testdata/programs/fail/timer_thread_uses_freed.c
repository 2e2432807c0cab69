// heddle: A session is freed once its timer is deleted; a notification thread that had been started by then still uses it.
// kind: misuse
// finding: freed memory
// needs: timeouts
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct session { int id, expired; };

static void on_expiry(union sigval v) {
  struct session *s = v.sival_ptr;
  s->expired = 1;
}

int main(void) {
  struct session *s = calloc(1, sizeof *s);
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_expiry, .sigev_value.sival_ptr = s};
  struct itimerspec soon = {.it_value = {0, 1000000}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  timer_settime(timer, 0, &soon, NULL);
  timer_delete(timer);
  free(s);
  return 0;
}
// cause: : s->expired = 1 | free(s)
