package trace

import (
	"fmt"
	"slices"
)

// InvalidError names the first entry of a trace that breaks a rule of Validate.
type InvalidError struct {
	Event  int    // index of the event, -1 if it is not an event
	Place  string // "event 12 (T1 lock m0+0x1139)", "thread T3", "the ending", …
	Detail string // what is wrong
}

func (e *InvalidError) Error() string {
	return "the trace is not valid: " + e.Place + ": " + e.Detail
}

// Validate checks that t is the record of a possible execution, so that code that reads
// it may follow its references and its order without looking. The error is an
// *InvalidError that names the first entry to break a rule: of the tables in the order
// modules, threads, call stacks; else of the events; else of the heap blocks, the header
// and the ending.
//
// Everywhere:
//   - a site is unknown (0) or in a module of the module table;
//   - a global object is in a module of the table, a stack object in a thread of the
//     table, and there is no region but the four;
//   - the number of a call stack is that of an entry of the table.
//
// Threads:
//   - a thread stands in the table at its id, there are at most MaxThreads;
//   - thread 0 is main: no parent (-1), Nth 0;
//   - any other but the clock has a parent with a smaller id and an Nth from 1, and no
//     other thread has both the same;
//   - there is at most one clock (Thread.IsClock);
//   - names are unique.
//
// Call stacks: the table is empty or its entry 0 is.
//
// Events:
//   - the thread is in the thread table, the operation is known, and not "none";
//   - no flags but those of package trace are set;
//   - the first event of a thread, and no other, is OpThreadStart; main may do without,
//     since it had started before the execution began, and so may the clock;
//   - OpThreadEnd is the last event of its thread, and Thread.Ended reports whether there is
//     one;
//   - a thread's parent creates it (OpThreadCreate or OpGo with result 0, the thread as
//     value) once, and before it starts; no such event names another thread. The clock is
//     there from the beginning, created by no thread;
//   - OpTimerFire is done by the clock, which does nothing else;
//   - a thread that is joined (OpThreadJoin with result 0, the thread as value, no
//     time-out) is in the table, is not the joining one, and has ended before;
//   - of a scheduling point, that is unless FlagNoDecision is set, the enabled set has the
//     event's thread, unless it may come early (Event.Early), and only threads that were created and
//     had not ended then;
//   - of any other event, the enabled set is empty or has only threads of the table.
//
// Heap blocks:
//   - the thread is in the table, Event is an index of an event or their number;
//   - Freed is -1 or the index of an OpFree event at or after Event with the same object,
//     and no two blocks have the same. In a trace without OpMalloc events, where a free
//     need not be an event either, Freed may also be the index of the event before which
//     the block was freed, or the number of events.
//
// Mappings: each is of at most 2^47 bytes at an address, and they are in the order of Event, which is an index of an event or
// their number.
//
// Header: the sites of Points and Unrecorded are as above, Cut and MaxAccesses are not negative, and a Fault has a valid model, a site as above and at
// most as many events before it as there are.
//
// Ending:
//   - the kind is known, the thread is in the table, or -1 for none;
//   - a waiter is a thread of the table that did not end, each at most once, with a known
//     operation other than "none"; its holder is -1 or in the table;
//   - after a deadlock no waiter is ready;
//   - a cycle is only there after a deadlock, and its threads are waiters, each once;
//   - after a data race there are two accesses, else none; they are of different threads of
//     the table, their operations access memory, plainly at least one of them, and at least
//     one of them writes.
func Validate(t *Trace) error {
	v := validator{t: t, ops: map[Op]bool{OpNone: false}}
	for _, check := range []func() error{v.threads, v.stacks, v.events, v.allocs, v.locals, v.types, v.mappings, v.points, v.ending} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// progress is a thread's state between events.
type progress struct {
	created, started, ended bool
}

type validator struct {
	t     *Trace
	state []progress  // by thread
	alive ThreadSet   // created and not ended
	ops   map[Op]bool // whether the operation is known
}

func invalid(place, format string, args ...any) error {
	return &InvalidError{Event: -1, Place: place, Detail: fmt.Sprintf(format, args...)}
}

func (v *validator) invalidEvent(i int, format string, args ...any) error {
	e := &v.t.Events[i]
	place := fmt.Sprintf("event %d (%s %s %s)", i, printThread(e.Thread), printOp(e.Op), printSite(e.Site))
	return &InvalidError{Event: i, Place: place, Detail: fmt.Sprintf(format, args...)}
}

func (v *validator) known(t ThreadID) bool { return t >= 0 && int(t) < len(v.t.Threads) }

func (v *validator) op(o Op) bool {
	known, ok := v.ops[o]
	if !ok {
		_, known = ParseOp(o.String())
		v.ops[o] = known
	}
	return known
}

// site, object and stack return what is wrong with a reference, empty if nothing is.
func (v *validator) site(s Site) string {
	if s.Module() >= len(v.t.Modules) {
		return fmt.Sprintf("site %s is in none of the %d modules", printSite(s), len(v.t.Modules))
	}
	return ""
}

func (v *validator) object(o Object) string {
	switch r := o.Region(); {
	case int(r) >= regions:
		return fmt.Sprintf("object %s is in no known region", printObject(o))
	case r == RegionGlobal && o.Index() >= len(v.t.Modules):
		return fmt.Sprintf("object %s is in none of the %d modules", printObject(o), len(v.t.Modules))
	case r == RegionStack && o.Index() >= len(v.t.Threads):
		return fmt.Sprintf("object %s is on the stack of none of the %d threads", printObject(o), len(v.t.Threads))
	}
	return ""
}

func (v *validator) stack(n uint32) string {
	if int64(n) >= int64(max(len(v.t.Stacks), 1)) {
		return fmt.Sprintf("there is no call stack %d", n)
	}
	return ""
}

func first(problems ...string) string {
	for _, p := range problems {
		if p != "" {
			return p
		}
	}
	return ""
}

func (v *validator) threads() error {
	t := v.t
	if len(t.Modules) > maxModules {
		return invalid("the module table", "it has %d modules, more than a site can distinguish", len(t.Modules))
	}
	if len(t.Threads) > MaxThreads {
		return invalid("the thread table", "it has %d threads, more than %d", len(t.Threads), MaxThreads)
	}
	type birth struct {
		parent ThreadID
		nth    int
	}
	names := make(map[uint64]ThreadID)
	births := make(map[birth]ThreadID)
	clock := ThreadID(-1)
	for i := range t.Threads {
		th := &t.Threads[i]
		place := fmt.Sprintf("thread T%d", i)
		switch {
		case th.ID != ThreadID(i):
			return invalid(place, "its id is %d: the table is indexed by id", th.ID)
		case i == 0 && (th.Parent != -1 || th.Nth != 0):
			return invalid(place, "main has parent %s and is its child number %d, where it should have none (-1) and be number 0", printThread(th.Parent), th.Nth)
		case th.IsClock() && clock >= 0:
			return invalid(place, "it is the clock, and so is %s", printThread(clock))
		case th.IsClock():
			clock = th.ID
		case i > 0 && (th.Parent < 0 || th.Parent >= th.ID):
			return invalid(place, "its parent is %s, which is not an earlier thread", printThread(th.Parent))
		case i > 0 && th.Nth < 1:
			return invalid(place, "it is child number %d of its parent, where the first is 1", th.Nth)
		}
		b := birth{th.Parent, th.Nth}
		if o, ok := births[b]; ok && !th.IsClock() {
			return invalid(place, "it is child number %d of %s, and so is %s", th.Nth, printThread(th.Parent), printThread(o))
		} else if !th.IsClock() {
			births[b] = th.ID
		}
		if o, ok := names[th.Name]; ok {
			return invalid(place, "it has the name %#x of %s", th.Name, printThread(o))
		}
		names[th.Name] = th.ID
		if p := v.site(th.Entry); p != "" {
			return invalid(place, "%s", p)
		}
	}
	return nil
}

func (v *validator) stacks() error {
	for i, stack := range v.t.Stacks {
		place := fmt.Sprintf("call stack %d", i)
		if i == 0 && len(stack) > 0 {
			return invalid(place, "it is not empty, but means \"no stack\"")
		}
		for _, s := range stack {
			if p := v.site(s); p != "" {
				return invalid(place, "%s", p)
			}
		}
	}
	return nil
}

func (v *validator) events() error {
	t := v.t
	v.state = make([]progress, len(t.Threads))
	for i := range v.state {
		if i == 0 || t.Threads[i].IsClock() {
			v.state[i].created = true
			v.alive.Add(ThreadID(i))
		}
	}
	for i := range t.Events {
		if err := v.event(i); err != nil {
			return err
		}
	}
	for i, s := range v.state {
		if t.Threads[i].Ended != s.ended {
			return invalid(fmt.Sprintf("thread T%d", i), "Ended is %t, but whether it has an end event is %t", t.Threads[i].Ended, s.ended)
		}
	}
	return nil
}

func (v *validator) event(i int) error {
	e := &v.t.Events[i]
	if !v.known(e.Thread) {
		return v.invalidEvent(i, "there are %d threads", len(v.t.Threads))
	}
	if !v.op(e.Op) {
		return v.invalidEvent(i, "the operation is not known")
	}
	if extra := e.Flags &^ knownFlags; extra != 0 {
		return v.invalidEvent(i, "flags %#x are not known", uint32(extra))
	}
	if p := first(v.site(e.Site), v.object(e.Object), v.stack(e.Stack)); p != "" {
		return v.invalidEvent(i, "%s", p)
	}
	if auxIsObject(e.Op) {
		if p := v.object(Object(e.Aux)); p != "" {
			return v.invalidEvent(i, "%s", p)
		}
	}
	if err := v.enabled(i, e); err != nil {
		return err
	}
	return v.life(i, e)
}

// enabled checks the enabled set, which is the state before the event.
func (v *validator) enabled(i int, e *Event) error {
	if e.Flags&FlagNoDecision != 0 {
		if n := len(v.t.Threads); e.Enabled.last() >= ThreadID(n) {
			return v.invalidEvent(i, "the enabled set %v has a thread that does not exist", e.Enabled)
		}
		return nil
	}
	if !e.Enabled.Has(e.Thread) && !e.Early() {
		return v.invalidEvent(i, "the enabled set %v does not have the thread itself, and it is not a time-out", e.Enabled)
	}
	if t := e.Enabled.firstOutside(v.alive); t >= 0 {
		return v.invalidEvent(i, "the enabled set %v has %s, which was not created yet or had ended", e.Enabled, printThread(t))
	}
	return nil
}

// life checks and tracks the starts and ends of threads.
func (v *validator) life(i int, e *Event) error {
	s := &v.state[e.Thread]
	clock := v.t.Threads[e.Thread].IsClock()
	switch {
	case e.Op == OpTimerFire && !clock:
		return v.invalidEvent(i, "it fires a timer, and is not the clock")
	case e.Op != OpTimerFire && clock && e.Flags&FlagNoDecision == 0:
		return v.invalidEvent(i, "it is the clock, which can only fire timers")
	case s.ended:
		return v.invalidEvent(i, "the thread had ended")
	case !s.created:
		return v.invalidEvent(i, "the thread had not been created by %s", printThread(v.t.Threads[e.Thread].Parent))
	case e.Op == OpThreadStart && s.started:
		return v.invalidEvent(i, "the thread had started before")
	case e.Op != OpThreadStart && !s.started && e.Thread != 0 && !clock:
		return v.invalidEvent(i, "it comes before the start of the thread")
	}
	s.started = true
	switch e.Op {
	case OpThreadEnd:
		s.ended = true
		v.alive.toggle(e.Thread)
	case OpThreadCreate, OpGo:
		if e.Result != 0 {
			return nil
		}
		if e.Value >= uint64(len(v.t.Threads)) {
			return v.invalidEvent(i, "it creates thread %d, where there are %d threads", e.Value, len(v.t.Threads))
		}
		c := ThreadID(e.Value)
		if v.state[c].created {
			return v.invalidEvent(i, "it creates %s, which was there before", printThread(c))
		}
		if p := v.t.Threads[c].Parent; p != e.Thread {
			return v.invalidEvent(i, "it creates %s, whose parent is %s", printThread(c), printThread(p))
		}
		v.state[c].created = true
		v.alive.Add(c)
	case OpThreadJoin:
		if e.Result != 0 || e.Flags&FlagTimeout != 0 {
			return nil
		}
		if e.Value >= uint64(len(v.t.Threads)) {
			return v.invalidEvent(i, "it joins thread %d, where there are %d threads", e.Value, len(v.t.Threads))
		}
		c := ThreadID(e.Value)
		if !v.state[c].ended || c == e.Thread {
			return v.invalidEvent(i, "it joins %s, which had not ended", printThread(c))
		}
	}
	return nil
}

func (v *validator) locals() error {
	last := 0
	for i := range v.t.Locals {
		l := &v.t.Locals[i]
		place := fmt.Sprintf("local %d", i)
		if p := first(v.object(l.Object), v.site(l.Site), v.site(l.Below), v.site(l.Function)); p != "" {
			return invalid(place, "%s", p)
		}
		if l.Event < last || l.Event > len(v.t.Events) {
			return invalid(place, "its name holds from event %d on, after one from event %d, where there are %d events", l.Event, last, len(v.t.Events))
		}
		last = l.Event
	}
	return nil
}

func (v *validator) types() error {
	seen := make(map[Object]bool)
	for i := range v.t.Types {
		y := &v.t.Types[i]
		place := fmt.Sprintf("type %d", i)
		if p := first(v.object(y.Object), v.site(y.Descriptor), v.site(y.Site)); p != "" {
			return invalid(place, "%s", p)
		}
		if y.Name == "" || y.Object.Region() != RegionHeap {
			return invalid(place, "%s has the type %q, where an object on the heap has one with a name", printObject(y.Object), y.Name)
		}
		if seen[y.Object] {
			return invalid(place, "it is the second of %s", printObject(y.Object))
		}
		seen[y.Object] = true
	}
	return nil
}

func (v *validator) mappings() error {
	last := 0
	for i := range v.t.Mappings {
		m := &v.t.Mappings[i]
		place := fmt.Sprintf("mapping %d", i)
		if m.Object.Region() != RegionOther || m.Object.Nowhere() || m.Size == 0 || m.Size > 1<<47 {
			return invalid(place, "it is %d bytes at %s, where a file is mapped outside of the regions", m.Size, printObject(m.Object))
		}
		if m.Event < last || m.Event > len(v.t.Events) {
			return invalid(place, "it holds from event %d on, after one from event %d, where there are %d events", m.Event, last, len(v.t.Events))
		}
		last = m.Event
	}
	return nil
}

func (v *validator) allocs() error {
	t := v.t
	recorded, lifetime := false, t.Lifetime()
	for i := range t.Events {
		recorded = recorded || t.Header.MaxAccesses == 0 && t.Events[i].Op == OpMalloc && !lifetime(i)
	}
	freedBy := make(map[int]int)
	for i := range t.Allocs {
		a := &t.Allocs[i]
		place := fmt.Sprintf("heap block %d", i)
		if !v.known(a.Thread) {
			return invalid(place, "its thread is %s, where there are %d threads", printThread(a.Thread), len(t.Threads))
		}
		if p := first(v.object(a.Object), v.site(a.Site), v.stack(a.Stack)); p != "" {
			return invalid(place, "%s", p)
		}
		if a.Event < 0 || a.Event > len(t.Events) {
			return invalid(place, "it was allocated before event %d, where there are %d events", a.Event, len(t.Events))
		}
		if a.Freed == -1 {
			continue
		}
		if a.Freed < a.Event || a.Freed > len(t.Events) || recorded && a.Freed == len(t.Events) {
			return invalid(place, "it was allocated before event %d and freed by event %d, where there are %d events", a.Event, a.Freed, len(t.Events))
		}
		if !recorded {
			continue
		}
		if f := &t.Events[a.Freed]; f.Op != OpFree || f.Object != a.Object {
			return invalid(place, "it was freed by event %d, which does not free %s", a.Freed, printObject(a.Object))
		}
		if o, ok := freedBy[a.Freed]; ok {
			return invalid(place, "it was freed by event %d, and so was heap block %d", a.Freed, o)
		}
		freedBy[a.Freed] = i
	}
	return nil
}

func (v *validator) points() error {
	if f := v.t.Header.Fault; f != nil && (!f.Model.Valid() || f.Event < 0 || f.Event > len(v.t.Events)) {
		return invalid("header", "the fault is %v at event %d", f.Model, f.Event)
	} else if f != nil {
		if p := v.site(f.Site); p != "" {
			return invalid("the header's fault", "%s", p)
		}
	}
	if n := v.t.Header.FairAfter; n < 0 {
		return invalid("header", "the fair phase begins after %d points", n)
	}
	if n := v.t.Header.Cut; n < 0 {
		return invalid("header", "the execution was cut after %d scheduling points", n)
	}
	if n := v.t.Header.MaxAccesses; n < 0 {
		return invalid("header", "%d accesses were recorded", n)
	}
	for _, s := range v.t.Header.Points {
		if p := v.site(s); p != "" {
			return invalid("the header's points", "%s", p)
		}
	}
	for _, s := range v.t.Header.Unrecorded {
		if p := v.site(s); p != "" {
			return invalid("the header's unrecorded instructions", "%s", p)
		}
	}
	return nil
}

func (v *validator) ending() error {
	const place = "the ending"
	e := &v.t.Ending
	if int(e.Kind) >= len(kindNames) {
		return invalid(place, "its kind %d is not known", e.Kind)
	}
	if e.Thread != -1 && !v.known(e.Thread) {
		return invalid(place, "its thread is %s, where there are %d threads", printThread(e.Thread), len(v.t.Threads))
	}
	if p := first(v.site(e.Site), v.object(e.Object)); p != "" {
		return invalid(place, "%s", p)
	}
	for _, s := range e.Stack {
		if p := v.site(s); p != "" {
			return invalid(place, "%s", p)
		}
	}
	if c := e.Child; c != nil {
		switch {
		case e.Kind != Deadlock:
			return invalid(place, "a child process waits, but there is no deadlock")
		case !v.op(c.Op):
			return invalid(place, "operation %d of a child process is not known", c.Op)
		case c.Holder != -1 && !v.known(c.Holder):
			return invalid(place, "the holder of a child process's lock is %s, where there are %d threads", printThread(c.Holder), len(v.t.Threads))
		}
	}
	waits := make(map[ThreadID]bool)
	for _, w := range e.Waiters {
		place := "waiter " + printThread(w.Thread)
		switch {
		case !v.known(w.Thread):
			return invalid(place, "there are %d threads", len(v.t.Threads))
		case waits[w.Thread]:
			return invalid(place, "it is there twice")
		case v.state[w.Thread].ended:
			return invalid(place, "the thread had ended")
		case !v.op(w.Op) && !w.Computes():
			return invalid(place, "operation %d is not known", w.Op)
		case w.Holder != -1 && !v.known(w.Holder):
			return invalid(place, "its holder is %s, where there are %d threads", printThread(w.Holder), len(v.t.Threads))
		case w.Reach > ReachKept || w.Reach != ReachUnknown && e.Kind != Leak:
			return invalid(place, "%d tells nothing of what could wake it in an execution that ended in a %v", w.Reach, e.Kind)
		case w.Ready && e.Kind == Deadlock && (len(e.Cycle) == 0 && e.Message != GoesOn || slices.Contains(e.Cycle, w.Thread)):
			return invalid(place, "it is ready, but the execution ended in a deadlock")
		}
		if p := first(v.site(w.Site), v.object(w.Object), v.stack(w.Stack)); p != "" {
			return invalid(place, "%s", p)
		}
		waits[w.Thread] = true
	}
	for _, c := range e.Cases {
		place := "case of a select of " + printThread(c.Thread)
		switch {
		case e.Kind != Leak:
			return invalid(place, "it is there only after a leak")
		case !v.known(c.Thread):
			return invalid(place, "there are %d threads", len(v.t.Threads))
		case c.Op != OpChanSend && c.Op != OpChanRecv && c.Op != OpSelect:
			return invalid(place, "operation %d neither sends nor receives", c.Op)
		}
		if p := v.object(c.Object); p != "" {
			return invalid(place, "%s", p)
		}
	}
	if len(e.Cycle) > 0 && e.Kind != Deadlock {
		return invalid(place, "there is a cycle, but no deadlock")
	}
	for _, t := range e.Cycle {
		if !waits[t] {
			return invalid(place, "%s is in the cycle, but is not a waiter, or is there twice", printThread(t))
		}
		waits[t] = false
	}
	return v.accesses()
}

func (v *validator) accesses() error {
	const place = "the ending"
	as := v.t.Ending.Accesses
	switch race := v.t.Ending.Kind == Race; {
	case !race && len(as) > 0:
		return invalid(place, "there are accesses that race, but no data race")
	case race && len(as) != 2:
		return invalid(place, "there are %d accesses that race, where there should be two", len(as))
	case !race:
		return nil
	}
	writes, plain, memory := false, false, true
	for _, a := range as {
		place := fmt.Sprintf("access by %s", printThread(a.Thread))
		switch c := a.Op.Class(); {
		case !v.known(a.Thread):
			return invalid(place, "there are %d threads", len(v.t.Threads))
		case c == ClassRead || c == ClassWrite || c == ClassALoad || c == ClassAStore || c == ClassARMW:
			writes = writes || c == ClassWrite || c == ClassAStore || c == ClassARMW
			plain = plain || a.Op.IsAccess()
		case a.Op == OpNone || a.Op >= OpGo:
			return invalid(place, "%s is not an access to memory", printOp(a.Op))
		default:
			memory = false // an operation on a synchronisation object or a descriptor
		}
		if p := first(v.site(a.Site), v.object(a.Object), v.stack(a.Stack)); p != "" {
			return invalid(place, "%s", p)
		}
	}
	switch {
	case as[0].Thread == as[1].Thread:
		return invalid(place, "both accesses that race are of %s", printThread(as[0].Thread))
	case memory && (!writes || !plain):
		return invalid(place, "%s and %s do not race", printOp(as[0].Op), printOp(as[1].Op))
	}
	return nil
}
