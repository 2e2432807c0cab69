package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// findSwitches finds the context switches between scheduling points, as counted by trace.CostOf, and explains those that
// are wanted. It leaves the final state of the locks in b.state, and the threads that ended in b.over.
func (b *builder) findSwitches(wanted func(event int) bool) {
	events := b.tr.Events
	if b.next == nil {
		b.next, b.reasons = nextDecisions(events, len(b.tr.Threads)), make([]uint8, len(events))
	}
	b.state, b.over, b.switches = &ops.State{}, trace.ThreadSet{}, map[int]*Switch{}
	last := -1
	for i := range events {
		e := &events[i]
		if ops.Does(e.Op) == ops.Finish {
			b.over.Add(e.Thread)
		}
		if !isDecision(e) {
			b.state.Apply(e)
			continue
		}
		if last >= 0 && events[last].Thread != e.Thread {
			want := wanted(i)
			s := b.explain(last, int(b.next[last]), i, want)
			if want {
				b.switches[i] = &s
			}
			b.reasons[i] = uint8(slices.Index(reasons[:], s.Reason)) + 1
		}
		b.state.ApplyGo(e, b.blocks(e, int(b.next[i])))
		last = i
	}
}

var reasons = [...]Reason{Preempted, Yielded, Ended, Blocked}

// isDecision reports whether the event counts for context switches.
func isDecision(e *trace.Event) bool {
	return e.Flags&trace.FlagNoDecision == 0 || e.Op == trace.OpSignal
}

// nextDecisions returns, for each event, the next scheduling point of its thread, or -1.
func nextDecisions(events []trace.Event, threads int) []int32 {
	next := make([]int32, len(events))
	ahead := make([]int32, threads)
	for t := range ahead {
		ahead[t] = -1
	}
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		next[i] = ahead[e.Thread]
		if isDecision(e) {
			ahead[e.Thread] = int32(i)
		}
	}
	return next
}

// pending is the operation a thread was about to perform when it was descheduled.
type pending struct {
	op     trace.Op
	object trace.Object
	aux    trace.Object
	target trace.ThreadID // thread to be joined, holder of the object; -1 if unknown
	place  int
	brief  string // `lock queue.mut`
}

// explain returns why the switch between events last and i happened; next is the event with which
// the descheduled thread continued, or -1. Without text, the result has no Text and no Next.
func (b *builder) explain(last, next, i int, text bool) Switch {
	from := &b.tr.Events[last]
	e := &b.tr.Events[i]
	s := Switch{From: from.Thread, To: e.Thread, Preemptive: e.Preempts(from.Thread)}
	who, p, known := "", pending{target: -1}, next >= 0 || b.waiterOf(from.Thread) != nil
	if text {
		who = ThreadText(s.From)
		p, known = b.pendingAt(from.Thread, next)
	}
	if known {
		s.Next = p.place
	}
	if p.op != trace.OpThreadJoin {
		p.target = -1 // it is the final holder, but b.state is as of this event
	}
	switch {
	case b.tr.Threads[s.From].IsClock():
		s.Reason, s.Text = Yielded, who+" is the clock"
	case b.switched(last, i):
		s.Reason, s.Text = Blocked, who+" switches to another coroutine"
	case e.Flags&trace.FlagOffered != 0:
		s.Reason, s.Text = Yielded, who+" waits in a library"
		if known {
			s.Text += ", before " + p.brief
		}
	case s.Preemptive && (from.Op == trace.OpYield || from.Op == trace.OpGosched):
		s.Reason, s.Text = Yielded, fmt.Sprintf("%s PREEMPTED at its %s", who, from.Op)
	case s.Preemptive:
		s.Reason, s.Text = Preempted, who+" PREEMPTED"
		if known {
			s.Text += " before " + p.brief
		}
	case ops.Does(from.Op) == ops.Finish || ops.Does(from.Op) == ops.Stop:
		s.Reason, s.Text = Ended, who+" ended"
	case from.Op == trace.OpGsleep: // in C programs the event is the end of the sleep
		s.Reason, s.Text = Blocked, who+" sleeps"
	case !known && next < 0 && b.tr.Threads[s.From].Ended:
		s.Reason, s.Text = Ended, who+" ended"
	case b.tr.Threads[s.From].Label == trace.TimerLabel:
		s.Reason, s.Text = Blocked, who+" waits for its time"
	case !known:
		s.Reason, s.Text = Blocked, who+" is blocked"
	case !text:
		s.Reason = Blocked
	default:
		s.Reason, s.Text = Blocked, who+" "+b.waitText(p, s.From)
	}
	if !text {
		s.Text = ""
	}
	return s
}

// switched reports whether the thread of event last switched to another coroutine before
// event i.
func (b *builder) switched(last, i int) bool {
	for j := last + 1; j < i; j++ {
		if e := &b.tr.Events[j]; e.Op == trace.OpCoroSwitch && e.Thread == b.tr.Events[last].Thread {
			return true
		}
	}
	return false
}

// behind returns the event of the operation that a thread was waiting to perform when it handled a
// signal at event i instead. It returns i if there was no signal or the thread never got to the
// operation.
func (b *builder) behind(i int) int {
	depth := 0
	for k := i; k < len(b.tr.Events); k++ {
		e := &b.tr.Events[k]
		if e.Thread != b.tr.Events[i].Thread {
			continue
		}
		switch s := ops.Of(e.Op); {
		case s.Blocks == ops.UntilDelivery:
			if e.Object != 0 {
				depth++
			}
			continue
		case s.Does == ops.Return:
			depth--
			continue
		}
		if depth == 0 && isDecision(e) {
			return k
		}
	}
	return i
}

// pendingAt returns what thread t did at event next, or, if next is negative, what it was waiting
// to do at the end of the trace.
func (b *builder) pendingAt(t trace.ThreadID, next int) (pending, bool) {
	if next >= 0 {
		next = b.behind(next)
		e := &b.tr.Events[next]
		p := pending{op: e.Op, object: e.Object, aux: trace.Object(e.Aux), target: -1, place: b.placeOf(e).place}
		switch e.Op {
		case trace.OpThreadJoin:
			p.target = trace.ThreadID(e.Value)
		case trace.OpResume:
			p.op = trace.Op(e.Value)
		}
		p.brief = b.phrase(next).brief()
		if e.Op == trace.OpResume {
			p.brief = "going on with " + p.brief
		}
		return p, true
	}
	if w := b.waiterOf(t); w != nil {
		return b.pendingOf(w), true
	}
	return pending{target: -1}, false
}

// waiterOf returns where a thread was before an operation when the execution ended, nil if it was not.
func (b *builder) waiterOf(t trace.ThreadID) *trace.Waiter {
	for i := range b.tr.Ending.Waiters {
		if w := &b.tr.Ending.Waiters[i]; w.Thread == t && w.Op != trace.OpNone {
			return w
		}
	}
	return nil
}

func (b *builder) pendingOf(w *trace.Waiter) pending {
	p := pending{op: w.Op, object: w.Object, target: w.Holder, place: b.places.locate(w.Site, w.Stack).place}
	name := b.names.Name(w.Object, 0, len(b.tr.Events)).Text
	switch w.Op {
	case trace.OpThreadJoin:
		name = ""
		if w.Holder >= 0 {
			name = ThreadText(w.Holder)
		}
		p.brief = strings.TrimSpace("join " + name)
	case trace.OpCondWake:
		if w.Holder >= 0 { // it was woken and now waits for the mutex
			p.aux, p.object = w.Object, 0
		}
		p.brief = strings.TrimSpace(w.Op.String() + " " + name)
	default:
		// In the words of phrase, as if the thread had continued; the operation's values are not known.
		spec := ops.Of(w.Op)
		switch spec.Tells {
		case ops.TellVerb, ops.TellLater, ops.TellYield, ops.TellSleep:
			name = ""
		case ops.TellTarget, ops.TellThread:
			name = "a thread"
		}
		p.brief = strings.TrimSpace(cmp.Or(spec.Verb, w.Op.String()) + " " + name)
	}
	return p
}

// waitText describes what a thread waits for, given the current state of the locks.
func (b *builder) waitText(p pending, t trace.ThreadID) string {
	name := b.names.Name(p.object, 0, len(b.tr.Events)).Text
	if p.op >= trace.OpGo {
		return b.goWait(p, name, t)
	}
	switch spec := ops.Of(p.op); spec.Blocks {
	case ops.UntilEnded:
		if p.target < 0 {
			return "waits for a thread to end"
		}
		return "waits for " + ThreadText(p.target) + " to end"
	case ops.UntilFree, ops.UntilReadable, ops.UntilDone:
		return "waits for " + name + b.heldBy(p.object, p.target, t)
	case ops.UntilReacquired:
		if cond, waiting := b.state.Waiting(t); waiting {
			return "waits on " + b.names.Name(cond, 0, len(b.tr.Events)).Text
		}
		if held := b.heldBy(p.aux, p.target, t); held != "" {
			return "was woken and waits for " + b.names.Name(p.aux, 0, len(b.tr.Events)).Text + held
		}
		if name == "" {
			return "waits on a condition variable"
		}
		return "waits on " + name
	default:
		if spec.Waits != "" {
			return strings.Replace(spec.Waits, "%s", name, 1)
		}
	}
	return "waits to " + p.brief
}

// hasEnded follows the name of a thread that ended with a lock held.
const hasEnded = ", which has ended"

// heldBy returns ` held by T2`, or "" if no thread other than t is known to hold o.
func (b *builder) heldBy(o trace.Object, holder, t trace.ThreadID) string {
	var names []string
	add := func(t trace.ThreadID) {
		name := ThreadText(t)
		if b.over.Has(t) {
			name += hasEnded
		}
		names = append(names, name)
	}
	for _, h := range b.state.Holders(o, t) {
		add(h.Thread)
	}
	_, itself := b.state.HoldOf(t, o)
	if len(names) == 0 && !itself && holder >= 0 && holder != t {
		add(holder)
	}
	switch {
	case len(names) == 0 && (itself || holder == t && t >= 0):
		return " held by the same thread"
	case len(names) == 0:
		return ""
	case len(names) > 4:
		names = append(names[:3], fmt.Sprintf("%d others", len(names)-3))
	}
	separator := ", "
	if slices.ContainsFunc(names, func(s string) bool { return strings.Contains(s, ",") }) {
		separator = "; "
	}
	return " held by " + strings.Join(names, separator)
}
