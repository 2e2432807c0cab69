package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// TestFindsBugs: every program's bug is found from several seeds, replays, and is simplified to the
// known minimum.
func TestFindsBugs(t *testing.T) {
	for _, test := range []struct {
		program               simprog.Program
		kind, message         string
		switches, preemptions int  // minimum
		shown                 bool // heddle proves that it is minimal
	}{
		// main|A|B|A|main: the preemption is between A's read and its write.
		{simprog.LostUpdate(2), "assertion", "counter == threads", 4, 1, true},
		{simprog.LostUpdate(5), "assertion", "counter == threads", 7, 1, false},
		// main|A|B: A is descheduled holding its first lock; main was blocked, and no
		// thread runs after.
		{simprog.ABBA(), "deadlock", "T1 (mutex lock) and T2 (mutex lock) wait for one another", 2, 1, true},
		// main|A|main|A: A tests the flag, main sets it and signals, A waits.
		{simprog.LostWakeup(), "deadlock", "T1 never returns from a condition wait", 3, 2, true},
		{simprog.OrderViolation(), "signal", "SIGSEGV", 1, 1, true},
		// main|A|main|A: main polls and is never blocked, A is descheduled between flag and
		// use.
		{simprog.UseAfterFree(), "misuse", "use of freed memory", 3, 2, false},
		// main|B|A|main: it suffices that B runs first.
		{simprog.ExitStatus(), "exit", "exit status 9, expected 8", 3, 0, true}, // with --expect-exit=8
		{simprog.TwoStage(), "assertion", "second == 2", 0, 0, true},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", test.program.Name, seed), func(t *testing.T) {
				target := simprog.New(test.program)
				opts := Options{Seed: seed, Runs: 20000}
				if test.kind == "exit" {
					ordinary := int32(8)
					opts.ExpectStatus = &ordinary
				}
				r := find(t, target, opts)
				if r.Outcome != Bug || r.Finding.Kind != test.kind || r.Finding.Message != test.message {
					t.Fatalf("%+v, finding %+v", r, r.Finding)
				}
				for _, tr := range []*trace.Trace{r.Finding.Recorded, r.Simplified.Recorded} {
					if _, err := Replay(context.Background(), simprog.New(test.program), tr); err != nil {
						t.Errorf("%s: %v", tr.Header.Strategy, err)
					}
					if tr.Ending.Kind.String() != test.kind {
						t.Errorf("%s ends with %v", tr.Header.Strategy, tr.Ending.Kind)
					}
				}
				s := r.Simplified
				if s.Cut || s.Complete != test.shown || test.switches > 0 && (s.Switches != test.switches || s.Preemptions != test.preemptions) {
					t.Errorf("simplified to %d switches, %d preemptions, want %d, %d; %s", s.Switches, s.Preemptions, test.switches, test.preemptions, s.Unproven)
				}
				if cost := trace.CostOf(s.Recorded.Events); cost.Switches != s.Switches || cost.Preemptions != s.Preemptions || cost.Events != s.Events {
					t.Errorf("the report says %+v, the trace %+v", s, cost)
				}
			})
		}
	}
}

// TestFindsHang: the hang replays with the step budget that ended it.
func TestFindsHang(t *testing.T) {
	target := simprog.New(simprog.Polite())
	r := find(t, target, Options{Runs: 2000, MaxSteps: 200, Simplify: SimplifyOptions{Executions: 300}})
	if r.Outcome != Bug || r.Finding.Kind != "hang" {
		t.Fatalf("%+v", r)
	}
	if _, err := Replay(context.Background(), target, r.Simplified.Recorded); err != nil {
		t.Error(err)
	}
}

// TestGoodPrograms: nothing is found, in exactly the requested number of executions.
func TestGoodPrograms(t *testing.T) {
	for _, runs := range []int{1, 2, 17, 500} {
		target := simprog.New(simprog.LockedUpdate(3))
		r := find(t, target, Options{Runs: runs})
		if r.Outcome != Nothing || r.Finding != nil || r.Executions != runs || target.Executions() != runs || len(r.Races) != 0 || r.Points != 0 {
			t.Errorf("runs %d: %+v, %d executions made", runs, r, target.Executions())
		}
	}
}

// TestFindsWithinAHandful: shallow bugs do not wait for large batches.
func TestFindsWithinAHandful(t *testing.T) {
	for _, program := range []simprog.Program{simprog.LostUpdate(2), simprog.ABBA(), simprog.LostWakeup(), simprog.OrderViolation()} {
		var executions []int
		for seed := range uint64(99) {
			r := find(t, simprog.New(program), Options{Seed: seed, NoSimplify: true})
			executions = append(executions, r.Executions)
		}
		slices.Sort(executions)
		if median := executions[len(executions)/2]; median > 12 {
			t.Errorf("%s: found after %v executions", program.Name, executions)
		}
	}
}

// TestUninstrumented: the report says that accesses are not observed, and bugs in synchronisation
// are still found.
func TestUninstrumented(t *testing.T) {
	program := simprog.ABBA()
	program.Blind = true
	r := find(t, simprog.New(program), Options{Runs: 1000})
	if r.Outcome != Bug || r.Instrumented || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "heddle cc") {
		t.Errorf("%+v", r)
	}
	program = simprog.LostUpdate(2)
	program.Blind = true
	if r := find(t, simprog.New(program), Options{Runs: 500}); r.Outcome != Unhooked {
		t.Errorf("a data race was controlled without being seen, or its absence is said to be known: %+v", r)
	}
	if r := find(t, simprog.New(program), Options{Runs: 500, SyncOnly: true}); r.Outcome != Nothing {
		t.Errorf("%+v", r)
	}
}

// TestRandomNumbers: a program that draws random numbers repeats, because the trace has its seed.
func TestRandomNumbers(t *testing.T) {
	program := simprog.Program{Name: "dice", Main: func(t *simprog.Thread) {
		x, y := t.Rand()>>1, t.Var(0)
		t.Store(y, int64(x))
		other := t.Go(func(t *simprog.Thread) { t.Store(y, 6) })
		t.Assert(x%4 != 3 || t.Load(y) != 6, "a three and a six")
		t.Join(other)
	}}
	r := find(t, simprog.New(program), Options{Seed: 5, Runs: 2000})
	if r.Outcome != Bug || r.NotReproduced > 0 || r.Simplified.Switches != 2 {
		t.Errorf("%+v, %+v", r, r.Finding)
	}
}
