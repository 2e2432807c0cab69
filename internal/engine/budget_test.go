package engine

import (
	"testing"

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
// simplified. Threads that never give up are one, and its trace is short.
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
	if s := r.Simplified; s == nil || !s.Confirmed {
		t.Errorf("simplified: %+v", s)
	}

	r = find(t, simprog.New(polls(0, false)), Options{Runs: 20, MaxSteps: 1 << 22, Simplify: SimplifyOptions{Executions: 40}})
	if r.Outcome != Bug || r.Finding.Kind != trace.Hang.String() || len(r.Finding.Recorded.Events) > 200 {
		t.Errorf("threads that never give up: %+v, %+v", r, r.Finding)
	}
}
