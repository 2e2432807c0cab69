package tracegen

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Run is an execution of random programs.
type Run struct {
	// Trace is the execution as heddle would have recorded it.
	Trace *trace.Trace

	progs [][]instr
	steps [][]trace.Event // as the machine made them
	mem   map[uint64]uint64
	ids   []trace.ThreadID // of the machine's threads
}

// Shape sets the size of Random's programs.
type Shape struct {
	Threads int // at least 1
	Length  int // operations of each thread, about
	// Stay is the chance in 100 that the running thread continues.
	Stay int
	// Big has accesses of up to 12 KiB.
	Big bool
}

// Random makes random programs of all the operations of heddle's C runtime and runs them
// under a random schedule, until they have ended or none is enabled.
func Random(seed uint64, shape Shape) *Run {
	r := rand.New(rand.NewPCG(seed, 0x9e37))
	run := &Run{progs: programs(r, shape.Threads, shape.Length, shape.Big)}
	m := newMachine(run.progs, r)
	var enabled [][]int
	last := 0
	for {
		ready := m.enabled()
		timers := m.expirable()
		if len(ready) == 0 && len(timers) == 0 {
			break
		}
		t := -1
		switch {
		case len(ready) == 0 || len(timers) > 0 && r.IntN(30) == 0:
			t = timers[r.IntN(len(timers))]
			m.threads[t].expired = true
		case slices.Contains(ready, last) && r.IntN(100) < shape.Stay:
			t = last
		default:
			t = ready[r.IntN(len(ready))]
		}
		last = t
		ready = m.awake(ready, t)
		evs, err := m.step(t, nil)
		if err != nil {
			panic(err) // the machine chose among those that are ready
		}
		run.steps = append(run.steps, evs)
		enabled = append(enabled, ready)
	}
	run.mem = m.mem
	run.trace(m, enabled)
	return run
}

func (m *machine) expirable() []int {
	var ts []int
	for t := range m.threads {
		if m.canExpire(t) {
			ts = append(ts, t)
		}
	}
	return ts
}

// trace turns the steps into a recorded trace, with threads in order of
// creation.
func (run *Run) trace(m *machine, enabled [][]int) {
	t := &trace.Trace{Header: trace.Header{Target: "c", Instrumented: true, PointsVersion: 1}, Modules: []trace.Module{{Path: "random", Program: true}}}
	run.ids = make([]trace.ThreadID, len(run.progs))
	for i := range run.ids {
		run.ids[i] = -1
	}
	run.ids[0] = 0
	t.Threads = []trace.Thread{{Parent: -1, Name: 1, Ended: m.threads[0].ended}}
	children := map[trace.ThreadID]int{}
	for i, evs := range run.steps {
		for _, ev := range evs {
			ev.Thread = run.ids[ev.Thread]
			switch ev.Op {
			case trace.OpThreadCreate:
				id := trace.ThreadID(len(t.Threads))
				run.ids[ev.Value] = id
				children[ev.Thread]++
				t.Threads = append(t.Threads, trace.Thread{ID: id, Parent: ev.Thread, Nth: children[ev.Thread], Name: ev.Value + 1, Ended: m.threads[ev.Value].ended})
				ev.Value = uint64(id)
			case trace.OpThreadCreated, trace.OpThreadJoin:
				ev.Value = uint64(run.ids[ev.Value])
			case trace.OpCondSignal:
				if ev.Value > 0 {
					ev.Value = uint64(run.ids[ev.Value-1]) + 1
				}
			}
			if ev.Flags&trace.FlagNoDecision == 0 {
				ev.Enabled = run.set(enabled[i])
			}
			t.Events = append(t.Events, ev)
		}
	}
	if !m.exited && slices.ContainsFunc(m.threads, func(th thread) bool { return th.created && !th.ended }) {
		t.Ending.Kind = trace.Deadlock
	}
	m.exited = false // to see which threads could have continued
	for u := range m.threads {
		if th := &m.threads[u]; th.created && !th.ended {
			in := m.next(u)
			t.Ending.Waiters = append(t.Ending.Waiters, trace.Waiter{Thread: run.ids[u], Op: in.op, Object: in.at, Holder: -1, Ready: m.ready(u)})
		}
	}
	run.Trace = t
}

func (run *Run) set(ts []int) trace.ThreadSet {
	var s trace.ThreadSet
	for _, t := range ts {
		s.Add(run.ids[t])
	}
	return s
}

// Steps is the number of scheduling points of the execution.
func (run *Run) Steps() int { return len(run.steps) }

// Replay runs the programs again, with the execution's steps in another order, and
// returns the threads that were enabled at each. It fails if the order cannot be executed
// or is another execution: an operation that was not ready, read another value, returned
// something else or woke another thread, or memory that differs at the end.
func (run *Run) Replay(order []int32) ([]trace.ThreadSet, error) {
	m := newMachine(run.progs, rand.New(rand.NewPCG(0, 0)))
	var enabled []trace.ThreadSet
	for i, step := range order {
		want := run.steps[step]
		t := int(want[0].Thread)
		enabled = append(enabled, run.set(m.awake(m.enabled(), t)))
		if want[0].Flags&trace.FlagTimeout != 0 {
			if !m.canExpire(t) {
				return nil, fmt.Errorf("place %d: step %d timed out, but now its wait is over", i, step)
			}
			m.threads[t].expired = true
		}
		got, err := m.step(t, want)
		if err != nil {
			return nil, fmt.Errorf("place %d, step %d: %w", i, step, err)
		}
		if len(got) != len(want) {
			return nil, fmt.Errorf("place %d: step %d has %d events, had %d", i, step, len(got), len(want))
		}
		for j := range got {
			if err := same(got[j], want[j]); err != nil {
				return nil, fmt.Errorf("place %d, step %d, event %d: %w", i, step, j, err)
			}
		}
	}
	if !maps.Equal(m.mem, run.mem) {
		return nil, fmt.Errorf("memory is different at the end")
	}
	return enabled, nil
}

// same compares what two executions of an operation show to the program.
func same(got, want trace.Event) error {
	switch ops.Does(got.Op) {
	case ops.Up, ops.Down, ops.Arrive:
		got.Value = want.Value // counts are for the record, the program does not see them
	}
	got.Enabled, want.Enabled = trace.ThreadSet{}, trace.ThreadSet{}
	if got.Thread != want.Thread || got.Op != want.Op || got.Object != want.Object || got.Aux != want.Aux || got.Size != want.Size || got.Flags != want.Flags || got.Result != want.Result || got.Value != want.Value || got.Site != want.Site {
		return fmt.Errorf("is %+v, was %+v", got, want)
	}
	return nil
}
