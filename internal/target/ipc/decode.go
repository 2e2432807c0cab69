package ipc

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// execution gathers the records of one execution until its result arrives.
type execution struct {
	*recording           // nil if the plan asks for none
	watch      *watching // nil unless the plan asks for it
	waiters    []abi.Waiter
	cases      []abi.SelectCase
	where      []abi.Waiter // where the threads are, if the runtime was asked and has answered since the last look
	backtrace  []uint64
	message    string
	setUp      abi.SetUp // why later executions repeat the set-up; setUpWhy is the text
	setUpWhy   string
	output     []byte
	holds      []schedule.HoldCount
	sharing    []uint64 // instructions, of schedule.Outcome.Sharing
	inputs     []string // paths of files that the program opened for reading
	begun      bool
	// Of the last recording: the buffer of its events, nil if they were given away, and their number.
	room     []trace.Event
	expected int
}

// begin is called before the first record of an execution of p.
func (x *execution) begin(prog Program, p *schedule.Plan, memory int64) {
	x.begun = true
	prog.Begin()
	x.watch = nil
	if r := x.recording; r != nil {
		x.room, x.expected = r.events, r.ended
	}
	if p.Watch {
		x.watch = &watching{}
	}
	if !p.Record {
		x.recording = nil
		return
	}
	x.recording = newRecording(prog, p, memory, x.room)
	x.recording.watch, x.recording.expected = x.watch, x.expected
	if p.Mode == schedule.Strict {
		x.recording.expected = max(x.recording.expected, len(p.Script)+1<<10)
	}
}

// reset forgets the records but keeps the recording for its allocated buffers.
func (x *execution) reset() {
	*x = execution{recording: x.recording, room: x.room, expected: x.expected}
}

// Of abi.ThreadInfo.Flags.
const (
	threadEnded = 1
	threadTimer = 16
	threadClock = 8 // pseudo-thread of the virtual clock
)

func cast[T any](b []byte) []T {
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// one decodes a record that consists of a single value.
func one[T any](b []byte) (v T, err error) {
	if list := cast[T](b); len(list) > 0 {
		return list[0], nil
	}
	return v, errDamaged
}

// counted returns the list of n values of size bytes that follows two words, the second of which is
// n.
func counted(b []byte, size int) ([]byte, error) {
	if len(b) >= 8 {
		if n := int(binary.NativeEndian.Uint32(b[4:])); n <= (len(b)-8)/size {
			return b[8 : 8+n*size], nil
		}
	}
	return nil, errDamaged
}

var errDamaged = errors.New("the runtime sent a record that is too short: something has written into heddle's memory")

// add takes one record. result is set for the record that ends the execution.
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
		if x.recording != nil {
			err = x.recording.add(cast[abi.Event](b))
		}
	case abi.RecStack:
		var pcs []byte
		if pcs, err = counted(b, 8); x.recording != nil {
			x.recording.stack(cast[uint64](pcs))
		}
	case abi.RecThread:
		var th abi.ThreadInfo
		if th, err = one[abi.ThreadInfo](b); err == nil && x.recording != nil {
			err = x.recording.thread(th)
		}
	case abi.RecWaiter:
		var w abi.Waiter
		w, err = one[abi.Waiter](b)
		x.waiters = append(x.waiters, w)
	case abi.RecCase:
		var c abi.SelectCase
		c, err = one[abi.SelectCase](b)
		x.cases = append(x.cases, c)
	case abi.RecWhere:
		var list []byte
		if list, err = counted(b, abi.SizeofWaiter); err == nil {
			x.where = append([]abi.Waiter{}, cast[abi.Waiter](list)...)
		}
	case abi.RecLocal:
		var l abi.Local
		l, err = one[abi.Local](b)
		if x.recording != nil {
			x.recording.place(l)
		}
	case abi.RecSetUp:
		var u abi.SetUp
		if u, err = one[abi.SetUp](b); err == nil {
			text, _, _ := bytes.Cut(b[abi.SizeofSetUp:], []byte{0})
			x.setUp, x.setUpWhy = u, string(text)
		}
	case abi.RecMapping:
		var m abi.Mapping
		if m, err = one[abi.Mapping](b); err == nil && x.recording != nil {
			path, _, _ := bytes.Cut(b[abi.SizeofMapping:], []byte{0})
			x.recording.maps.waiting = append(x.recording.maps.waiting, mapping{m, string(path)})
		}
	case abi.RecType:
		var y abi.Type
		if y, err = one[abi.Type](b); err == nil && x.recording != nil {
			name, _, _ := bytes.Cut(b[abi.SizeofType:], []byte{0})
			x.recording.typ(y, string(name))
		}
	case abi.RecRace:
		var r abi.Race
		if r, err = one[abi.Race](b); err == nil && x.watch != nil {
			x.watch.races = append(x.watch.races, r)
		}
	case abi.RecProfile:
		if x.watch != nil {
			x.watch.profile = append(x.watch.profile, cast[abi.Profile](b)...)
		}
	case abi.RecBlock:
		var k abi.Block
		if k, err = one[abi.Block](b); err == nil && x.recording != nil {
			x.recording.block(k)
		}
	case abi.RecShared:
		x.sharing = append(slices.Grow(x.sharing, 1), cast[uint64](b)...) // not nil, even without any
	case abi.RecLeftOut:
		if x.recording != nil {
			x.recording.leftOut = append(x.recording.leftOut, cast[abi.LeftOut](b)...)
		}
	case abi.RecHolds:
		for _, c := range cast[abi.HoldCount](b) {
			x.holds = append(x.holds, schedule.HoldCount{
				Arrived: int(c.Arrived), Held: int(c.Held), Done: int(c.Done), Nobody: int(c.Nobody), Steps: int(c.Steps), Script: int(c.Script),
			})
		}
	case abi.RecBacktrace:
		x.backtrace = append([]uint64(nil), cast[uint64](b)...)
	case abi.RecMessage:
		text, _, _ := bytes.Cut(b, []byte{0})
		x.message = string(text)
	case abi.RecInput:
		path, _, _ := bytes.Cut(b, []byte{0})
		x.inputs = append(x.inputs, string(path))
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
	abi.OutExit: trace.Exit, abi.OutUnfinished: trace.Unfinished, abi.OutLivelock: trace.Livelock,
}

// sharing returns schedule.Outcome.Sharing.
func sharing(prog Program, pcs []uint64) []trace.Site {
	if pcs == nil {
		return nil
	}
	sites := make([]trace.Site, 0, len(pcs))
	for _, pc := range pcs {
		sites = append(sites, prog.Site(pc))
	}
	slices.Sort(sites)
	return slices.Compact(sites)
}

// outcome turns the records of an execution into the controller's form. Index counts from the first
// execution of the part of the plan that proc was given.
func outcome(prog Program, proc *Process, p *schedule.Plan, x *execution, r *abi.Result) schedule.Outcome {
	o := schedule.Outcome{
		Index: int(r.Index), Signature: r.Signature,
		Points: int(r.Points), Switches: int(r.Switches), Preemptions: int(r.Preemptions),
		Threads: int(r.Threads), Deviations: int(r.Deviations), FairAt: int(r.FairAt), Passed: int(r.Passed), Stretches: int(r.Stretches),
		Holds:    x.holds,
		Sharing:  sharing(prog, x.sharing),
		External: r.Notes&abi.NoteExternal != 0, Random: r.Notes&abi.NoteRandom != 0, Cut: r.Notes&abi.NoteCut != 0, Skipped: r.Notes&abi.NoteSkipped != 0,
		Unordered: schedule.SharedState(r.Notes / abi.NoteUnordered),
	}
	if o.SetUp.Continued = r.Notes&abi.NoteContinued != 0; x.setUpWhy != "" || x.setUp.Op != abi.OpNone {
		o.SetUp.Because, o.SetUp.Site = x.setUpWhy, prog.Site(x.setUp.Pc)
		if x.setUp.Op != abi.OpNone {
			op := trace.Op(x.setUp.Op)
			o.SetUp.Because = cmp.Or(ops.Of(op).Call, fmt.Sprintf("the operation %q", op))
		}
	}
	stacks := &Stacks{}
	if p.Record {
		stacks = &x.recording.who
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
	for _, pc := range x.backtrace {
		e.Stack = append(e.Stack, prog.Site(pc))
	}
	for i := range x.waiters {
		w := &x.waiters[i]
		if w.Process != 0 {
			e.Thread = trace.ThreadID(w.Thread)
			e.Child = &trace.Child{Process: int(w.Process), Op: trace.Op(w.Op), Holder: trace.ThreadID(w.Holder) - 1}
			continue
		}
		e.Waiters = append(e.Waiters, waiterOf(prog, stacks, w))
	}
	for _, c := range x.cases {
		at := trace.Case{Thread: trace.ThreadID(c.Thread), Op: trace.Op(c.Op), Taken: c.Taken}
		at.Object = prog.Object(c.Object, stacks, at.Thread)
		e.Cases = append(e.Cases, at)
	}
	if e.Kind == trace.Deadlock {
		e.Cycle = trace.CycleOf(e.Waiters)
	}
	if e.Kind == trace.Diverged {
		o.Diverged = divergence(prog, p, r)
	}
	prog.Ended(proc, p, &e)
	o.Ending = e
	if p.Watch {
		o.Watched = x.watch.watched(prog, x.recording, r)
	}
	if p.Record {
		if r.Notes&abi.NoteAccesses != 0 {
			x.recording.unseen()
			// The runtime sends no access beyond the limit, so that the recording cannot count them.
			x.recording.cut = x.recording.cut || p.Accesses
		}
		o.Trace, o.LeftOut = x.recording.trace(p, e), x.recording.left
		o.Trace.Header.FairAfter = o.FairAt
		if p.Cut && (o.Cut || e.Kind.Failed()) {
			o.Trace.Header.Cut = p.MaxSteps
		}
		if p.Fault != nil && r.Fault > 0 {
			f := *p.Fault
			f.Event = int(min(r.Fault-1, uint64(len(o.Trace.Events))))
			o.Trace.Header.Fault = &f
		}
		o.Trace.Header.Surroundings = append(slices.Clip(o.Trace.Header.Surroundings), inputs(x.inputs)...)
	}
	return o
}

func waiterOf(prog Program, stacks *Stacks, w *abi.Waiter) trace.Waiter {
	return trace.Waiter{
		Thread: trace.ThreadID(w.Thread), Op: trace.Op(w.Op), Site: prog.Site(w.Pc),
		Object: prog.Object(w.Object, stacks, trace.ThreadID(w.Thread)),
		Holder: trace.ThreadID(w.Holder) - 1, Ready: w.Flags&abi.WaitReady != 0, Stack: w.Stack,
		Reach: reachOf(w.Flags),
	}
}

func reachOf(flags uint16) trace.Reach {
	switch {
	case flags&abi.WaitLost != 0:
		return trace.ReachLost
	case flags&abi.WaitHeld != 0:
		return trace.ReachHeld
	case flags&abi.WaitKept != 0:
		return trace.ReachKept
	}
	return trace.ReachUnknown
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
