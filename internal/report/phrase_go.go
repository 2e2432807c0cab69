package report

import (
	"strconv"
	"time"

	"github.com/heddle-dev/heddle/trace"
)

// hidden reports whether an event has no row: what the race detector is told is about what
// other rows show, and the case of a select is told with the select.
func hidden(op trace.Op) bool {
	switch op {
	case trace.OpAcquire, trace.OpRelease, trace.OpReleaseMerge, trace.OpReleaseAcquire, trace.OpSelectCase:
		return true
	}
	return false
}

// hiddenEvents says of each event whether it has no row. Besides those of hidden they are
// what Go's runtime tells the race detector that an operation on a channel touches: told
// only where that races. The return from the creation of a thread has a row only where
// another thread has run since.
func hiddenEvents(tr *trace.Trace) []bool {
	out := make([]bool, len(tr.Events))
	raced := racing(tr)
	last := map[trace.ThreadID]*trace.Event{} // operation on a channel
	for i := range tr.Events {
		e := &tr.Events[i]
		switch c := last[e.Thread]; {
		case hidden(e.Op), e.Op == trace.OpThreadCreated && i > 0 && tr.Events[i-1].Thread == e.Thread:
			out[i] = true
		case e.Op == trace.OpChanSend || e.Op == trace.OpChanRecv || e.Op == trace.OpChanClose:
			last[e.Thread] = e
		case e.Op.IsAccess() && e.Flags&trace.FlagNoChoice != 0 && c != nil && c.Site == e.Site && near(c.Object, e.Object):
			out[i] = i != raced[0] && i != raced[1]
		default:
			delete(last, e.Thread)
		}
	}
	return out
}

// near reports whether o lies in the first few words of the object at base.
func near(base, o trace.Object) bool { return base <= o && o-base < 64 }

// findCases notes which case each select took: at the select itself, or at the resume with
// which it went on.
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

// caseText is `case 2`, counted from 1 as they are written, or `default`.
func caseText(n uint64) string {
	if n == ^uint64(0) {
		return "default"
	}
	return "case " + strconv.FormatUint(n+1, 10)
}

// goOutcome is outcome for the operations of Go programs.
func (b *builder) goOutcome(p *phrase, i int) {
	e := &b.tr.Events[i]
	n, decided := b.cases[i]
	switch e.Op {
	case trace.OpGo:
		p.object = ""
		if id, ok := e.Child(); ok && int(id) < len(b.roles) {
			p.object, p.sep, p.value = b.roles[id].name, gives, threadText(id)
		}
	case trace.OpResume:
		p.verb, p.sep, p.value = trace.Op(e.Value).String(), " ", "goes on"
		if decided {
			p.value += " with " + caseText(n)
		}
	case trace.OpSelect:
		if decided {
			p.sep, p.value = " ", caseText(n)
		}
	case trace.OpWgAdd:
		switch delta := int64(e.Value); {
		case delta == -1:
			p.verb = "WaitGroup.Done"
		default:
			p.sep, p.value = " ", strconv.FormatInt(delta, 10)
			if delta > 0 {
				p.value = "+" + p.value
			}
		}
	case trace.OpGsleep:
		p.object = time.Duration(e.Value).String()
	case trace.OpTimerReset, trace.OpTimerFire:
		p.sep, p.value = " ", "at "+time.Duration(e.Value).String()
	case trace.OpCoroSwitch:
		p.verb, p.object = "switch to", threadText(trace.ThreadID(e.Value))
	case trace.OpGosched, trace.OpOutside, trace.OpTestEnd, trace.OpTestFail:
		p.object = ""
	}
}

// goWait says what a goroutine is blocked in.
func (b *builder) goWait(p pending, name string, t trace.ThreadID) string {
	switch p.op {
	case trace.OpGmutexLock, trace.OpRwLock, trace.OpRwRlock:
		if name == "" {
			name = p.op.String()
		}
		return "waits for " + name + b.heldBy(p.object, p.target, t)
	case trace.OpGsleep:
		return "sleeps"
	case trace.OpOutside:
		return "waits for the outside world"
	case trace.OpThreadStart:
		return "waits to start"
	}
	if name != "" {
		name = " " + name
	}
	return "waits in " + p.op.String() + name
}

// goLocks follows who holds a Mutex or RWMutex. A lock is asked for by its event, and has
// been got unless the goroutine's next choice is to go on with it after a wait.
func (b *builder) goLocks(i, next int) {
	e := &b.tr.Events[i]
	op := e.Op
	if op == trace.OpResume {
		op = trace.Op(e.Value)
	}
	switch op {
	case trace.OpGmutexLock, trace.OpRwLock, trace.OpRwRlock:
		waits := next >= 0 && b.tr.Events[next].Op == trace.OpResume
		if next < 0 {
			for _, w := range b.tr.Ending.Waiters {
				waits = waits || w.Thread == e.Thread && w.Op == op
			}
		}
		if !waits {
			b.held.take(e.Object, e.Thread, i)
		}
	case trace.OpGmutexUnlock, trace.OpRwUnlock, trace.OpRwRunlock:
		by := e.Thread
		if _, ok := b.held.by(by, e.Object); !ok {
			// Another goroutine may unlock it.
			if of := b.held.of(e.Object, by); len(of) > 0 {
				by = of[0].thread
			}
		}
		b.held.drop(e.Object, by)
	}
}

// path is the way from main to a goroutine: `1.2` is the second one that main's first
// started. Goroutines have no number that means the same under every schedule; this does.
func (b *builder) path(t trace.ThreadID) string {
	if b.tr.Header.Target != "go" || t <= 0 || int(t) >= len(b.tr.Threads) {
		return ""
	}
	th := &b.tr.Threads[t]
	if th.IsClock() {
		return ""
	}
	nth := strconv.Itoa(th.Nth)
	if th.Parent > 0 && th.Parent < t { // a valid trace has no other
		if b.tr.Threads[th.Parent].IsClock() {
			return trace.ClockLabel + "." + nth
		}
		return b.path(th.Parent) + "." + nth
	}
	return nth
}
