package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
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

// TestTurnedTogether: main may read either of two words before its writer has written it. Where both happen, turning one of the two
// orders alone does not help.
func TestTurnedTogether(t *testing.T) {
	target := simprog.New(simprog.Program{Name: "two-writers", Main: func(t *simprog.Thread) {
		one, two := t.Var(0), t.Var(0)
		a := t.Go(func(t *simprog.Thread) { t.Write(one, 1) })
		b := t.Go(func(t *simprog.Thread) { t.Write(two, 1) })
		both := t.Read(one) == 1
		both = t.Read(two) == 1 && both
		t.Join(a)
		t.Join(b)
		t.Assert(both, "both have written")
	}})
	r := find(t, target, Options{NoSimplify: true})
	if r.Outcome != Bug {
		t.Fatalf("%+v", r)
	}
	c, err := Explain(t.Context(), target, r.Finding.Recorded, ExplainOptions{})
	if err != nil || len(c.Orders) != 2 || c.Reason != "" {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, o := range c.Orders {
		first, second := c.Base.Events[o.First], c.Base.Events[o.Second]
		if !o.Together || o.Failed > 0 || first.Thread != 0 || second.Thread == 0 || first.Object != second.Object {
			t.Errorf("order %d: %+v", i, o)
		}
	}
	if c.Orders[0].Executions == 0 || c.Base.Events[c.Orders[0].First].Object == c.Base.Events[c.Orders[1].First].Object {
		t.Errorf("%+v", c.Orders)
	}
}

// TestUnexplained: an explanation without an ordering says why it has none.
func TestUnexplained(t *testing.T) {
	always := simprog.Program{Name: "always", Main: func(t *simprog.Thread) {
		v := t.Var(0)
		a := t.Go(func(t *simprog.Thread) { t.Write(v, t.Read(v)+1) })
		t.Write(v, 2)
		t.Join(a)
		t.Assert(t.Read(v) > 9, "never true")
	}}
	otherwise := simprog.Program{Name: "otherwise", Main: func(t *simprog.Thread) {
		v := t.Var(0)
		a := t.Go(func(t *simprog.Thread) { t.Write(v, 1) })
		t.Assert(t.Read(v) == 1, "too early")
		t.Join(a)
		t.Assert(false, "in any case")
	}}
	for _, k := range []struct {
		program    simprog.Program
		executions int
		want       report.Unexplained
	}{
		{always, 0, report.AlwaysFails},
		{otherwise, 0, report.FailsOtherwise},
		{checkThenAct(), 3, report.OutOfRuns},
	} {
		target := simprog.New(k.program)
		r := find(t, target, Options{Runs: 3000, NoSimplify: true})
		if r.Outcome != Bug {
			t.Fatalf("%+v", r)
		}
		c, err := Explain(t.Context(), target, r.Finding.Recorded, ExplainOptions{Executions: k.executions})
		if err != nil || len(c.Orders) > 0 || c.Reason != k.want {
			t.Errorf("%s: %+v, %v, want %s", k.program.Name, c, err, k.want)
		}
	}
}
