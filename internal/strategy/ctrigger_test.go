package strategy_test

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// interleaved returns a recording in which thread 2 writes between the read and the write of thread 1 at 10 and
// 11, and after those at 20 and 21.
func interleaved() *trace.Trace {
	x := trace.MakeObject(trace.RegionGlobal, 0, 64)
	access := func(thread, line int, op trace.Op) trace.Event {
		return trace.Event{Thread: trace.ThreadID(thread), Op: op, Site: trace.MakeSite(0, uint64(line)), Object: x, Size: 4}
	}
	return &trace.Trace{
		Header:  trace.Header{Target: "c", Instrumented: true},
		Modules: []trace.Module{{Path: "p", Program: true}},
		Threads: []trace.Thread{{Parent: -1}, {ID: 1, Parent: -1, Nth: 1}, {ID: 2, Parent: -1, Nth: 2}},
		Events: []trace.Event{
			access(1, 10, trace.OpRead), access(2, 30, trace.OpWrite), access(1, 11, trace.OpWrite),
			access(1, 20, trace.OpRead), access(1, 21, trace.OpWrite),
		},
	}
}

// TestCTriggerInFlight: executions of a portfolio may be under way together and end in any order, so
// recordings of other arms can end phase one before its own recording comes back. Sometimes one is lost.
func TestCTriggerInFlight(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, seed))
		p := strategy.NewPortfolio(strategy.Setting{Seed: seed})
		var flying []strategy.Request
		for made := 0; made < 400; {
			if len(flying) == 0 || len(flying) < 16 && r.IntN(3) > 0 {
				req, ok := p.Next(-1)
				if ok {
					flying, made = append(flying, req), made+1
					continue
				}
				if len(flying) == 0 {
					t.Fatalf("seed %d: the search ended after %d requests", seed, made)
				}
			}
			k := r.IntN(len(flying))
			req := flying[k]
			flying = append(flying[:k], flying[k+1:]...)
			o := &strategy.Observation{Request: &req, Last: true}
			if r.IntN(8) > 0 {
				o.Outcome = &schedule.Outcome{Threads: 3, Points: 5}
				if r.IntN(2) > 0 {
					o.Outcome.Trace = interleaved()
					if seed%2 > 0 {
						o.Outcome.Trace.Events = o.Outcome.Trace.Events[:1] // nothing to force
					}
					req.Plan.Accesses = true // the loop may record more than a plan requires
				}
			}
			p.Observe(o)
		}
	}
}

// TestCTriggerOrder: interleavings that no recording exercised are forced first, then the others; with so
// few, each is forced in every way several times, and with executions that show nothing the search ends.
func TestCTriggerOrder(t *testing.T) {
	t.Parallel()
	recorded := interleaved()
	c := strategy.NewCTrigger(strategy.Setting{Seed: 1})
	made := map[trace.Site]int{} // executions of phase two by the instruction before which a thread is held first
	profiled := 0
	for n := 0; ; n++ {
		if n > 1000 {
			t.Fatal("the search does not end")
		}
		req, ok := c.Next(-1)
		if !ok {
			break
		}
		o := &schedule.Outcome{}
		if len(req.Plan.Holds) == 0 {
			profiled++
			o.Trace = recorded
		} else {
			made[req.Plan.Holds[0].Site]++
		}
		c.Observe(&strategy.Observation{Request: &req, Last: true, Outcome: o})
	}
	targets := c.Targets()
	exercised := false
	for _, i := range targets {
		if exercised && i.Exercised == 0 {
			t.Errorf("an interleaving that no recording exercised comes after one that all did: %+v", targets)
		}
		exercised = exercised || i.Exercised > 0
	}
	if !exercised || len(targets) < 2 || targets[0].Exercised > 0 {
		t.Fatalf("%+v", targets)
	}
	for _, i := range targets {
		if i.Tried < 16 {
			t.Errorf("%d executions for %+v of %d", i.Tried, i.Triple, len(targets))
		}
	}
	if profiled < 6 || made[trace.MakeSite(0, 11)] == 0 {
		t.Errorf("%d recordings; forced %v", profiled, made)
	}
}

// TestCTriggerAlong: an execution that was made for one interleaving and fails counts for all that occurred in
// it, so that none of them passes for benign; and forcings by chosen arrivals bring the last ones together.
func TestCTriggerAlong(t *testing.T) {
	t.Parallel()
	c := strategy.NewCTrigger(strategy.Setting{Seed: 1})
	failing := interleaved()
	failing.Events = append(failing.Events[:4:4], failing.Events[1], failing.Events[4]) // between 20 and 21, too
	failing.Ending = trace.Ending{Kind: trace.Assertion, Message: "m"}
	profile := interleaved()
	profile.Events = append(profile.Events[:4:4], profile.Events[3], profile.Events[4]) // two arrivals at 20
	target := func(line uint64) *strategy.Target {
		for i := range c.Targets() {
			if x := &c.Targets()[i]; x.C.Site == trace.MakeSite(0, line) && x.P.Site == trace.MakeSite(0, line-1) {
				return x
			}
		}
		return nil
	}
	last := false
	for n := 0; ; n++ {
		req, ok := c.Next(-1)
		if !ok || n > 2000 {
			break
		}
		o := &schedule.Outcome{}
		switch h := req.Plan.Holds; {
		case len(h) == 0:
			o.Trace = profile
		case h[0].Site == trace.MakeSite(0, 21):
			o.Ending = failing.Ending
			if req.Plan.Accesses {
				o.Trace = failing
			}
		case h[0].Site == trace.MakeSite(0, 20):
			last = last || h[0].Arrival == 2
		}
		c.Observe(&strategy.Observation{Request: &req, Last: true, Outcome: o})
	}
	if x := target(21); x == nil || x.Failures == 0 || x.Message != "m" {
		t.Fatalf("the one that was forced: %+v", x)
	}
	if x := target(11); x == nil || x.Failures > 0 || x.Along == 0 || x.Message != "m" || x.Execution == 0 {
		t.Errorf("the other: %+v", x)
	}
	if !last {
		t.Error("no execution held a thread before its last arrival at 20")
	}
}
