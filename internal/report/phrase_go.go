package report

import (
	"slices"
	"strconv"
	"time"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// hidden reports whether an event has no row: annotations for the race detector repeat what other
// rows show, and the case of a select is part of the select's row.
func hidden(op trace.Op) bool {
	s := ops.Of(op)
	return s.Of == ops.SyncVar || s.Does == ops.Selected
}

// hiddenEvents returns, by event, whether it has no row. Besides the events of hidden, these are
// the accesses that Go's runtime reports to the race detector for a channel operation, unless they
// race. The return from the creation of a thread has a row only if another thread has run since.
func hiddenEvents(tr *trace.Trace, raced [2]int) []bool {
	out := make([]bool, len(tr.Events))
	last := map[trace.ThreadID]*trace.Event{} // last channel operation
	for i := range tr.Events {
		e := &tr.Events[i]
		switch c := last[e.Thread]; {
		case hidden(e.Op), e.Op == trace.OpThreadCreated && i > 0 && tr.Events[i-1].Thread == e.Thread:
			out[i] = true
		case ops.Does(e.Op) == ops.Communicate:
			last[e.Thread] = e
		case e.Op.IsAccess() && e.Flags&trace.FlagNoDecision != 0 && c != nil && c.Site == e.Site && near(c.Object, e.Object):
			out[i] = i != raced[0] && i != raced[1]
		default:
			delete(last, e.Thread)
		}
	}
	return out
}

// near reports whether o lies in the first few words of the object at base.
func near(base, o trace.Object) bool { return base <= o && o-base < 64 }

// findCases records which case each select took: at the select itself, or at the resume after it
// blocked.
func (b *builder) findCases() {
	b.cases = map[int]uint64{}
	last := map[trace.ThreadID]int{}
	for i := range b.tr.Events {
		e := &b.tr.Events[i]
		switch {
		case e.Op == trace.OpSelect, e.Op == trace.OpResume && trace.Op(e.Value) == trace.OpSelect:
			last[e.Thread] = i
		case e.Op == trace.OpSelectCase:
			if at, ok := last[e.Thread]; ok {
				b.cases[at] = e.Value
			}
		}
	}
}

// caseText returns `case 2`, counted from 1 in source order, or `default`.
func caseText(n uint64) string {
	if n == ^uint64(0) {
		return "default"
	}
	return "case " + strconv.FormatUint(n+1, 10)
}

// tellGo is tell for the operations of Go programs.
func (b *builder) tellGo(p *phrase, i int) {
	e := &b.tr.Events[i]
	n, decided := b.cases[i]
	switch ops.Of(e.Op).Tells {
	case ops.TellVerb:
		p.object = ""
	case ops.TellGo:
		p.object = ""
		if id, ok := e.Child(); ok && int(id) < len(b.roles) {
			p.object, p.sep, p.value = b.roles[id].name, gives, ThreadText(id)
		}
	case ops.TellResume:
		p.verb, p.sep, p.value = trace.Op(e.Value).String(), " ", "goes on"
		if decided {
			p.value += " with " + caseText(n)
		}
	case ops.TellSelect:
		if decided {
			p.sep, p.value = " ", caseText(n)
		}
	case ops.TellAttempt:
		if tookDefault(e) {
			p.sep, p.value = ": ", "default taken"
		}
	case ops.TellDelta:
		switch delta := int64(e.Value); {
		case delta == -1:
			p.verb = "WaitGroup.Done"
		default:
			p.sep, p.value = " ", strconv.FormatInt(delta, 10)
			if delta > 0 {
				p.value = "+" + p.value
			}
		}
	case ops.TellNap:
		p.object = time.Duration(e.Value).String()
	case ops.TellWhen:
		p.sep, p.value = " ", "at "+time.Duration(e.Value).String()
	case ops.TellSwitch:
		p.object = ThreadText(trace.ThreadID(e.Value))
	}
}

// goWait describes what a goroutine is blocked on.
func (b *builder) goWait(p pending, name string, t trace.ThreadID) string {
	spec := ops.Of(p.op)
	switch spec.Blocks {
	case ops.UntilFree, ops.UntilReadable:
		if name == "" {
			name = p.op.String()
		}
		return "waits for " + name + b.heldBy(p.object, p.target, t)
	}
	if spec.Waits != "" {
		return spec.Waits
	}
	if name != "" {
		name = " " + name
	}
	return "waits in " + p.op.String() + name
}

// blocks reports whether a goroutine blocks in an event; next is the event with which it continues,
// or -1.
func (b *builder) blocks(e *trace.Event, next int) bool {
	if next >= 0 {
		return b.tr.Events[next].Op == trace.OpResume
	}
	op := e.Op
	if op == trace.OpResume {
		op = trace.Op(e.Value)
	}
	return slices.ContainsFunc(b.tr.Ending.Waiters, func(w trace.Waiter) bool { return w.Thread == e.Thread && w.Op == op })
}

// path returns the creation path of a goroutine: `1.2` is the second goroutine started by the first
// one that main started. Unlike a goroutine's number, it means the same under every schedule.
func (b *builder) path(t trace.ThreadID) string {
	if b.tr.Header.Target != "go" || t <= 0 || int(t) >= len(b.tr.Threads) {
		return ""
	}
	th := &b.tr.Threads[t]
	if th.IsClock() {
		return ""
	}
	nth := strconv.Itoa(th.Nth)
	if th.Parent > 0 && th.Parent < t { // always so in a valid trace
		if b.tr.Threads[th.Parent].IsClock() {
			return trace.ClockLabel + "." + nth
		}
		return b.path(th.Parent) + "." + nth
	}
	return nth
}
