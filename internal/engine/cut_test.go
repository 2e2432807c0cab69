package engine

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// claimEvery is such that the first execution of stress passes.
const claimEvery = 67

// stress is two threads that take turns at a lock. Every claimEvery turns each claims a slot if it is free: where it holds the lock meanwhile if
// safe is set. It prints at the end, and exits with a status.
//
//go:noinline
func stress(turns int, safe bool, status int) simprog.Program {
	return simprog.Program{Name: fmt.Sprintf("stress-%d-%t", turns, safe), Main: func(t *simprog.Thread) {
		m, busy := t.Mutex(), false
		var threads []*simprog.Thread
		for range 2 {
			threads = append(threads, t.Go(func(t *simprog.Thread) {
				for i := range turns {
					t.Lock(m)
					t.Unlock(m)
					if i%claimEvery != claimEvery-1 {
						continue
					}
					t.Lock(m)
					free := !busy
					if !safe {
						t.Unlock(m)
						if !free {
							continue
						}
						t.Lock(m)
					}
					if free {
						t.Assert(!busy, "free")
						busy = true
						t.Unlock(m)
						t.Lock(m)
						busy = false
					}
					t.Unlock(m)
				}
			}))
		}
		for _, u := range threads {
			t.Join(u)
		}
		t.Print("over")
		if status != 0 {
			t.Exit(status)
		}
	}}
}

const manyTurns = 8000 // more than longFirst points

// TestCutFinds: a failure in the turns of a long program is found in an execution that was cut, replays, and is simplified.
func TestCutFinds(t *testing.T) {
	r := find(t, simprog.New(stress(manyTurns, false, 0)), Options{MaxSteps: 1 << 20, Runs: 2000, Simplify: SimplifyOptions{Executions: 60}})
	if r.Outcome != Bug || r.Cut == nil || r.Finding.Execution == 1 {
		t.Fatalf("%+v, finding %+v", r, r.Finding)
	}
	for _, tr := range []*trace.Trace{r.Finding.Recorded, r.Simplified.Recorded} {
		if n := len(tr.Events); n > mostCut || tr.Header.Cut == 0 || tr.WasCut() {
			t.Errorf("%s: %d events, cut %d", tr.Header.Strategy, n, tr.Header.Cut)
		}
		for range 20 {
			if _, err := Replay(context.Background(), simprog.New(stress(manyTurns, false, 0)), tr); err != nil {
				t.Fatalf("%s: %v", tr.Header.Strategy, err)
			}
		}
	}
	if s := r.Simplified; s.Complete || !strings.Contains(s.Unproven, "cut") {
		t.Errorf("minimal although executions were cut: %+v", s)
	}
}

// TestCutCounts: executions that are cut are counted, show nothing of what a whole one would, and there are whole ones among them.
func TestCutCounts(t *testing.T) {
	r := find(t, simprog.New(stress(manyTurns, true, 0)), Options{MaxSteps: 1 << 20, Runs: 100})
	if r.Outcome != Nothing || r.Cut == nil || r.Cut.Executions < 50 || r.Cut.Executions > 98 || r.Cut.Points < leastCut || r.Cut.Points > mostCut {
		t.Errorf("%+v, cut %+v", r, r.Cut)
	}
	if r.Coverage != nil && r.Coverage.Complete || r.Behaviours > r.Executions-r.Cut.Executions {
		t.Errorf("%d behaviours, covered %+v", r.Behaviours, r.Coverage)
	}
	for _, never := range []Options{{Cut: new(int)}, {}} {
		never.Runs, never.MaxSteps = 4, 1<<20
		turns := manyTurns
		if never.Cut == nil {
			turns = 100 // a short program
		}
		if r := find(t, simprog.New(stress(turns, true, 0)), never); r.Outcome != Nothing || r.Cut != nil {
			t.Errorf("%+v, cut %+v", r, r.Cut)
		}
	}
}

// TestOnlyCut: where every execution is cut, neither the exit status nor the output is judged, and nothing was shown to be clean.
func TestOnlyCut(t *testing.T) {
	n := 500
	r := find(t, simprog.New(stress(manyTurns, true, 3)), Options{MaxSteps: 1 << 20, Runs: 50, Cut: &n})
	if r.Outcome != OnlyCut || r.Finding != nil || r.Cut == nil || *r.Cut != (CutExecutions{50, n}) || r.Ended == Complete || r.Sequential {
		t.Errorf("%+v, cut %+v, finding %+v", r, r.Cut, r.Finding)
	}
	r = find(t, simprog.New(stress(manyTurns, false, 3)), Options{MaxSteps: 1 << 20, Runs: 2000, Cut: &n, NoSimplify: true})
	if r.Outcome != Bug || r.Finding.Message != "free" {
		t.Errorf("%+v, finding %+v", r, r.Finding)
	}
}

// TestCutRace: the recording of a race ends where the second access was made, even if the execution that showed it was whole.
func TestCutRace(t *testing.T) {
	program := simprog.Program{Name: "raced", Main: func(t *simprog.Thread) {
		m, n := t.Mutex(), t.Var(0)
		u := t.Go(func(t *simprog.Thread) {
			for range manyTurns {
				t.Lock(m)
				t.Unlock(m)
				t.Write(n, 1)
			}
		})
		for range manyTurns {
			t.Lock(m)
			t.Unlock(m)
			t.Write(n, 2)
		}
		t.Join(u)
	}}
	r := find(t, simprog.New(program), Options{MaxSteps: 1 << 20, Runs: 20, Races: RacesFail, Simplify: SimplifyOptions{Executions: 20}})
	if r.Outcome != Bug || r.Finding.Kind != trace.Race.String() {
		t.Fatalf("%+v, finding %+v", r, r.Finding)
	}
	for _, tr := range []*trace.Trace{r.Finding.Recorded, r.Simplified.Recorded} {
		last := tr.Events[len(tr.Events)-1]
		if !tr.WasCut() || tr.Decisions() >= longFirst || tr.Header.Cut != tr.Decisions() || tr.Ending.Accesses[1].Thread != last.Thread {
			t.Errorf("%s: %d decisions, cut after %d", tr.Header.Strategy, tr.Decisions(), tr.Header.Cut)
		}
		if _, err := Replay(context.Background(), simprog.New(program), tr); err != nil {
			t.Errorf("%s: %v", tr.Header.Strategy, err)
		}
	}
}

// TestCutResumes: a search that goes on cuts the executions that the whole search cuts.
func TestCutResumes(t *testing.T) {
	plans := func(state []byte, runs int) (out []schedule.Plan, saved []byte) {
		opts := Options{MaxSteps: 1 << 20, Runs: runs, Resume: state, Save: func(b []byte) error { saved = b; return nil }}
		w := Local(simprog.New(stress(manyTurns, true, 0)))
		opts.Workers = []Worker{workerFunc(func(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
			return w.Work(ctx, func() (Job, bool) {
				j, ok := next()
				if ok {
					out = append(out, j.Plan)
				}
				return j, ok
			}, done)
		})}
		find(t, simprog.New(stress(manyTurns, true, 0)), opts)
		return out, saved
	}
	whole, _ := plans(nil, 40)
	first, state := plans(nil, 17)
	second, _ := plans(state, 40)
	budgets := func(list ...[]schedule.Plan) (out []int) {
		for _, plans := range list {
			for _, p := range plans {
				for range p.Repeat {
					if !p.Cut {
						out = append(out, 0)
					} else {
						out = append(out, p.MaxSteps)
					}
				}
			}
		}
		return out
	}
	if a, b := budgets(whole), budgets(first, second); fmt.Sprint(a) != fmt.Sprint(b) || len(a) != 40 {
		t.Errorf("cut after\n%v, want\n%v", b, a)
	}
}

// TestKinds: each kind of executions of a long program gets its share of the points, at first and once one has shown a race. An execution
// that is recorded never has turns.
func TestKinds(t *testing.T) {
	for _, test := range []struct {
		yields   int
		recorded bool
		want     [kinds]float64
	}{
		{-1, false, firstShares},
		{inTurns, false, [kinds]float64{cutShort: 1. / 6, inTurns: 0.75, whole: 1. / 12}},
		{cutShort, false, [kinds]float64{cutShort: 0.75, inTurns: 0.125, whole: 0.125}},
		{-1, true, [kinds]float64{cutShort: 2. / 3, whole: 1. / 3}},
	} {
		c := cuts{Yields: test.yields}
		for range 1200 {
			c.Planned[c.next(!test.recorded)]++
		}
		for kind := range kinds {
			if got := c.Planned[kind] / 1200; math.Abs(got-test.want[kind]) > 0.01 {
				t.Errorf("yields %d, recorded %t: kind %d has %.3f of the points, want %.3f", test.yields, test.recorded, kind, got, test.want[kind])
			}
		}
	}
}
