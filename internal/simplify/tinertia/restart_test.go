package tinertia

import (
	"context"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestRestart follows one pass of restart that nothing is accepted in, and checks that
// each prefix is what it says it is and that they come in order.
func TestRestart(t *testing.T) {
	far, second := 0, 0
	for n := range uint64(40) {
		p := anyProgram(n)
		in := failing(p, n, 30)
		if in == nil {
			continue
		}
		q := newSequence(in)
		if len(q.teis) < 2 {
			continue
		}
		r := &restarts{q: q, known: q.switchPlaces(), room: 400}
		last := &prefix{}
		for x, made := last, 0; x != nil && made < 60; x, made = r.pop(), made+1 {
			plan := schedule.Plan{Mode: schedule.Tolerant, Script: x.script(), Threads: x.threads, Record: true}
			out, err := p.run(context.Background(), plan)
			if err != nil {
				t.Fatal(err)
			}
			got := newSequence(out.Trace)
			if len(got.steps) < x.length || x.length != len(plan.Script) {
				t.Fatalf("program %d: prefix of %d, script of %d, execution of %d", n, x.length, len(plan.Script), len(got.steps))
			}
			for i, s := range plan.Script {
				e := got.events[i]
				if nameOf(out.Trace.Threads, e.Thread) != nameOf(x.threads, s.Thread) || s.Op != trace.OpNone && s.Op != e.Op {
					t.Fatalf("program %d: choice %d of %d is %v of thread %d, want %v of %d", n, i, len(plan.Script), e.Op, e.Thread, s.Op, s.Thread)
				}
			}
			c := trace.CostOf(got.events[:x.length])
			if c.Switches != x.switches || c.Preemptions != x.preemptions {
				t.Fatalf("program %d: the prefix has %d switches and %d preemptions, it says %d and %d", n, c.Switches, c.Preemptions, x.switches, x.preemptions)
			}
			if x.preemptions > restartBound || c.Switches > q.cost.Switches {
				t.Fatalf("program %d: prefix of %+v is too much for %+v", n, c, q.cost)
			}
			if x.preemptions < last.preemptions {
				t.Errorf("program %d: %d preemptions after %d", n, x.preemptions, last.preemptions)
			}
			if x.distance > 0 {
				far++
			}
			if x.preemptions == 2 {
				second++
			}
			last = x
			r.expand(x, out.Trace)
		}
	}
	if far == 0 || second == 0 {
		t.Errorf("%d prefixes away from the switches, %d with two preemptions", far, second)
	}
}

// TestRestartRoom checks that what is kept when there is no room is the best.
func TestRestartRoom(t *testing.T) {
	r := &restarts{room: 10}
	var want []int
	for i := range 200 {
		d := i * 37 % 200
		r.push(prefix{distance: d})
		want = append(want, d)
	}
	slices.Sort(want)
	for i := range 5 {
		if p := r.pop(); p == nil || p.distance != want[i] {
			t.Fatalf("%d-th is %+v, want distance %d", i, p, want[i])
		}
	}
	for n := 5; r.pop() != nil; n++ {
		if n >= 10 {
			t.Fatal("there are more than there is room for")
		}
	}
}

func TestPlaceDistance(t *testing.T) {
	q := letters("aabaaab") // a is descheduled after 2 and 5 operations, b after 1
	p := q.switchPlaces()
	for _, c := range []struct {
		event, n int // operation, of how many by its thread
		to       trace.ThreadID
		want     int
	}{
		{1, 2, 1, 0}, // where it switches
		{1, 2, 2, 1}, // to another thread
		{0, 1, 1, 2}, // one earlier
		{4, 4, 1, 2}, // one before the second place
		{6, 2, 0, 2}, // b, one later
		{1, 9, 2, 5}, // elsewhere
	} {
		if got := p.distance(q.trace.Threads, &q.events[c.event], c.n, c.to); got != c.want {
			t.Errorf("event %d, operation %d, to %d: %d, want %d", c.event, c.n, c.to, got, c.want)
		}
	}
	if got := p.distance(nil, &trace.Event{Thread: 7}, 1, 0); got != farAway {
		t.Errorf("a thread that is never descheduled: %d", got)
	}
}
