package cprog

import (
	"reflect"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// turning has two threads that lock and count.
const turning = `
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int seen;
static int n;
static void *turns(void *arg) {
  for (int i = 1; i <= 3000; i++) {
    pthread_mutex_lock(&m);
    n++;
    pthread_mutex_unlock(&m);
    atomic_fetch_add(&seen, 1);
  }
  return arg;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, turns, NULL);
  turns(NULL);
  pthread_join(t, NULL);
  return n != 6000 || seen != 6000;
}`

// TestTurns: with turns most points are left to the running thread. They are points and decisions like any other, so
// that a script without turns repeats the execution. The policy's decisions are in the first turns, and in the window.
func TestTurns(t *testing.T) {
	prog := compile(t, turning)
	for _, isolation := range []Isolation{Snapshot, Fork, Process} {
		lib, err := theRuntime()
		if err != nil {
			t.Fatal(err)
		}
		tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Runtime: lib, Isolation: isolation})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		for seed := range uint64(4) {
			p := schedule.Plan{Policy: schedule.Random, Seed: seed, Turns: schedule.Turns{Visits: 40, From: 1000}, Record: true}
			if seed%2 == 1 {
				p.Policy, p.Depth, p.Length = schedule.PCT, 3, 500
			}
			o := run(t, tg, p)
			if o.Ending.Kind != trace.Clean || o.Ending.Status != 0 || o.Passed < o.Points*4/5 || o.Trace.Decisions() < o.Points {
				t.Fatalf("%v, seed %d: %v, status %d, %d of %d points passed, %d decisions", isolation, seed, o.Ending.Kind, o.Ending.Status, o.Passed, o.Points, o.Trace.Decisions())
			}
			if again := run(t, tg, p); again.Passed != o.Passed || !reflect.DeepEqual(again.Trace.Events, o.Trace.Events) {
				t.Errorf("%v, seed %d: the same plan gave two executions", isolation, seed)
			}
			again := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads, Record: true})
			if again.Ending.Kind != trace.Clean || again.Passed != 0 || !reflect.DeepEqual(again.Trace.Events, o.Trace.Events) {
				t.Errorf("%v, seed %d: its script gave another execution: %v", isolation, seed, again.Ending.Kind)
			}
			if seed%2 == 0 {
				switched(t, o.Trace)
			}
		}
	}
}

// switched checks that threads were switched in the first turns and in the window, and seldom elsewhere.
func switched(t *testing.T, tr *trace.Trace) {
	type place struct {
		thread trace.ThreadID
		site   trace.Site
	}
	visits := map[place]int{}
	var early, window, elsewhere int
	last := trace.ThreadID(0)
	for i := range tr.Events {
		e := &tr.Events[i]
		at := place{e.Thread, e.Site}
		visits[at]++
		if e.Thread != last && e.Op == trace.OpAtomicRmw {
			switch n := visits[at]; {
			case n <= 17:
				early++
			case n > 1000 && n <= 1041:
				window++
			default:
				elsewhere++
			}
		}
		last = e.Thread
	}
	if early < 3 || window < 3 || elsewhere > 150 {
		t.Errorf("threads were switched before an atomic %d times in the first turns, %d times in the window and %d times elsewhere", early, window, elsewhere)
	}
}
