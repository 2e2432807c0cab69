package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// chess is iterative context bounding (Musuvathi, Qadeer, PLDI 2007) with sleep sets (Godefroid,
// LNCS 1032): an exhaustive search whose plans are prefixes of decisions, in the order of their
// preemptions. It shows that the loop already supports such a search. It is for programs whose
// threads all end, and ignores time-outs.
type chess struct {
	setting strategy.Setting
	// Frontier holds the prefixes that have not been planned, by preemptions.
	Frontier map[int][]*branch
	Flying   map[int]*branch // by Request.Key
	Keys     int
	Reduce   bool
	// Visited are the executions that are not equivalent to an earlier one (without Reduce:
	// all); Redundant is the number of the other executions.
	Visited   []string
	Redundant int
	wrong     []string
}

// branch is a decision that no execution has made yet.
type branch struct {
	Script      []schedule.Step
	Threads     []trace.Thread
	Sleep       []trace.Event // operations that must not come next: executions with them are covered
	Preemptions int
}

func newChess(s strategy.Setting, reduce bool) *chess {
	return &chess{setting: s, Reduce: reduce, Frontier: map[int][]*branch{}, Flying: map[int]*branch{}}
}

func (c *chess) String() string                 { return fmt.Sprintf("chess reduce=%t", c.Reduce) }
func (c *chess) Stage() strategy.Stage          { return strategy.Stage{Points: len(c.setting.Points)} }
func (c *chess) MarshalBinary() ([]byte, error) { return json.Marshal(c) }
func (c *chess) UnmarshalBinary(b []byte) error { return json.Unmarshal(b, c) }

func (c *chess) Next(int) (strategy.Request, bool) {
	if len(c.Frontier) == 0 {
		return strategy.Request{}, false
	}
	least := slices.Min(slices.Collect(maps.Keys(c.Frontier)))
	for _, b := range c.Flying {
		if b.Preemptions < least {
			return strategy.Request{}, false // its executions may add branches that come earlier
		}
	}
	bs := c.Frontier[least]
	b := bs[0]
	if c.Frontier[least] = bs[1:]; len(bs) == 1 {
		delete(c.Frontier, least)
	}
	c.Keys++
	c.Flying[c.Keys] = b
	return strategy.Request{Key: c.Keys, Plan: schedule.Plan{
		Mode: schedule.Tolerant, Script: b.Script, Threads: b.Threads, Policy: schedule.Fair,
		Seed: c.setting.FirstSeed(), Points: c.setting.Points, Record: true,
	}}, true
}

func (c *chess) Observe(o *strategy.Observation) {
	b := &branch{}
	if o.Request.Key != strategy.First {
		b = c.Flying[o.Request.Key]
		delete(c.Flying, o.Request.Key)
		if o.Outcome.Deviations != 0 || o.Outcome.Preemptions != b.Preemptions {
			c.wrong = append(c.wrong, fmt.Sprintf("%d deviations, %d preemptions, want %d", o.Outcome.Deviations, o.Outcome.Preemptions, b.Preemptions))
		}
	}
	t := o.Outcome.Trace
	var done []trace.Event // the decisions
	for _, e := range t.Events {
		if e.Flags&trace.FlagNoDecision == 0 {
			done = append(done, e)
		}
	}
	sleep, preemptions := b.Sleep, b.Preemptions
	for i := len(b.Script); i < len(done); i++ {
		e := done[i]
		asleep := func(id trace.ThreadID) bool {
			return c.Reduce && slices.ContainsFunc(sleep, func(z trace.Event) bool { return z.Thread == id })
		}
		covered := append(slices.Clip(sleep), e)
		for id := range trace.ThreadID(len(t.Threads)) {
			if id == e.Thread || !e.Enabled.Has(id) || asleep(id) {
				continue
			}
			at := slices.IndexFunc(done[i:], func(e trace.Event) bool { return e.Thread == id })
			if at < 0 {
				c.wrong = append(c.wrong, fmt.Sprintf("T%d is enabled and never does anything", id))
				continue
			}
			next := done[i+at]
			child := &branch{Script: append(schedule.Steps(done[:i]), schedule.Steps([]trace.Event{next})...), Threads: t.Threads, Preemptions: preemptions}
			for _, z := range covered {
				if independent(&z, &next) {
					child.Sleep = append(child.Sleep, z)
				}
			}
			if last := done[i-1].Thread; last != id && e.Enabled.Has(last) {
				child.Preemptions++
			}
			c.Frontier[child.Preemptions] = append(c.Frontier[child.Preemptions], child)
			covered = append(covered, next)
		}
		if asleep(e.Thread) {
			c.Redundant++
			return
		}
		sleep = slices.DeleteFunc(slices.Clone(sleep), func(z trace.Event) bool { return !independent(&z, &e) })
	}
	c.Visited = append(c.Visited, schedule.Format(schedule.ScriptOf(t), t.Threads))
}

// independent reports whether two operations, both enabled, have the same effect in either order.
func independent(a, b *trace.Event) bool {
	reads := func(e *trace.Event) bool { return e.Op == trace.OpRead || e.Op == trace.OpAtomicLoad }
	return a.Thread != b.Thread && (a.Object == 0 || a.Object != b.Object || reads(a) && reads(b))
}

// crossing has a main thread and threads that take a lock, and then read or write a variable shared
// only by the even ones. It has no bug.
//
//go:noinline
func crossing(threads int) simprog.Program {
	return simprog.Program{Name: fmt.Sprintf("crossing-%d", threads), Main: func(t *simprog.Thread) {
		m := t.Mutex()
		x := t.Var(0)
		var started []*simprog.Thread
		for i := range threads {
			started = append(started, t.Go(func(t *simprog.Thread) {
				if i%2 == 0 {
					t.Lock(m)
					t.Unlock(m)
				} else {
					t.Load(x)
				}
			}))
		}
		t.Lock(m)
		t.Unlock(m)
		t.Store(x, 1)
		for _, other := range started {
			t.Join(other)
		}
	}}
}

// sampled returns the schedules and the behaviours of a program seen in many random executions.
func sampled(t *testing.T, program simprog.Program, executions int) (schedules map[string]bool, behaviours map[uint64]bool) {
	schedules, behaviours = map[string]bool{}, map[uint64]bool{}
	target := simprog.New(program)
	for seed := range uint64(executions) {
		o, err := target.Run(context.Background(), schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true})
		if err != nil {
			t.Fatal(err)
		}
		schedules[schedule.Format(schedule.ScriptOf(o.Trace), o.Trace.Threads)] = true
		behaviours[o.Signature] = true
	}
	return schedules, behaviours
}

// exhaust runs chess until it is complete.
func exhaust(t *testing.T, program simprog.Program, reduce bool, workers int) (*chess, *Report, map[uint64]int) {
	t.Helper()
	var c *chess
	behaviours := map[uint64]int{}
	opts := Options{Search: func(s strategy.Setting) strategy.Strategy {
		c = newChess(s, reduce)
		return &spy{Strategy: c, observed: func(o *strategy.Observation) { behaviours[o.Outcome.Signature]++ }}
	}}
	for range workers {
		opts.Workers = append(opts.Workers, Local(simprog.New(program)))
	}
	r := find(t, simprog.New(program), opts)
	if len(c.wrong) > 0 {
		t.Fatal(c.wrong[0])
	}
	if r.Outcome != Nothing || r.Ended != Complete || r.Executions != len(c.Visited)+c.Redundant {
		t.Fatalf("%+v, %d visited, %d redundant", r, len(c.Visited), c.Redundant)
	}
	return c, r, behaviours
}

// spy shows a test what a strategy observes.
type spy struct {
	strategy.Strategy
	observed func(*strategy.Observation)
}

func (s *spy) Observe(o *strategy.Observation) {
	s.observed(o)
	s.Strategy.Observe(o)
}

// TestExhaustive: a search by prefixes visits every execution of a program exactly once, in the
// order of preemptions, and detects its completion.
func TestExhaustive(t *testing.T) {
	for _, workers := range []int{1, 3} {
		c, r, _ := exhaust(t, crossing(1), false, workers)
		want, behaviours := sampled(t, crossing(1), 4000)
		got := map[string]bool{}
		for _, s := range c.Visited {
			if got[s] {
				t.Errorf("visited twice: %s", s)
			}
			got[s] = true
		}
		if !maps.Equal(got, want) || r.Behaviours != len(behaviours) || len(want) < 15 {
			t.Errorf("%d workers: %d executions with %d behaviours, want %d with %d", workers, len(got), r.Behaviours, len(want), len(behaviours))
		}
	}
}

// TestExhaustiveInOrder: executions with fewer preemptions come first.
func TestExhaustiveInOrder(t *testing.T) {
	last := 0
	r := find(t, simprog.New(crossing(1)), Options{Search: func(s strategy.Setting) strategy.Strategy {
		return &spy{Strategy: newChess(s, false), observed: func(o *strategy.Observation) {
			if n := o.Outcome.Preemptions; n < last {
				t.Errorf("%d preemptions after %d", n, last)
			} else {
				last = n
			}
		}}
	}})
	if r.Ended != Complete || last < 2 {
		t.Errorf("%+v, up to %d preemptions", r, last)
	}
}

// TestSleepSets: with reduction every behaviour is visited exactly once, in far fewer executions.
func TestSleepSets(t *testing.T) {
	for threads := range 4 {
		program := crossing(threads)
		c, r, _ := exhaust(t, program, true, 1)
		_, want := sampled(t, program, 10_000)
		if r.Behaviours != len(want) || len(c.Visited) != len(want) {
			t.Errorf("%s: %d executions with %d behaviours are not redundant, want %d", program.Name, len(c.Visited), r.Behaviours, len(want))
		}
		if threads > 2 {
			continue // too many without reduction
		}
		all, _, _ := exhaust(t, program, false, 1)
		t.Logf("%s: %d executions without reduction; with it %d, of which %d redundant", program.Name, len(all.Visited), r.Executions, c.Redundant)
		if threads == 2 && 50*r.Executions > len(all.Visited) {
			t.Errorf("%d executions with reduction, %d without", r.Executions, len(all.Visited))
		}
	}
}

// TestExhaustiveFindsBug: the failure is found with the fewest possible preemptions, and replays.
func TestExhaustiveFindsBug(t *testing.T) {
	r := find(t, simprog.New(simprog.LostWakeup()), Options{NoSimplify: true, Search: func(s strategy.Setting) strategy.Strategy { return newChess(s, true) }})
	if r.Outcome != Bug || !r.Finding.Confirmed || r.Finding.Preemptions != 2 {
		t.Errorf("%+v, %+v", r, r.Finding)
	}
}
