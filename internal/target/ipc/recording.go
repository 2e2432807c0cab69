package ipc

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unsafe"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Shares of the memory that a Loop may use. A program can access memory millions of times a second,
// so a recording consists mostly of accesses that are not scheduling points. A trace keeps the
// first of these, up to a limit; the watcher is shown more and has a share of its own.
const (
	memoryPerKept  = 1024 // bytes of Loop.Memory per event kept: 88, twice while the list grows, and what readers of the trace need
	memoryPerShown = 128  // per event shown: this bounds how long an execution takes
	watcherShare   = 4    // the watcher gets a fourth
)

// maxAccesses returns how many accesses that are not scheduling points a plan keeps in its trace,
// and how many its watcher is shown.
func maxAccesses(p *schedule.Plan, memory int64) (kept, shown uint64) {
	of := func(per int64) uint64 {
		if memory <= 0 {
			return 1 << 62
		}
		return uint64(max(memory/per, 1))
	}
	if p.Accesses {
		switch {
		case p.MaxAccesses > 0 && p.OnlyShared:
			kept = min(uint64(p.MaxAccesses), of(memoryPerKept))
		case p.MaxAccesses > 0:
			kept = uint64(p.MaxAccesses)
		case p.MaxAccesses < 0:
			kept = 1 << 62
		default:
			kept = of(memoryPerKept)
		}
	}
	if p.Watcher != nil {
		shown = of(memoryPerShown)
	}
	return kept, shown
}

// recording builds the trace of one execution, event by event, and shows the events to the plan's
// watcher.
type recording struct {
	prog    Program
	watcher schedule.Watcher
	watch   *watching // nil unless the runtime watches

	who    Stacks
	stacks [][]trace.Site
	events []trace.Event
	ended  int // number of events, once they have been taken
	// expected is the number of events of the recording before: most are about as long.
	expected int
	next     trace.Event // being added; a local variable would escape to the heap at each call of the watcher
	allocs   []trace.Alloc
	live     map[trace.Object]int // of allocs
	told     map[trace.Object]int // of allocs, by a block record
	freed    map[trace.Object]freed
	began    []trace.ThreadSet // of allocs: the threads that were enabled, if the allocation is not among the events
	waiting  []abi.Local       // places in stacks, sent before the event they belong to
	locals   []trace.Local
	leftOut  []abi.LeftOut      // sent before the events that they belong to
	left     []schedule.LeftOut // of events
	maps     mappings
	types    []abi.Type
	typeOf   map[uint64]string // names of types, by object; empty for an object reported with two types

	typeBytes int    // of type names sent
	sent      uint64 // events that the runtime has sent

	omit        map[trace.Site]bool // instructions whose plain accesses are not kept
	mallocs     bool                // allocations are among the events sent
	sparse      bool                // only scheduling points are kept
	values      bool                // every access comes with its value
	kept, most  uint64              // of the events that are not scheduling points: kept, and the limit
	cut         bool                // there were more than most, which may be known at the end only
	shown, show uint64              // accesses that the watcher has seen, and the limit
	hidden      bool                // there were more than show
}

func newRecording(prog Program, p *schedule.Plan, memory int64, events []trace.Event) *recording {
	r := &recording{
		prog: prog, watcher: p.Watcher, events: events[:0],
		stacks: make([][]trace.Site, 1), live: map[trace.Object]int{}, told: map[trace.Object]int{}, freed: map[trace.Object]freed{}, typeOf: map[uint64]string{}, sparse: !p.Accesses, values: p.Values,
		mallocs: p.Accesses || p.Watcher != nil,
	}
	if len(p.Omit) > 0 {
		r.omit = make(map[trace.Site]bool, len(p.Omit))
		for _, s := range p.Omit {
			r.omit[s] = true
		}
	}
	r.most, r.show = maxAccesses(p, memory)
	if r.show >= r.most {
		r.show = 1 << 62 // the runtime sends no more
	}
	if r.watcher != nil {
		r.watcher.Begin(memory / watcherShare)
		if p.SkipAccesses > 0 {
			r.watcher.Unseen()
		}
	}
	return r
}

// unseen informs the watcher, once, that it gets no more accesses.
func (r *recording) unseen() {
	if r.watcher != nil && !r.hidden {
		r.hidden = true
		r.watcher.Unseen()
	}
}

func (r *recording) thread(info abi.ThreadInfo) error { return r.who.know(info) }

func (r *recording) stack(pcs []uint64) {
	sites := make([]trace.Site, len(pcs))
	for i, pc := range pcs {
		sites[i] = r.prog.Site(pc)
	}
	r.stacks = append(r.stacks, sites)
}

// add adds the next events. The words of a large enabled set follow their event.
func (r *recording) add(list []abi.Event) error {
	for i := 0; i < len(list); i++ {
		a := &list[i]
		n := int(a.Mask)
		if n >= len(list)-i {
			return errDamaged
		}
		if a.Op == abi.OpNone {
			r.who.give(a.Value, trace.ThreadID(a.Thread))
			continue
		}
		words := cast[uint64](unsafe.Slice((*byte)(unsafe.Pointer(a)), (1+n)*abi.SizeofEvent))[abi.SizeofEvent/8:]
		r.event(a, words)
		i += n
	}
	return nil
}

// place adds a place in a stack; the events before it may still be on their way.
func (r *recording) place(l abi.Local) { r.waiting = append(r.waiting, l) }

// maxTypes bounds the bytes that types take in a trace; later objects have no type.
const maxTypes = 1 << 20

func (r *recording) typ(y abi.Type, name string) {
	if _, again := r.typeOf[y.Object]; again {
		r.typeOf[y.Object] = ""
		return
	}
	if r.typeBytes += abi.SizeofType + len(name); r.typeBytes <= maxTypes {
		r.types = append(r.types, y)
		r.typeOf[y.Object] = name
	}
}

func (r *recording) placed(by trace.ThreadID) {
	for len(r.waiting) > 0 && r.waiting[0].Event <= r.sent {
		l := &r.waiting[0]
		r.locals = append(r.locals, trace.Local{
			Object: r.prog.Object(l.Object, &r.who, by), Site: r.prog.Site(l.Pc), Below: r.prog.Site(l.Below), Function: r.prog.Site(l.Function), CFA: l.Cfa, SP: l.Sp, FP: l.Fp, Event: len(r.events),
		})
		r.waiting = r.waiting[1:]
	}
	r.mapped(r.sent, by)
	if r.watch != nil {
		r.watch.placed(r.sent, len(r.events))
	}
	r.sent++
}

// mapped adds the mappings that were sent before an event.
func (r *recording) mapped(sent uint64, by trace.ThreadID) {
	for len(r.maps.waiting) > 0 && r.maps.waiting[0].Event <= sent {
		m := &r.maps.waiting[0]
		r.maps.add(m, r.prog.Object(m.Address, &r.who, by), len(r.events))
		r.maps.waiting = r.maps.waiting[1:]
	}
}

func (r *recording) event(a *abi.Event, words []uint64) {
	by := trace.ThreadID(a.Thread)
	left := r.before(r.sent)
	r.placed(by)
	ev := &r.next
	*ev = trace.Event{
		Thread: by, Op: trace.Op(a.Op), Site: r.prog.Site(a.Pc),
		Object: r.prog.Object(a.Object, &r.who, by), Aux: a.Aux, Size: a.Size,
		Flags: trace.Flags(a.Flags), Result: a.Result, Value: a.Value, Stack: a.Stack,
	}
	if ev.Op == trace.OpWord {
		ev.Aux = uint64(r.prog.Object(a.Aux, &r.who, by))
		if o, ok := r.prog.Pointer(a.Value, &r.who, by); ok {
			ev.Value, ev.Flags = uint64(o), ev.Flags|trace.FlagPointer
		}
		r.showWatcher(ev, false)
		return
	}
	if ops.Of(ev.Op).Aux == ops.ObjectName {
		ev.Aux = uint64(r.prog.Object(a.Aux, &r.who, by))
	}
	if r.values && ev.Object.Region() == trace.RegionOther {
		if o, ok := r.prog.Pointer(a.Object, &r.who, by); ok {
			ev.Object = o
		}
	}
	if ev.Flags&trace.FlagPointer != 0 {
		ev.Value = uint64(r.prog.Object(ev.Value, &r.who, by))
	}
	ranged := (ev.Op == trace.OpReadRange || ev.Op == trace.OpWriteRange) && ev.Size > 8
	if r.values && ev.Size >= 8 && !ranged && ops.Of(ev.Op).Of == ops.Memory {
		if o, ok := r.prog.Pointer(ev.Value, &r.who, by); ok {
			ev.Value, ev.Flags = uint64(o), ev.Flags|trace.FlagPointer
		}
	}
	extra := ev.Detail()
	r.showWatcher(ev, extra)
	if r.omit != nil && extra && (ev.Op == trace.OpRead || ev.Op == trace.OpWrite) && r.omit[ev.Site] {
		return
	}
	if ev.Op == trace.OpState {
		return
	}
	if extra && !r.sparse {
		if r.kept++; r.kept > r.most {
			// Later ones would mean little without those in between.
			r.sparse, r.cut = true, true
		}
	}
	failed := extra && ev.Result < 0
	drop := r.sparse && !failed && (ev.Op == trace.OpMalloc || extra)
	switch ev.Op {
	case trace.OpMalloc:
		if ev.Allocates() {
			if drop {
				ev.Enabled = r.enabled(a, words)
			}
			r.alloc(ev)
		}
	case trace.OpFree:
		if drop {
			ev.Enabled = r.enabled(a, words)
			r.freed[ev.Object] = freed{*ev, len(r.events)}
		}
		if n, ok := r.live[ev.Object]; ok {
			r.allocs[n].Freed = len(r.events)
			delete(r.live, ev.Object)
		}
	}
	if drop {
		return
	}
	ev.Enabled = r.enabled(a, words)
	if len(r.events) == cap(r.events) {
		// Long recordings grow by doubling: append's quarters would copy each event four times.
		r.events = slices.Grow(r.events, max(len(r.events), r.expected, 1<<10))
	}
	if left > 0 {
		r.left = append(r.left, schedule.LeftOut{Event: len(r.events), Accesses: left})
	}
	r.events = append(r.events, *ev)
}

// before returns the number of accesses that were left out before an event.
func (r *recording) before(sent uint64) (accesses uint64) {
	if len(r.leftOut) > 0 && r.leftOut[0].Event <= sent {
		accesses = r.leftOut[0].Accesses
		r.leftOut = r.leftOut[1:]
	}
	return accesses
}

func (r *recording) enabled(a *abi.Event, words []uint64) trace.ThreadSet {
	if trace.Flags(a.Flags)&trace.FlagNoDecision != 0 && len(words) == 0 {
		return r.who.alone(a.Enabled)
	}
	return r.who.set(a.Enabled, words)
}

// maxAllocs bounds the heap blocks that are named by their allocation; later ones are not.
const maxAllocs = 1 << 21

func (r *recording) alloc(ev *trace.Event) {
	if len(r.allocs) >= maxAllocs {
		delete(r.live, ev.Object)
		return
	}
	r.allocated(trace.Alloc{Object: ev.Object, Size: ev.Bytes(), Thread: ev.Thread, Site: ev.Site, Stack: ev.Stack}, ev.Enabled)
}

func (r *recording) allocated(a trace.Alloc, began trace.ThreadSet) {
	a.Event, a.Freed = len(r.events), -1
	r.live[a.Object] = len(r.allocs)
	r.allocs, r.began = append(r.allocs, a), append(r.began, began)
}

// block adds a heap block that the runtime reports because there is a race on it.
func (r *recording) block(b abi.Block) {
	if r.mallocs || len(r.allocs) >= maxAllocs {
		return
	}
	by := trace.ThreadID(b.Thread)
	a := trace.Alloc{Object: r.prog.Object(b.Object, &r.who, by), Size: b.Size, Thread: by, Site: r.prog.Site(b.Pc), Stack: b.Stack}
	// The runtime tells of a block before each race on it.
	if n, ok := r.told[a.Object]; ok {
		was := &r.allocs[n]
		if same := was.Size == a.Size && was.Thread == a.Thread && was.Site == a.Site && was.Stack == a.Stack; same && (b.Freed != 0 || was.Freed < 0) {
			return
		}
	}
	r.told[a.Object] = len(r.allocs)
	r.allocated(a, trace.ThreadSet{})
}

// showWatcher shows an event to the watcher. extra marks one that is not a scheduling point of the
// trace.
func (r *recording) showWatcher(ev *trace.Event, extra bool) {
	if r.watcher == nil {
		return
	}
	if extra {
		if r.shown++; r.shown > r.show && ev.Op != trace.OpMalloc {
			r.unseen()
			return
		}
	}
	r.watcher.Event(ev)
}

// trace returns the trace of the execution, which has ended.
func (r *recording) trace(p *schedule.Plan, e trace.Ending) *trace.Trace {
	for _, l := range r.waiting { // of the memory that the execution ends at
		r.locals = append(r.locals, trace.Local{
			Object: r.prog.Object(l.Object, &r.who, e.Thread), Site: r.prog.Site(l.Pc), Below: r.prog.Site(l.Below), Function: r.prog.Site(l.Function), CFA: l.Cfa, SP: l.Sp, FP: l.Fp, Event: len(r.events),
		})
	}
	r.waiting = nil
	r.mapped(math.MaxUint64, e.Thread)
	tr := &trace.Trace{Header: r.prog.Header(), Stacks: r.stacks, Allocs: r.allocs, Locals: r.locals, Mappings: r.maps.list, Ending: e}
	for i := range r.types {
		y := &r.types[i]
		if r.typeOf[y.Object] == "" {
			continue
		}
		tr.Types = append(tr.Types, trace.Type{
			Object: r.prog.Object(y.Object, &r.who, 0), Size: y.Size, Unit: y.Unit, Name: r.typeOf[y.Object],
			Descriptor: r.prog.Site(y.Type), Site: r.prog.Site(y.Pc), Channel: y.Flags&abi.TypeChannel != 0,
		})
	}
	tr.Header.Points = p.Sites()
	tr.Header.ExpectStatus, tr.Header.Values = p.ExpectStatus, p.Values
	if p.Accesses {
		tr.Header.Unrecorded = p.Omit
	}
	if r.cut {
		tr.Header.MaxAccesses = int(r.most)
	}
	for i := range r.who.threads {
		th := &r.who.threads[i]
		thread := trace.Thread{
			ID: trace.ThreadID(th.Number), Parent: trace.ThreadID(int32(th.Parent)), Nth: int(th.Nth),
			Name: th.Name, Entry: r.prog.Site(th.Entry), Ended: th.Flags&threadEnded != 0,
		}
		if th.Number != 0 {
			thread.Label = label(th.Label[:])
		}
		if th.Flags&threadClock != 0 {
			thread.Label = trace.ClockLabel
		}
		if th.Flags&threadTimer != 0 {
			thread.Label = trace.TimerLabel
		}
		tr.Threads = append(tr.Threads, thread)
	}
	tr.Events = r.take()
	if r.sparse && r.watch == nil {
		r.addLifetime(tr)
	}
	tr.Modules = r.prog.Modules() // including those loaded during the execution
	return tr
}

// label returns the name that a program gave a thread, apart from the labels of threads that are none.
func label(name []byte) string {
	name, _, _ = bytes.Cut(name, []byte{0})
	s := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(string(name), "?"))
	if s == trace.ClockLabel || s == trace.TimerLabel {
		s += " thread"
	}
	return s
}

// freed is a free that is not among the events, and the event before which it happened.
type freed struct {
	event trace.Event
	at    int
}

// addLifetime adds the allocation and the free of the freed memory that the program used, if the recording dropped
// them.
func (r *recording) addLifetime(tr *trace.Trace) {
	o, n, ok := tr.Gone()
	if !ok {
		return
	}
	f, dropped := r.freed[o]
	dropped = dropped && (n < 0 || tr.Allocs[n].Freed == f.at)
	if n >= 0 && r.began[n].Len() > 0 {
		a := tr.Allocs[n]
		r.insert(tr, a.Event, &trace.Event{
			Thread: a.Thread, Op: trace.OpMalloc, Site: a.Site, Object: a.Object, Size: uint32(a.Size), Value: a.Size >> 32,
			Flags: trace.FlagNoDecision, Stack: a.Stack, Enabled: r.began[n],
		})
		tr.Allocs[n].Event = a.Event
		f.at++
	}
	if dropped {
		r.insert(tr, f.at, &f.event)
		if n >= 0 {
			tr.Allocs[n].Freed = f.at
		}
	}
}

// insert makes e event number at.
func (r *recording) insert(tr *trace.Trace, at int, e *trace.Event) {
	tr.Events = slices.Insert(tr.Events, at, *e)
	for i := range tr.Allocs {
		if a := &tr.Allocs[i]; a.Event >= at {
			a.Event++
		}
		if a := &tr.Allocs[i]; a.Freed >= at {
			a.Freed++
		}
	}
	for i := range r.left {
		if l := &r.left[i]; l.Event >= at {
			l.Event++
		}
	}
	for i := range tr.Locals {
		if l := &tr.Locals[i]; l.Event >= at {
			l.Event++
		}
	}
	for i := range tr.Mappings {
		if m := &tr.Mappings[i]; m.Event >= at {
			m.Event++
		}
	}
}

// take returns the events. A short list is copied, so that its buffer serves the next execution.
func (r *recording) take() []trace.Event {
	const short = 1 << 14
	events := r.events
	r.ended = len(events)
	if len(events) > short {
		r.events = nil
		return events
	}
	return append(make([]trace.Event, 0, len(events)), events...)
}
