package cprog

import (
	"slices"
	"strconv"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestLongSchedule: a schedule of millions of steps, for which the plan ring has no room, is followed to its end, one after
// the other and with short plans between them, and a difference is found at its step.
func TestLongSchedule(t *testing.T) {
	prog := compile(t, `
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int n;
int main(int argc, char **argv) {
  for (long i = atol(argv[1]); i > 0; i--) atomic_fetch_add(&n, 1);
  return argc - 2;
}`)
	const extra = 2_200_000 // the ring has room for two million steps
	short := run(t, start(t, prog, "4"), schedule.Plan{Record: true})
	steps := schedule.ScriptOf(short.Trace)
	at := slices.IndexFunc(steps, func(s schedule.Step) bool { return s.Op == trace.OpAtomicRmw })
	long := slices.Concat(steps[:at], slices.Repeat(steps[at:at+1], extra), steps[at:])
	wrong := slices.Clone(long)
	odd := len(wrong) - 3
	wrong[odd].Op = trace.OpMutexLock
	follow := schedule.Plan{Mode: schedule.Strict, Threads: short.Trace.Threads, MaxSteps: 1 << 30, FairAfter: schedule.Never}
	plans := []schedule.Plan{follow, {MaxSteps: 1000}, follow, follow}
	plans[0].Script = long
	plans[2].Script, plans[3].Script = wrong, long
	for _, isolation := range []Isolation{Snapshot, Fork} {
		lib, err := theRuntime()
		if err != nil {
			t.Fatal(err)
		}
		tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog, strconv.Itoa(4 + extra)}, Runtime: lib, Isolation: isolation})
		if err != nil {
			t.Fatal(err)
		}
		all := plans
		if isolation != Snapshot {
			all = plans[1:3]
		}
		var ends []trace.Kind
		for _, o := range stream(t, tg, all) {
			ends = append(ends, o.Ending.Kind)
			if o.Ending.Kind == trace.Diverged && o.Diverged.Step != odd {
				t.Errorf("%v: it differs at step %d, want %d", isolation, o.Diverged.Step, odd)
			}
		}
		want := []trace.Kind{trace.Clean, trace.Unfinished, trace.Diverged, trace.Clean}
		if isolation != Snapshot {
			want = want[1:3]
		}
		if !slices.Equal(ends, want) {
			t.Errorf("%v: %v, want %v", isolation, ends, want)
		}
		tg.Close()
	}
}
