package cprog

import (
	"cmp"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A hang is recorded up to the end of its step budget, and ends there when it is replayed,
// however many threads have ended, have not begun, or wait with time-outs by then.
func TestHangsReplay(t *testing.T) {
	tg := start(t, compile(t, `
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static void *ends(void *arg) { pthread_mutex_lock(&mu); pthread_mutex_unlock(&mu); return arg; }
static void *ticks(void *arg) {
  for (;;) { usleep(250); pthread_mutex_lock(&mu); pthread_mutex_unlock(&mu); }
}
static void *waits(void *arg) {
  struct timespec t = { 1 };
  pthread_mutex_lock(&mu);
  for (;; t.tv_nsec = (t.tv_nsec + 1000) % 1000000000) pthread_cond_timedwait(&never, &mu, &t);
}
static void *asleep(void *arg) { pthread_mutex_lock(&mu); pthread_cond_wait(&never, &mu); return arg; }
int main(void) {
  pthread_t t[8];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, ends, NULL);
  pthread_create(&t[4], NULL, ticks, NULL);
  pthread_create(&t[5], NULL, waits, NULL);
  pthread_create(&t[6], NULL, asleep, NULL);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  pthread_join(t[6], NULL);
}`))
	for seed := range uint64(8) {
		for _, p := range []schedule.Policy{schedule.Fair, schedule.Random, schedule.POS} {
			o := run(t, tg, schedule.Plan{Policy: p, Seed: seed, Record: true, MaxSteps: 2000, Timeouts: seed%2 == 1})
			if o.Ending.Kind != trace.Unfinished || o.Ending.Message != trace.CutBySteps {
				t.Fatalf("%v %q", o.Ending.Kind, o.Ending.Message)
			}
			script := schedule.ScriptOf(o.Trace)
			again := run(t, tg, schedule.Plan{
				Mode: schedule.Strict, Script: script, Threads: o.Trace.Threads, Record: true, MaxSteps: len(script), Timeouts: seed%2 == 1, FairAfter: cmp.Or(o.FairAt, schedule.Never),
			})
			if again.Ending.Kind != trace.Unfinished || again.Signature != o.Signature || len(again.Trace.Events) != len(o.Trace.Events) {
				t.Errorf("%v seed %d: %d events, replayed as %v with %d", p, seed, len(o.Trace.Events), again.Ending.Kind, len(again.Trace.Events))
			}
		}
	}
}
