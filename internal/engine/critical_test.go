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

// longWork is threads that add to words under locks, and to one of them without; main looks at that one.
//
//go:noinline
func longWork(rounds int) simprog.Program {
	return simprog.Program{Name: "long-work", Main: func(t *simprog.Thread) {
		var sums [6]*simprog.Word
		var locks [6]*simprog.Mutex
		for i := range sums {
			sums[i], locks[i] = t.Var(0), t.Mutex()
		}
		balance := t.Var(0)
		var threads []*simprog.Thread
		for n := range 3 {
			threads = append(threads, t.Go(func(t *simprog.Thread) {
				for i := range rounds {
					k := (i*5 + n) % len(sums)
					t.Lock(locks[k])
					t.Write(sums[k], t.Read(sums[k])+1)
					t.Unlock(locks[k])
					if i == rounds/2 {
						t.Write(balance, t.Read(balance)+1)
					}
				}
			}))
		}
		for _, u := range threads {
			t.Join(u)
		}
		t.Assert(t.Read(balance) == 3, "three have come")
	}}
}

// TestLongExecution: what the failing thread used last is turned first, and the rest is not once an ordering is confirmed.
func TestLongExecution(t *testing.T) {
	target := simprog.New(longWork(1700))
	r := find(t, target, Options{Runs: 3000, NoSimplify: true})
	if r.Outcome != Bug {
		t.Fatalf("%+v", r)
	}
	c, err := Explain(t.Context(), target, r.Finding.Recorded, ExplainOptions{})
	if err != nil || len(c.Orders) == 0 || len(c.Base.Events) <= explainLong {
		t.Fatalf("%+v, %v", c, err)
	}
	read := &c.Base.Events[len(c.Base.Events)-1] // main's
	for i := len(c.Base.Events) - 1; read.Op != trace.OpRead; i-- {
		read = &c.Base.Events[i]
	}
	o := c.Orders[0]
	if first, second := &c.Base.Events[o.First], &c.Base.Events[o.Second]; first.Object != read.Object || second.Object != read.Object || o.Doubtful() {
		t.Errorf("the order %+v is of %v and %v, want %v", o, first.Object, second.Object, read.Object)
	}
	if c.Complete || c.Executions > 180 {
		t.Errorf("%d executions, complete: %v", c.Executions, c.Complete)
	}
}

// TestUnconfirmed: where the limit leaves no executions for trying an ordering in other schedules, it is named as one that is not confirmed.
func TestUnconfirmed(t *testing.T) {
	target := simprog.New(checkThenAct())
	r := find(t, target, Options{Runs: 3000})
	if r.Outcome != Bug {
		t.Fatalf("%+v", r)
	}
	full, err := Explain(t.Context(), target, r.Simplified.Recorded, ExplainOptions{})
	if err != nil || len(full.Orders) == 0 {
		t.Fatalf("%+v, %v", full, err)
	}
	unconfirmed := 0
	for n := 1; n < full.Executions; n++ {
		c, err := Explain(t.Context(), target, r.Simplified.Recorded, ExplainOptions{Executions: n})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range c.Orders {
			if o.Unconfirmed {
				unconfirmed++
			}
			if o.Unconfirmed && (!c.Cut || !o.Doubtful() || !o.Controlled || c.Passing == nil || c.Passing.Ending.Kind != trace.Clean) {
				t.Errorf("with %d executions: %+v of %+v", n, o, c)
			}
		}
	}
	if unconfirmed == 0 {
		t.Error("no limit leaves an ordering unconfirmed")
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
	single := simprog.Program{Name: "single", Main: func(t *simprog.Thread) {
		v := t.Var(0)
		for t.Read(v) == 0 {
			t.Yield()
		}
	}}
	for _, k := range []struct {
		program    simprog.Program
		executions int
		want       report.Unexplained
	}{
		{single, 1, report.OneThread},
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
