// heddle: A timer's handler takes a node from a pool whose lock, a flag to spin on, the interrupted code may hold.
// kind: hang
// finding: take
// needs: timeouts
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static struct node { struct node *next; } nodes[4], *pool;
static atomic_int busy;

static struct node *take(void) {
  while (atomic_exchange(&busy, 1)) ;
  struct node *n = pool;
  if (n) pool = n->next;
  atomic_store(&busy, 0);
  return n;
}

static void give(struct node *n) {
  while (atomic_exchange(&busy, 1)) ;
  n->next = pool;
  pool = n;
  atomic_store(&busy, 0);
}

static void on_sample(int sig) {
  (void)sig;
  struct node *n = take();
  if (n) give(n);
}

int main(void) {
  struct sigaction act = {.sa_handler = on_sample};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
  struct itimerspec soon = {.it_value = {0, 1000000}};
  timer_t timer;
  for (int i = 0; i < 4; i++) give(&nodes[i]);
  sigaction(SIGUSR2, &act, NULL);
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &soon, NULL);
  for (int i = 0; i < 2; i++) {
    struct node *n = take();
    give(n);
  }
  timer_delete(timer);
  return 0;
}
// cause: busy: atomic_exchange(&busy, 1)
