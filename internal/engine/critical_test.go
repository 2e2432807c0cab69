package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// checkThenAct is two threads that look, in one critical section, whether there is a seat, and take it in another.
//
//go:noinline
func checkThenAct() simprog.Program {
	return simprog.Program{Name: "check-then-act", Main: func(t *simprog.Thread) {
		seats, m := t.Var(1), t.Mutex()
		var threads []*simprog.Thread
		for range 2 {
			threads = append(threads, t.Go(func(t *simprog.Thread) {
				t.Lock(m)
				free := t.Read(seats)
				t.Unlock(m)
				if free > 0 {
					t.Lock(m)
					t.Write(seats, t.Read(seats)-1)
					t.Unlock(m)
				}
			}))
		}
		for _, u := range threads {
			t.Join(u)
		}
		t.Assert(t.Read(seats) >= 0, "a seat for each")
	}}
}

// TestCriticalSections: of two critical sections of one thread, that one is in the critical order which has to come after
// the other thread's. Turning the acquisitions alone would let the thread go on to both.
func TestCriticalSections(t *testing.T) {
	target := simprog.New(checkThenAct())
	for seed := range uint64(5) {
		r := find(t, target, Options{Seed: seed, Runs: 3000})
		if r.Outcome != Bug {
			t.Fatalf("%+v", r)
		}
		for _, tr := range []*trace.Trace{r.Finding.Recorded, r.Simplified.Recorded} {
			c, err := Explain(t.Context(), target, tr, ExplainOptions{})
			if err != nil || len(c.Orders) == 0 {
				t.Fatalf("seed %d: %+v, %v", seed, c, err)
			}
			o := c.Orders[0]
			nth := func(event int) (n int) { // of the thread's acquisitions
				for i := range event + 1 {
					if ev := &c.Base.Events[i]; ev.Thread == c.Base.Events[event].Thread && ev.Op == trace.OpMutexLock {
						n++
					}
				}
				return n
			}
			if a, b := nth(o.First), nth(o.Second); a != 1 || b != 2 || c.Base.Events[o.First].Thread == c.Base.Events[o.Second].Thread {
				t.Errorf("seed %d: acquisition %d of a thread before %d of the other, at %d and %d", seed, a, b, o.First, o.Second)
			}
		}
	}
}
