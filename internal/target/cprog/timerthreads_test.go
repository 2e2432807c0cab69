package cprog

import (
	"path/filepath"
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

// TestThreadsWithoutEnd: a timer starts threads that happen after no other thread's end, so that each has a chain and a clock of its
// own: the memory for clocks runs out. Later the numbers of threads do.
func TestThreadsWithoutEnd(t *testing.T) {
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	prog := compile(t, `
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int ticks, over;
static void tick(union sigval v) { (void)v; atomic_store(&ticks, 0); }
int main(void) {
  struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
  timer_t a;
  timer_create(CLOCK_MONOTONIC, &e, &a);
  timer_settime(a, 0, &(struct itimerspec){{0, 1000000}, {0, 1000000}}, NULL);
  while (!over) nanosleep(&(struct timespec){0, 500000}, NULL);
}`)
	tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Dir: filepath.Dir(prog), Runtime: lib, Memory: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	for _, test := range []struct {
		name, message string
		plan          schedule.Plan
	}{
		{"clocks", trace.CutBySteps, schedule.Plan{Watch: true, MaxSteps: 1 << 13}},
		{"numbers", trace.CutByThreads, schedule.Plan{MaxSteps: 1 << 23}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if o := run(t, tg, test.plan); o.Ending.Kind != trace.Unfinished || o.Ending.Message != test.message || o.Threads > trace.MaxThreads {
				t.Errorf("%v %s, %d threads; want %s", o.Ending.Kind, o.Ending.Message, o.Threads, test.message)
			}
		})
	}
}
