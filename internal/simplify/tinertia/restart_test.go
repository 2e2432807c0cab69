package tinertia

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestRestart follows a search in which nothing is accepted, and checks that each prefix's fields
// are right and that prefixes come in order.
func TestRestart(t *testing.T) {
	far, second := 0, 0
	for n := range uint64(40) {
		p := anyProgram(n)
		in := failing(p, n, 30)
		if in == nil {
			continue
		}
		q := newSequence(in, 0)
		if len(q.teis) < 2 {
			continue
		}
		f := newFrontier(q, n%2 == 0, math.MaxInt64)
		last := &prefix{}
		for made := range 60 {
			taken := f.take(1, q.cost)
			if len(taken) == 0 {
				break
			}
			x := taken[0]
			plan := schedule.Plan{Mode: schedule.Tolerant, Script: x.script(), Threads: x.threads, Record: true}
			out, err := p.run(context.Background(), plan)
			if err != nil {
				t.Fatal(err)
			}
			got := newSequence(out.Trace, 0)
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
			if c.Switches != int(x.switches) || c.Preemptions != int(x.preemptions) {
				t.Fatalf("program %d: the prefix has %d switches and %d preemptions, it says %d and %d", n, c.Switches, c.Preemptions, x.switches, x.preemptions)
			}
			if c.Switches > q.cost.Switches {
				t.Fatalf("program %d: prefix of %+v is too much for %+v", n, c, q.cost)
			}
			if made > 0 && x.preemptions < last.preemptions {
				t.Errorf("program %d: %d preemptions after %d", n, x.preemptions, last.preemptions)
			}
			if x.distance > 0 {
				far++
			}
			if x.preemptions == 2 {
				second++
			}
			last = x
			f.expand(x, f.view(out.Trace), q.cost, schedule.NoDelays)
		}
	}
	if far == 0 || second == 0 {
		t.Errorf("%d prefixes away from the switches, %d with two preemptions", far, second)
	}
}

// TestShownOptimal compares results that are reported as optimal with the optimum, with and without
// recognising states. It also checks that most results are so reported: those in which no thread
// sleeps in a loop.
func TestShownOptimal(t *testing.T) {
	for _, accesses := range []bool{false, true} {
		programs, shown, executions := 0, 0, 0
		why := map[string]int{}
		for n := range uint64(400) {
			p := anyProgram(n)
			in := failing(p, n, 60)
			if in == nil {
				continue
			}
			best, ok := optimum(p, sameBug(in.Ending), 20_000)
			if !ok {
				continue
			}
			r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{Accesses: accesses})
			if err != nil {
				t.Fatal(err)
			}
			programs++
			executions += r.Table2.Executions
			got := [2]int{r.After.Switches, r.After.Preemptions}
			want := [2]int{best.Switches, best.Preemptions}
			if r.Complete {
				shown++
				if got != want {
					t.Errorf("program %d, accesses %t: %v is said to be shown, the optimum is %v", n, accesses, got, want)
				}
			} else {
				why[r.Unproven]++
				if r.Unproven == "" {
					t.Errorf("program %d: no reason", n)
				}
			}
		}
		t.Logf("accesses %t: %d of %d shown, %d executions each; others: %v", accesses, shown, programs, executions/max(1, programs), why)
		if programs < 100 || 100*shown < 75*programs {
			t.Errorf("accesses %t: %d of %d shown", accesses, shown, programs)
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
		{1, 9, 2, 5}, // a different switch
	} {
		if got := p.distance(q.trace.Threads, &q.events[c.event], c.n, c.to); got != c.want {
			t.Errorf("event %d, operation %d, to %d: %d, want %d", c.event, c.n, c.to, got, c.want)
		}
	}
	if got := p.distance(nil, &trace.Event{Thread: 7}, 1, 0); got != farAway {
		t.Errorf("a thread that is never descheduled: %d", got)
	}
}

// figures are those of a result.
type figures struct {
	cost             trace.Cost
	schedule         uint64
	executions, gain int
}

func width(n int) func() int { return func() int { return n } }

// TestBatchSameResult: the result depends neither on how many plans run at a time nor on how many
// results are kept, and neither do the executions that count.
func TestBatchSameResult(t *testing.T) {
	ahead := 0
	for n := range uint64(30) {
		p := anyProgram(n)
		in := failing(p, n, 30)
		if in == nil {
			continue
		}
		var costs []figures
		reversed := func(ctx context.Context, plans []schedule.Plan, look func(int, *schedule.Outcome), done func(int, schedule.Outcome) bool) error {
			outs := make([]schedule.Outcome, len(plans))
			for i := range slices.Backward(plans) {
				outs[i], _ = p.run(ctx, plans[i])
				if look != nil {
					look(i, &outs[i])
				} else {
					ahead++
				}
			}
			for i, o := range outs {
				if !done(i, o) {
					break
				}
			}
			return nil
		}
		for _, opts := range []Options{{}, {Batch: reversed}, {Batch: reversed, room: 1}, {room: 200}, {Batch: reversed, Width: width(2)}, {Batch: reversed, Width: width(5)}} {
			opts.Extra = 1000
			r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, opts)
			if err != nil {
				t.Fatal(err)
			}
			f := figures{r.After, hashSchedule(schedule.Steps(r.Trace.Events), r.Trace.Threads), r.Table2.Executions, r.LastGain}
			if opts.room > 0 {
				f.executions, f.gain = 0, 0 // what was dropped is executed again
			}
			costs = append(costs, f)
		}
		for _, c := range costs {
			if c.cost != costs[0].cost || c.schedule != costs[0].schedule || c.executions > 0 && c != costs[0] {
				t.Errorf("program %d: %+v", n, costs)
				break
			}
		}
	}
	if ahead == 0 {
		t.Error("no candidate was executed before its turn")
	}
}

// TestFrontierSize: a frontier gives back what its prefixes hold, keeps within its room, says that it ran
// out of room, and is not believed to show anything then.
func TestFrontierSize(t *testing.T) {
	const executions = 200
	full := 0
	for n := range uint64(12) {
		p := anyProgram(n)
		in := failing(p, n, 30)
		if in == nil {
			continue
		}
		q := newSequence(in, 0)
		explored := func(room int64) (f *frontier, most int64) {
			f = newFrontier(q, true, room)
			for range executions {
				batch := f.take(1, q.cost)
				if len(batch) == 0 {
					break
				}
				out, _ := p.run(context.Background(), schedule.Plan{Mode: schedule.Tolerant, Policy: schedule.Fair, Script: batch[0].script(), Threads: batch[0].threads, Record: true})
				f.expand(batch[0], f.view(out.Trace), q.cost, schedule.NoDelays)
				most = max(most, f.size())
			}
			return f, most
		}
		f, most := explored(math.MaxInt64)
		f.take(math.MaxInt, q.cost)
		if f.held != 0 {
			t.Errorf("program %d: %d bytes are held for no prefix", n, f.held)
		}
		room := most / 2
		f, small := explored(room)
		if one := stepSize*int64(len(q.steps)) + 2*knownEntry*int64(len(q.steps)) + 2*prefixEntry; small > room+room/16+2*one {
			t.Errorf("program %d: %d bytes with room for %d", n, small, room)
		}
		if f.gap != gapRoom {
			continue
		}
		full++
		r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{Extra: 300, Memory: 2 * room})
		if err != nil {
			t.Fatal(err)
		}
		best, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{Extra: 300})
		if err != nil {
			t.Fatal(err)
		}
		if r.Complete && best.After.Switches < r.After.Switches {
			t.Errorf("program %d: %+v is called minimal, and %+v was found", n, r.After, best.After)
		}
	}
	if full == 0 {
		t.Error("no search ran out of room")
	}
}

// TestFloor: a data race with one switch and no preemption is minimal whatever is not known of other
// schedules, and restart executes nothing for it; nothing else with a switch is minimal without search.
func TestFloor(t *testing.T) {
	for _, c := range []struct {
		kind                  trace.Kind
		switches, preemptions int
		want                  bool
	}{
		{trace.Race, 0, 0, true}, {trace.Race, 1, 0, true}, {trace.Race, 1, 1, false}, {trace.Race, 2, 0, false},
		{trace.Deadlock, 0, 0, true}, {trace.Deadlock, 1, 0, false}, {trace.Assertion, 1, 0, false},
	} {
		s := &search{
			cur:  &sequence{cost: trace.Cost{Switches: c.switches, Preemptions: c.preemptions}, trace: &trace.Trace{Ending: trace.Ending{Kind: c.kind}}},
			opts: &Options{Operations: []Operation{Restart}}, gap: gapAccesses, frontier: &frontier{},
		}
		if s.atFloor() {
			if better, err := s.tryRestart(1); better || err != nil || !s.exhausted {
				t.Errorf("%+v: restart: %t, %v, exhausted %t", c, better, err, s.exhausted)
			}
		}
		s.exhausted = true
		if got, why := s.shown(nil); got != c.want || got != (why == "") {
			t.Errorf("%+v: %t, %q", c, got, why)
		}
	}
}

// TestPatience: the search ends when nothing has been gained for long.
func TestPatience(t *testing.T) {
	gaveUp := 0
	for n := range uint64(40) {
		p := anyProgram(n)
		in := failing(p, n, 60)
		if in == nil {
			continue
		}
		input := Input{in, sameBug(in.Ending)}
		long, err := Simplify(context.Background(), input, p.run, Options{})
		if err != nil {
			t.Fatal(err)
		}
		short, err := Simplify(context.Background(), input, p.run, Options{Patience: 1})
		if err != nil {
			t.Fatal(err)
		}
		if long.GaveUp || short.Table2.Executions > long.Table2.Executions || short.GaveUp && !short.Cut {
			t.Errorf("program %d: %d executions, and %d with little patience: %+v", n, long.Table2.Executions, short.Table2.Executions, short)
		}
		if short.GaveUp {
			gaveUp++
		}
	}
	if gaveUp == 0 {
		t.Error("no search gave up")
	}
}
