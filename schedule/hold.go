package schedule

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

// MaxHolds is the largest number of holds of a plan.
const MaxHolds = abi.Holds

// AnyThread is Hold.Thread for a hold of every thread.
const AnyThread trace.ThreadID = -1

// Hold keeps a thread before an instruction: the policy does not choose the thread until the hold
// ends. docs/scheduler.md has the exact rules. A hold ends when Until has been done, when no other
// thread can do more than wait, or after Steps. It never changes which threads are enabled, and a
// script is followed regardless of holds, so a recorded execution is repeated without them.
type Hold struct {
	Site    trace.Site     // the instruction before which a thread is held; never 0
	Arrival int            // only a thread's arrival of that number there, from 1; 0: each
	Thread  trace.ThreadID // only this thread, an index into Plan.Threads; AnyThread: any

	Until trace.Site // the instruction that ends the hold; 0: none
	When  Moment     // when Until counts
	Same  bool       // Until counts only on the object that the held thread is about to touch

	// Last makes the hold depend on the object that the held thread is about to touch: it is in
	// force only while the instruction Last made the last change of that object, or with Not, only
	// while Last did not. 0: always in force. Changes count only where they are scheduling points.
	Last trace.Site
	Not  bool

	Steps int // scheduling points after which the hold ends; 0: no bound but that of starvation

	// Time lets waits, sleeps and timers of other threads end early, within Plan.Delays, before the hold ends because no other
	// thread can do more than wait.
	Time bool
}

// Moment is when Hold.Until ends a hold.
type Moment uint8

const (
	Done    Moment = iota // another thread has done it since the arrival
	Ever                  // any thread has done it, before the arrival or since
	Reached               // another thread stands before it, at the arrival or later
)

// HoldCount is what became of a hold in one execution. Arrivals that were held and are in none of
// the reasons were held until the execution ended.
type HoldCount struct {
	Arrived int // arrivals that the hold is for
	Held    int // those at which it was in force at a decision
	// Why held ones ended.
	Done   int // Until was done, or Last no longer applied
	Nobody int // no other thread could do more than wait
	Steps  int // the bound, starvation, or the second half of the step budget
	Script int // the script chose the thread
}

// Sites returns the plan's scheduling points among memory instructions: Points, and the
// instructions that its holds name.
func (p *Plan) Sites() []trace.Site {
	if len(p.Holds) == 0 {
		return p.Points
	}
	sites := slices.Clone(p.Points)
	known := make(map[trace.Site]bool, len(sites))
	for _, s := range sites {
		known[s] = true
	}
	for i := range p.Holds {
		h := &p.Holds[i]
		for _, s := range []trace.Site{h.Site, h.Until, h.Last} {
			if s != 0 && !known[s] {
				known[s] = true
				sites = append(sites, s)
			}
		}
	}
	return sites
}

// CheckHolds reports holds that no target can carry out.
func (p *Plan) CheckHolds() error {
	if len(p.Holds) > MaxHolds {
		return fmt.Errorf("the plan has %d holds, and at most %d are possible", len(p.Holds), MaxHolds)
	}
	for i := range p.Holds {
		h := &p.Holds[i]
		switch {
		case h.Site == 0:
			return fmt.Errorf("hold %d names no instruction", i)
		case h.Thread != AnyThread && (h.Thread < 0 || int(h.Thread) >= len(p.Threads)):
			return fmt.Errorf("hold %d names thread %d, but the plan lists only %d threads", i, h.Thread, len(p.Threads))
		case h.Arrival < 0 || h.Arrival > maxCount || h.Steps < 0 || h.Steps > maxCount:
			return fmt.Errorf("hold %d has a count that is not possible", i)
		case h.When > Reached:
			return fmt.Errorf("hold %d: %d is not a moment", i, h.When)
		case h.Not && h.Last == 0:
			return fmt.Errorf("hold %d excludes no instruction", i)
		}
	}
	return nil
}

func encodeHolds(holds []Hold) (out []*tracepb.Hold) {
	for _, h := range holds {
		out = append(out, &tracepb.Hold{
			Site: uint64(h.Site), Arrival: uint32(h.Arrival), Thread: int32(h.Thread), Until: uint64(h.Until), When: uint32(h.When),
			Same: h.Same, Last: uint64(h.Last), Not: h.Not, Steps: uint32(h.Steps), Time: h.Time,
		})
	}
	return out
}

func decodeHolds(m []*tracepb.Hold) (out []Hold, err error) {
	for _, h := range m {
		if h.When > uint32(Reached) {
			return nil, fmt.Errorf("%d is not a moment", h.When)
		}
		out = append(out, Hold{
			Site: trace.Site(h.Site), Arrival: int(h.Arrival), Thread: trace.ThreadID(h.Thread), Until: trace.Site(h.Until), When: Moment(h.When),
			Same: h.Same, Last: trace.Site(h.Last), Not: h.Not, Steps: int(h.Steps), Time: h.Time,
		})
	}
	return out, nil
}

func encodeHoldCounts(counts []HoldCount) (out []*tracepb.HoldCount, err error) {
	for _, c := range counts {
		for _, n := range []int{c.Arrived, c.Held, c.Done, c.Nobody, c.Steps, c.Script} {
			if n < 0 || n > maxCount {
				return nil, errors.New("an outcome with an impossible count of holds cannot leave its process: a bug in heddle")
			}
		}
		out = append(out, &tracepb.HoldCount{
			Arrived: uint32(c.Arrived), Held: uint32(c.Held), Done: uint32(c.Done), Nobody: uint32(c.Nobody), Steps: uint32(c.Steps), Script: uint32(c.Script),
		})
	}
	return out, nil
}

func decodeHoldCounts(m []*tracepb.HoldCount) (out []HoldCount, err error) {
	for _, c := range m {
		if err := counts(uint64(c.Arrived), uint64(c.Held), uint64(c.Done), uint64(c.Nobody), uint64(c.Steps), uint64(c.Script)); err != nil {
			return nil, err
		}
		out = append(out, HoldCount{
			Arrived: int(c.Arrived), Held: int(c.Held), Done: int(c.Done), Nobody: int(c.Nobody), Steps: int(c.Steps), Script: int(c.Script),
		})
	}
	return out, nil
}
