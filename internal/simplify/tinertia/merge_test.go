package tinertia

import (
	"context"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestStaticMerge: what reordering gives is taken in one execution, whatever has to be moved for it, and not asked
// for again until the execution has changed.
func TestStaticMerge(t *testing.T) {
	write := func(v, n int) []instr {
		var code []instr
		for range n {
			code = append(code, instr{kind: kWrite, a: v, b: 1})
		}
		return code
	}
	p := &program{vars: 2, start: []int{0, 1}, funcs: [][]instr{append(write(0, 6), instr{kind: kFail}), write(1, 6)}}
	in := p.scripted(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0)
	asked := 0
	r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{
		Operations: []Operation{StaticMerge, MoveUp, MoveDown},
		Reorder: func(_ context.Context, tr *trace.Trace, kept int) (*trace.Trace, error) {
			asked++
			by := *tr
			by.Events = slices.Clone(tr.Events)
			slices.SortStableFunc(by.Events, func(a, b trace.Event) int { return int(b.Thread) - int(a.Thread) })
			if kept != 0 {
				return tr, nil
			}
			return &by, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Steps) != 1 || r.Steps[0].Operation != StaticMerge || r.Steps[0].Execution != 2 || r.After.Switches != 1 {
		t.Errorf("steps %+v to %+v; want one, by the first execution after the input's", r.Steps, r.After)
	}
	if asked != 1 {
		t.Errorf("asked for %d orders; want one, as nothing but it has changed the execution", asked)
	}
}

// TestAffordable: a pass that gains nothing makes fewer executions the longer they are.
func TestAffordable(t *testing.T) {
	s := &search{}
	s.setCurrentCost(100)
	if n := s.passLimit(); n != 300 {
		t.Errorf("%d executions of 100 decisions, want 300", n)
	}
	s.setCurrentCost(100_000)
	if n := s.passLimit(); n != 10 {
		t.Errorf("%d executions of 100,000 decisions, want 10", n)
	}
	s.setCurrentCost(10_000_000)
	if n := s.passLimit(); n != leastAffordable {
		t.Errorf("%d executions of 10,000,000 decisions, want %d", n, leastAffordable)
	}
}

// setCurrentCost makes an execution current that has that many events and no TEIs.
func (s *search) setCurrentCost(events int) {
	s.cur = &sequence{cost: trace.Cost{Switches: 3, Preemptions: 1, Threads: 2, Events: events}}
}

// TestSimpler: a few events of many are not worth an execution, and a switch is whatever else it costs.
func TestSimpler(t *testing.T) {
	s := &search{}
	s.setCurrentCost(1280)
	for _, c := range []struct {
		what string
		cost trace.Cost
		want bool
	}{
		{"the same", trace.Cost{Switches: 3, Preemptions: 1, Threads: 2, Events: 1280}, false},
		{"19 events fewer", trace.Cost{Switches: 3, Preemptions: 1, Threads: 2, Events: 1261}, false},
		{"20 events fewer", trace.Cost{Switches: 3, Preemptions: 1, Threads: 2, Events: 1260}, true},
		{"a thread fewer", trace.Cost{Switches: 3, Preemptions: 1, Threads: 1, Events: 1300}, true},
		{"a preemption fewer", trace.Cost{Switches: 3, Threads: 2, Events: 1300}, true},
		{"a switch more", trace.Cost{Switches: 4, Threads: 2, Events: 10}, false},
	} {
		if got := s.simpler(c.cost); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	s.setCurrentCost(40)
	if !s.simpler(trace.Cost{Switches: 3, Preemptions: 1, Threads: 2, Events: 39}) {
		t.Error("an event of 40 does not count")
	}
}
