package cprog

import (
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestTimerThreads has timers start more threads than there are stacks, each when the one
// before has just ended, and the scheduler still runs on its stack: that is not the next's.
func TestTimerThreads(t *testing.T) {
	tg := start(t, compile(t, `
#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int fired;
static void fire(union sigval v) { (void)v; fired++; }
int main(void) {
  struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = fire};
  struct itimerspec every = {{0, 100000000}, {0, 100000000}};
  timer_t a, b;
  timer_create(CLOCK_MONOTONIC, &e, &a);
  timer_create(CLOCK_MONOTONIC, &e, &b);
  timer_settime(a, 0, &every, NULL);
  timer_settime(b, 0, &every, NULL);
  while (fired < 60) nanosleep(&(struct timespec){3, 0}, NULL);
  timer_delete(a);
  timer_delete(b);
}`))
	for seed := range uint64(40) {
		o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: seed})
		if o.Ending.Kind != trace.Clean {
			t.Fatalf("seed %d: %v %s, %d threads", seed, o.Ending.Kind, o.Ending.Message, o.Threads)
		}
	}
}
