package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
)

// transfer is a thread that moves something from one word to another in two critical sections, and main, which adds them up in one. If
// early, main must not do so before the second section, whatever the first one is.
func transfer(name string, early bool) simprog.Program {
	return simprog.Program{Name: name, Main: func(t *simprog.Thread) {
		a, b, m := t.Var(1), t.Var(0), t.Mutex()
		u := t.Go(func(t *simprog.Thread) {
			t.Lock(m)
			t.Write(a, 0)
			t.Unlock(m)
			t.Lock(m)
			t.Write(b, 1)
			t.Unlock(m)
		})
		t.Lock(m)
		sum := t.Read(a) + t.Read(b)
		if early {
			sum = t.Read(b)
		}
		t.Unlock(m)
		t.Join(u)
		t.Assert(sum == 1, "the sum")
	}}
}

// TestBetweenSections: what one thread does between two critical sections of another is told with both, if it may come before them as well as
// behind.
func TestBetweenSections(t *testing.T) {
	for _, early := range []bool{false, true} {
		target := simprog.New(transfer("transfer", early))
		r := find(t, target, Options{})
		if r.Outcome != Bug {
			t.Fatalf("%+v", r)
		}
		c, err := Explain(t.Context(), target, r.Simplified.Recorded, ExplainOptions{Names: report.NewRunning(target.Modules)})
		if err != nil || len(c.Orders) == 0 {
			t.Fatalf("%+v, %v", c, err)
		}
		o := c.Orders[0]
		if o.Between == early {
			t.Errorf("early %t: %+v", early, c.Orders)
			continue
		}
		if early {
			continue
		}
		p := c.Orders[1]
		if o.First > p.First {
			o, p = p, o
		}
		first, second, third := c.Base.Events[o.First], c.Base.Events[o.Second], c.Base.Events[p.First]
		if first.Thread != 1 || second.Thread != 0 || third.Thread != 0 || p.Second >= 0 && c.Base.Events[p.Second].Thread != 1 {
			t.Errorf("%+v", c.Orders)
		}
	}
}
