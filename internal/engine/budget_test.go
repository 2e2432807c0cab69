package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// polls is two threads that raise a flag each and read the other's while it is up, at most limit times; 0 stands for
// without limit. At the limit they fail if strict is set.
//
//go:noinline
func polls(limit int, strict bool) simprog.Program {
	return simprog.Program{Name: "polls", Main: func(t *simprog.Thread) {
		flags := [2]*simprog.Word{t.Var(0), t.Var(0)}
		var threads []*simprog.Thread
		for i := range flags {
			threads = append(threads, t.Go(func(t *simprog.Thread) {
				t.Store(flags[i], 1)
				n := 0
				for t.Load(flags[1-i]) != 0 && (limit == 0 || n < limit) {
					n++
				}
				t.Assert(!strict || n < limit, "gave up")
				t.Store(flags[i], 0)
			}))
		}
		for _, u := range threads {
			t.Join(u)
		}
	}}
}

// TestPatience: threads that poll for long do not hang if they give up; what they do then is found, replayed and
// simplified. Threads that never give up are one, and its trace is as short as without patience.
func TestPatience(t *testing.T) {
	const limit = 4500 // two threads: 9,000 points without progress, and 8,000 are a hang at first
	if r := find(t, simprog.New(polls(limit, false)), Options{Runs: 20, MaxSteps: 1 << 22}); r.Finding != nil || r.Executions != 20 {
		t.Errorf("threads that give up: %+v, %+v", r, r.Finding)
	}

	target := simprog.New(polls(limit, true))
	r := find(t, target, Options{Runs: 20, MaxSteps: 1 << 22, Simplify: SimplifyOptions{Executions: 40}})
	if r.Outcome != Bug || r.Finding.Message != "gave up" {
		t.Fatalf("threads that fail when they give up: %+v, %+v", r, r.Finding)
	}
	if h := r.Finding.Recorded.Header; h.Patience != surePatience {
		t.Errorf("the trace's patience is %d", h.Patience)
	}
	if s := r.Simplified; s == nil || !s.Confirmed || s.Recorded.Header.Patience != surePatience {
		t.Errorf("simplified: %+v", s)
	}

	r = find(t, simprog.New(polls(0, false)), Options{Runs: 20, MaxSteps: 1 << 22, Simplify: SimplifyOptions{Executions: 40}})
	if r.Outcome != Bug || r.Finding.Kind != trace.Hang.String() || r.Finding.Recorded.Header.Patience != 0 || len(r.Finding.Recorded.Events) > 20_000 {
		t.Errorf("threads that never give up: %+v, %+v", r, r.Finding)
	}
}

// TestSimplifiedPatience: a hang that is none with more patience is not the result of a simplification.
func TestSimplifiedPatience(t *testing.T) {
	if ends, err := endsWithPatience(t.Context(), simprog.New(polls(0, false)), hangOf(t, 0)); err != nil || ends {
		t.Errorf("a hang: ends %t, %v", ends, err)
	}
	if ends, err := endsWithPatience(t.Context(), simprog.New(polls(4500, false)), hangOf(t, 4500)); err != nil || !ends {
		t.Errorf("a loop that gives up: ends %t, %v", ends, err)
	}
	s, err := Simplify(t.Context(), simprog.New(polls(4500, false)), hangOf(t, 4500), SimplifyOptions{Executions: 40, MaxSteps: 1 << 22}, nil)
	if s != nil {
		t.Errorf("a loop that gives up: simplified to %+v, %v", s, err)
	}
}

// hangOf records an execution of polls that looks like a hang.
func hangOf(t *testing.T, limit int) *trace.Trace {
	t.Helper()
	for seed := range uint64(50) {
		tr, err := Record(t.Context(), simprog.New(polls(limit, false)), RecordOptions{Strategy: strategy.POS{}, Seed: seed, MaxSteps: 1 << 22})
		if err != nil {
			t.Fatal(err)
		}
		if tr.Ending.Kind == trace.Hang && tr.Ending.Message == trace.NoProgress {
			return tr
		}
	}
	t.Fatal("no execution looks like a hang")
	return nil
}
