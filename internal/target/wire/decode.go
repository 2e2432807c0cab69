package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// execution gathers the records of one execution until its result comes.
type execution struct {
	events    []abi.Event
	stacks    [][]uint64
	threads   []abi.ThreadInfo
	waiters   []abi.Waiter
	backtrace []uint64
	message   string
	output    []byte
}

// reset forgets the records. What nothing was made of but copies is used again: there may
// be millions of events in each execution.
func (x *execution) reset() {
	*x = execution{events: x.events[:0], threads: x.threads[:0]}
}

// Of abi.ThreadInfo.Flags.
const (
	threadEnded = 1
	threadTimer = 16
	threadClock = 8 // time itself, which is nobody's thread
)

func cast[T any](b []byte) []T {
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// one is the value that a record consists of.
func one[T any](b []byte) (v T, err error) {
	if list := cast[T](b); len(list) > 0 {
		return list[0], nil
	}
	return v, errDamaged
}

// counted is the list of n values of size bytes that follows two words, the second of which
// is n.
func counted(b []byte, size int) ([]byte, error) {
	if len(b) >= 8 {
		if n := int(binary.NativeEndian.Uint32(b[4:])); n <= (len(b)-8)/size {
			return b[8 : 8+n*size], nil
		}
	}
	return nil, errDamaged
}

var errDamaged = errors.New("the runtime sent a record that is too short: something has written into heddle's memory")

// add takes one record; result is set for the one that ends the execution.
func (x *execution) add(kind uint32, b []byte) (result *abi.Result, err error) {
	switch kind {
	case abi.RecResult:
		var r abi.Result
		if r, err = one[abi.Result](b); err == nil {
			return &r, nil
		}
	case abi.RecAgain:
		x.reset()
	case abi.RecEvents:
		x.events = append(x.events, cast[abi.Event](b)...)
	case abi.RecStack:
		var pcs []byte
		pcs, err = counted(b, 8)
		x.stacks = append(x.stacks, append([]uint64(nil), cast[uint64](pcs)...))
	case abi.RecThread:
		var th abi.ThreadInfo
		th, err = one[abi.ThreadInfo](b)
		x.threads = append(x.threads, th)
	case abi.RecWaiter:
		var w abi.Waiter
		w, err = one[abi.Waiter](b)
		x.waiters = append(x.waiters, w)
	case abi.RecBacktrace:
		x.backtrace = append([]uint64(nil), cast[uint64](b)...)
	case abi.RecMessage:
		text, _, _ := bytes.Cut(b, []byte{0})
		x.message = string(text)
	case abi.RecOutput:
		var text []byte
		text, err = counted(b, 1)
		x.output = append(x.output, text...)
	default:
		err = fmt.Errorf("the runtime sent a record of unknown type %d", kind)
	}
	return nil, err
}

var kinds = [...]trace.Kind{
	abi.OutClean: trace.Clean, abi.OutAssert: trace.Assertion, abi.OutSignal: trace.Signal,
	abi.OutDeadlock: trace.Deadlock, abi.OutHang: trace.Hang, abi.OutMisuse: trace.Misuse,
	abi.OutException: trace.Exception, abi.OutUnsupported: trace.Unsupported, abi.OutDiverged: trace.Diverged,
	abi.OutTest: trace.Test, abi.OutPanic: trace.Panic, abi.OutFatal: trace.Fatal, abi.OutLeak: trace.Leak,
	abi.OutExit: trace.Exit,
}

// outcome turns the records of an execution into what the controller works with. Index is
// that of the part of the plan that proc was given.
func outcome(prog Program, proc *Process, p *schedule.Plan, x *execution, r *abi.Result) schedule.Outcome {
	var tr *trace.Trace
	stacks := newStacks(x.threads)
	if p.Record {
		tr = record(prog, p, x, stacks)
	}
	o := schedule.Outcome{
		Index: int(r.Index), Coverage: r.Coverage,
		Points: int(r.Points), Switches: int(r.Switches), Preemptions: int(r.Preemptions),
		Threads: int(r.Threads), Deviations: int(r.Deviations),
		Outside: r.Notes&abi.NoteOutside != 0,
	}
	e := trace.Ending{
		Kind: trace.Unsupported, Status: r.Status, Thread: trace.ThreadID(r.Thread),
		Message: x.message, Site: prog.Site(r.Pc),
		Object: prog.Object(r.Object, stacks, trace.ThreadID(r.Thread)),
		Output: x.output,
	}
	if int(r.Outcome) < len(kinds) {
		e.Kind = kinds[r.Outcome]
	}
	if e.Kind.Failed() {
		o.Ident = uint64(r.Ident)
	}
	for _, pc := range x.backtrace {
		e.Stack = append(e.Stack, prog.Site(pc))
	}
	for i := range x.waiters {
		w := &x.waiters[i]
		e.Waiters = append(e.Waiters, trace.Waiter{
			Thread: trace.ThreadID(w.Thread), Op: trace.Op(w.Op), Site: prog.Site(w.Pc),
			Object: prog.Object(w.Object, stacks, trace.ThreadID(w.Thread)),
			Holder: trace.ThreadID(w.Holder) - 1, Ready: w.Flags&abi.WaitReady != 0, Stack: w.Stack,
		})
	}
	if e.Kind == trace.Deadlock {
		e.Cycle = cycle(e.Waiters)
	}
	if e.Kind == trace.Diverged {
		o.Diverged = divergence(prog, p, r)
	}
	prog.Ended(proc, p, &e)
	o.Ending = e
	if tr != nil {
		tr.Ending = e
		tr.Modules = prog.Modules() // with those that were met
		o.Trace = tr
	}
	return o
}

func divergence(prog Program, p *schedule.Plan, r *abi.Result) *schedule.Divergence {
	d := &schedule.Divergence{Step: int(r.Status), Met: schedule.Step{Thread: -1, Wake: -1}}
	if d.Step < len(p.Script) {
		d.Expected = p.Script[d.Step]
	}
	if r.MetThread != ^uint32(0) || r.MetOp != 0 {
		d.Met.Thread = trace.ThreadID(int32(r.MetThread))
		d.Met.Op = trace.Op(r.MetOp)
		d.Met.Site = prog.Site(r.Pc)
	}
	return d
}

// cycle finds threads that wait for one another in a ring, beginning with the lowest.
func cycle(waiters []trace.Waiter) []trace.ThreadID {
	next := map[trace.ThreadID]trace.ThreadID{}
	for _, w := range waiters {
		if w.Holder >= 0 {
			next[w.Thread] = w.Holder
		}
	}
	for _, w := range waiters {
		seen := []trace.ThreadID{w.Thread}
		for at := w.Thread; ; {
			n, ok := next[at]
			if !ok || len(seen) > len(waiters) {
				break
			}
			if n == w.Thread {
				return seen
			}
			seen = append(seen, n)
			at = n
		}
	}
	return nil
}

// record makes the trace of an execution, without its ending and modules.
func record(prog Program, p *schedule.Plan, x *execution, stacks *Stacks) *trace.Trace {
	tr := &trace.Trace{Header: prog.Header()}
	tr.Header.Points = p.Points
	tr.Header.ExpectStatus = p.ExpectStatus
	for i := range x.threads {
		th := &x.threads[i]
		thread := trace.Thread{
			ID: trace.ThreadID(th.Number), Parent: trace.ThreadID(int32(th.Parent)), Nth: int(th.Nth),
			Name: th.Name, Entry: prog.Site(th.Entry), Ended: th.Flags&threadEnded != 0,
		}
		if th.Flags&threadClock != 0 {
			thread.Label = trace.ClockLabel
		}
		if th.Flags&threadTimer != 0 {
			thread.Label = trace.TimerLabel
		}
		tr.Threads = append(tr.Threads, thread)
	}
	tr.Stacks = make([][]trace.Site, 1, len(x.stacks)+1)
	for _, s := range x.stacks {
		sites := make([]trace.Site, len(s))
		for i, pc := range s {
			sites[i] = prog.Site(pc)
		}
		tr.Stacks = append(tr.Stacks, sites)
	}
	live := map[trace.Object]int{}
	tr.Events = make([]trace.Event, 0, len(x.events))
	for i := 0; i < len(x.events); i++ {
		a := &x.events[i]
		by := trace.ThreadID(a.Thread)
		if a.Op == abi.OpNone {
			stacks.give(a.Value, by)
			continue
		}
		ev := trace.Event{
			Thread: by, Op: trace.Op(a.Op), Site: prog.Site(a.Pc),
			Object: prog.Object(a.Object, stacks, by), Aux: a.Aux, Size: a.Size,
			Flags: trace.Flags(a.Flags), Result: a.Result, Value: a.Value, Stack: a.Stack,
		}
		var high []uint64
		if n := min(int(a.Mask), len(x.events)-i-1); n > 0 {
			high = cast[uint64](unsafe.Slice((*byte)(unsafe.Pointer(&x.events[i+1])), n*abi.SizeofEvent))
			i += n
		}
		if ev.Flags&trace.FlagNoChoice != 0 && high == nil {
			ev.Enabled = stacks.alone(a.Enabled)
		} else {
			ev.Enabled = stacks.set(a.Enabled, high)
		}
		switch ev.Op {
		case trace.OpCondWait, trace.OpCondWake, trace.OpCondTimeout:
			ev.Aux = uint64(prog.Object(a.Aux, stacks, by))
		}
		switch ev.Op {
		case trace.OpMalloc:
			live[ev.Object] = len(tr.Allocs)
			tr.Allocs = append(tr.Allocs, trace.Alloc{
				Object: ev.Object, Size: uint64(ev.Size), Thread: ev.Thread, Site: ev.Site, Stack: ev.Stack,
				Event: len(tr.Events), Freed: -1,
			})
			if !p.Accesses {
				continue
			}
		case trace.OpFree:
			if n, ok := live[ev.Object]; ok {
				tr.Allocs[n].Freed = len(tr.Events)
				delete(live, ev.Object)
			}
			if !p.Accesses && ev.Flags&trace.FlagNoChoice != 0 {
				continue
			}
		}
		tr.Events = append(tr.Events, ev)
	}
	return tr
}
