package report

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/analysis/partners"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// failure describes the finding that ended the execution.
func (b *builder) failure(found finding.Finding) *Failure {
	e := &b.tr.Ending
	f := &Failure{Kind: e.Kind.String(), Title: b.title(found), Thread: e.Thread}
	sites := e.Stack
	if len(sites) == 0 && e.Site != 0 {
		sites = []trace.Site{e.Site}
	}
	if (e.Kind != trace.Deadlock && e.Kind != trace.Leak || e.Child != nil) && len(sites) > 0 {
		at := b.places.frames(sites)
		f.Place, f.Stack = at.place, b.places.stacks[at.stack]
	}
	if e.Object != 0 && (e.Kind == trace.Misuse || e.Kind == trace.Signal) {
		f.Object = b.story(e.Object)
	}
	if e.Child != nil {
		b.child(f)
		return f
	}
	if f.Object != "" && e.Kind == trace.Misuse && e.Object.Region() == trace.RegionStack {
		f.Sides = b.returned(f)
	}
	if e.Kind == trace.Race {
		f.Object, f.Sides, f.Unordered = b.story(e.Object), b.sides(), b.unordered()
	}
	if waiting(e.Kind) {
		f.Waits, f.Ring = b.waits()
		b.waitFor(f)
		if len(f.Waits) > 0 {
			f.Place = f.Waits[0].Place
		}
	}
	return f
}

// returned returns the two threads of a use after return: the one that uses the other's stack, and where the other is,
// whose function has returned; nil if the misuse is another.
func (b *builder) returned(f *Failure) []Side {
	e := &b.tr.Ending
	if !strings.HasPrefix(e.Message, "use after return") {
		return nil
	}
	owner := trace.ThreadID(e.Object.Index())
	for i := range e.Waiters {
		if w := &e.Waiters[i]; w.Thread == owner && owner != e.Thread {
			is, now := " has returned from the function and is", trace.Event{Thread: w.Thread, Op: w.Op, Site: w.Site, Stack: w.Stack}
			for _, ev := range slices.Backward(b.tr.Events) {
				if now.Site == 0 && ev.Thread == owner && ev.Site != 0 && ev.Site.Module() < len(b.tr.Modules) && OwnModule(b.tr.Modules[ev.Site.Module()]) { // it ends: it is in no function of the program any more
					is, now = " has returned from the function, and was last", ev
				}
			}
			at := b.placeOf(&now)
			return []Side{
				{Thread: e.Thread, Event: -1, Text: ThreadText(e.Thread) + " is", Place: f.Place, Stack: f.Stack},
				{Thread: owner, Event: -1, Text: ThreadText(owner) + is, Place: at.place, Stack: b.places.stacks[at.stack]},
			}
		}
	}
	return nil
}

// waiting reports whether what threads wait for, or where they are, is what an ending of a kind is about.
func waiting(k trace.Kind) bool {
	switch k {
	case trace.Deadlock, trace.Hang, trace.Livelock, trace.Leak, trace.Unfinished:
		return true
	}
	return false
}

// child describes the child process that waits, and what for.
func (b *builder) child(f *Failure) {
	e := &b.tr.Ending
	label := func(ev *trace.Event) string { return b.places.list[b.placeOf(ev).place].Label }
	f.Child = fmt.Sprintf("child process %d, forked by %s", e.Child.Process, ThreadText(e.Thread))
	fork := forkOf(b.tr)
	if fork < 0 {
		return
	}
	f.Child += " at " + label(&b.tr.Events[fork])
	if e.Object == 0 {
		return
	}
	f.Object = b.typed(e.Object)
	for i := fork - 1; i >= 0; i-- {
		ev := &b.tr.Events[i]
		acquires := ops.Acquires(ev) == e.Object
		switch {
		case e.Child.Holder >= 0 && acquires && ev.Thread == e.Child.Holder:
			f.Object += fmt.Sprintf(", locked by %s at %s", ThreadText(ev.Thread), label(ev))
			return
		case e.Child.Holder < 0 && ev.Object == e.Object && ev.Op != trace.OpRead && ev.Op != trace.OpAtomicLoad && ev.Result >= 0:
			f.Object += fmt.Sprintf(", last changed by %s at %s", ThreadText(ev.Thread), label(ev))
			return
		}
	}
}

// forkOf returns the event that started the child process in which the execution ended, or -1.
func forkOf(t *trace.Trace) int {
	if t.Ending.Child == nil {
		return -1
	}
	return slices.IndexFunc(t.Events, func(e trace.Event) bool {
		return e.Op == trace.OpProcessStart && e.Value == uint64(t.Ending.Child.Process)
	})
}

// story returns an object's full name and, for memory that is gone, what freed it, or the end of its thread.
func (b *builder) story(o trace.Object) string {
	n := b.names.Name(o, symbol.Block, len(b.tr.Events))
	s := n.Full()
	if end := b.life[1]; o.Region() == trace.RegionStack && end >= 0 {
		t := b.tr.Events[end].Thread
		s += fmt.Sprintf("; %s (%s) ended at event %d", ThreadText(t), b.places.list[b.roles[t].place].Label, end)
	}
	if n.Alloc >= 0 && n.Alloc < len(b.tr.Allocs) {
		switch i := b.tr.Allocs[n.Alloc].Freed; {
		case i < 0 || i >= len(b.tr.Events):
		case b.tr.Events[i].Op != trace.OpFree: // the free itself was not recorded
			s += fmt.Sprintf(", freed before event %d", i)
		default:
			e := &b.tr.Events[i]
			s += fmt.Sprintf(", freed by %s at %s", ThreadText(e.Thread), b.places.list[b.placeOf(e).place].Label)
		}
	}
	return s
}

// typed returns an object's name with its type, if that has a name (`std::mutex queue.mu`), or, for
// a heap block, with the place of its allocation.
func (b *builder) typed(o trace.Object) string {
	n := b.names.Name(o, 0, len(b.tr.Events))
	return n.Full()
}

// title describes the failure in one line.
func (b *builder) title(found finding.Finding) string {
	kind := found.Kind.String()
	e := &b.tr.Ending
	switch {
	case e.Kind == trace.Unfinished:
		return e.Kind.String() + ": " + e.Message
	case found.Kind == trace.Signal && e.Object != 0:
		return found.Message
	case found.Kind == trace.Signal && unix.Signal(e.Status) == unix.SIGSEGV && e.Message == "":
		return found.Message + " at address 0"
	case found.Kind == trace.Signal:
		return found.Message
	case found.Message == "":
		return kind
	case strings.Contains(found.Message, kind):
		return found.Message
	}
	return kind + ": " + found.Message
}

// waits returns the threads that had not ended, those of the deadlock cycle first, and last those that a deadlock does not stop.
func (b *builder) waits() ([]Wait, int) {
	e := &b.tr.Ending
	var out []Wait
	find := func(t trace.ThreadID) *trace.Waiter {
		for i := range e.Waiters {
			if e.Waiters[i].Thread == t {
				return &e.Waiters[i]
			}
		}
		return nil
	}
	for i, t := range e.Cycle {
		if w := find(t); w != nil {
			before := find(e.Cycle[(i+len(e.Cycle)-1)%len(e.Cycle)])
			out = append(out, b.wait(w, before))
		}
	}
	ring := len(out)
	var goesOn []Wait // or is kept, of what is left
	some := slices.ContainsFunc(e.Waiters, func(w trace.Waiter) bool { return w.Reach != trace.ReachKept })
	for i := range e.Waiters {
		switch w := &e.Waiters[i]; {
		case slices.Contains(e.Cycle, w.Thread):
		case w.Reach == trace.ReachKept && some:
			goesOn = append(goesOn, b.wait(w, nil))
		case w.Ready && e.Kind == trace.Deadlock:
			goesOn = append(goesOn, b.wait(w, nil))
		default:
			out = append(out, b.wait(w, nil))
		}
	}
	return append(out, goesOn...), ring
}

// wait describes what w waits for, and what it holds that the previous thread in the cycle waits
// for.
func (b *builder) wait(w, before *trace.Waiter) Wait {
	p := b.pendingOf(w)
	at := b.placeOf(&trace.Event{Thread: w.Thread, Op: w.Op, Site: w.Site, Stack: w.Stack})
	out := Wait{Thread: w.Thread, Ready: w.MayGoOn(), Place: at.place, Stack: b.places.stacks[at.stack], Creator: -1, Since: -1}
	for i := range b.tr.Events {
		e := &b.tr.Events[i]
		if id, ok := e.Child(); ok && id == w.Thread && e.Op == trace.OpGo {
			out.Creator, out.Created = e.Thread, b.placeOf(e).place
			break
		}
	}
	who := ThreadText(w.Thread)
	if name := b.roles[w.Thread].name; out.Creator >= 0 && name != "" {
		who += " " + name
	}
	if w.Computes() {
		out.Text = who + " was computing"
		return out
	}
	b.partners(&out, w)
	if w.MayGoOn() && b.tr.Ending.Kind == trace.Leak {
		out.Text = who + " was still running: " + p.brief
		return out
	}
	if b.tr.Header.Target == "go" && inKernel(w) {
		out.Text = who + " is in a system call after " + p.brief
		return out
	}
	if held := b.holds(&out, w, before); held != "" {
		who += " holds " + held + " and"
	}
	if w.MayGoOn() {
		out.Text = who + " could go on: " + p.brief
		return out
	}
	name := b.names.Name(p.object, 0, len(b.tr.Events)).Text
	waits := " " + b.waitText(p, w.Thread)
	if full := b.typed(p.object); name != "" && full != name && (before == nil || before.Object != p.object) {
		waits = strings.Replace(waits, " "+name, " "+full, 1)
	}
	var calls []trace.Site
	if int(w.Stack) < len(b.tr.Stacks) {
		calls = b.tr.Stacks[w.Stack]
	}
	if call := finding.Called(w.Op, w.Site, calls, b.locate); call != "" && ops.Of(w.Op).Of == ops.Futex {
		waits = " waits in " + call
		if full := b.typed(p.object); !strings.Contains(full, "__") { // a name with __ is the library's
			waits += " on " + full
		}
	}
	out.Since = b.since(w, p)
	out.Text = who + waits
	return out
}

// partners enters who could have ended the wait of a goroutine that is left.
func (b *builder) partners(out *Wait, w *trace.Waiter) {
	uses := partners.Of(b.tr, w)
	name := func(t trace.ThreadID) string {
		s := ThreadText(t)
		if t >= 0 && int(t) < len(b.roles) && b.roles[t].name != "" {
			s += " " + b.roles[t].name
		}
		return s
	}
	for i := range uses {
		u := &uses[i]
		text := u.Text(name)
		if of := ops.Of(u.Op).Of; (of == ops.Mutex || of == ops.RWLock) && b.heldBy(u.Object, w.Holder, w.Thread) != "" {
			text = "" // who holds it is said
		}
		if w.Op == trace.OpSelect {
			text = strings.TrimSuffix(u.Op.String()+" "+b.typed(u.Object)+": "+text, ": ")
		}
		if text != "" {
			out.Partners = append(out.Partners, text)
		}
	}
	if text := partners.Reached(b.tr, w, uses); text != "" {
		out.Partners = append(out.Partners, text)
	}
}

// mostHeld is how many of the locks that a thread holds are named in a line.
const mostHeld = 3

// holds enters the locks that w's thread holds, and returns them in words: `A (locked at f.c:10, event 7)`. The one that the previous
// thread in the cycle waits for comes first in words.
func (b *builder) holds(out *Wait, w, before *trace.Waiter) string {
	var words []string
	waited := trace.Object(0) // what its wait on a condition of Go has unlocked
	for i := len(b.tr.Events) - 1; ops.Of(w.Op).Of == ops.Condition && i >= 0; i-- {
		if ev := &b.tr.Events[i]; ev.Thread == w.Thread && ev.Op == w.Op {
			waited = ops.ReleasesAt(b.tr, i)
			break
		}
	}
	for _, h := range b.state.HoldsOf(w.Thread) {
		if h.Object == waited {
			continue
		}
		held := Held{b.typed(h.Object), b.placeOf(&b.tr.Events[h.Event]).place, h.Event}
		out.Holds = append(out.Holds, held)
		how := "locked"
		if ops.Does(b.tr.Events[h.Event].Op) == ops.AcquireShared {
			how = "read-locked"
		}
		text := fmt.Sprintf("%s (%s at %s, event %d)", held.Object, how, b.places.list[held.Place].Label, h.Event)
		if before != nil && before.Op != trace.OpThreadJoin && h.Object == before.Object {
			words = slices.Insert(words, 0, text)
		} else {
			words = append(words, text)
		}
	}
	if before != nil && before.Op != trace.OpThreadJoin && before.Object != 0 && len(words) == 0 {
		return b.typed(before.Object) // by what the runtime says: the acquisition was not recorded
	}
	if more := len(words) - mostHeld; more > 0 {
		words = append(words[:mostHeld], fmt.Sprintf("%d more", more))
	}
	return strings.Join(words, ", ")
}

// since returns the first event after which w's thread could not go on, or -1.
func (b *builder) since(w *trace.Waiter, p pending) int {
	last := b.lastOf(w.Thread)
	switch spec := ops.Of(w.Op); {
	case last < 0 || b.over.Has(w.Thread):
		return -1
	case w.Op >= trace.OpGo && b.tr.Events[last].Op == w.Op:
		return last // a goroutine blocks in the operation that was recorded
	case spec.Blocks == ops.UntilReacquired:
		if _, waiting := b.state.Waiting(w.Thread); waiting {
			return last
		}
		return -1
	case spec.Blocks == ops.UntilEnded && p.target >= 0:
		return last
	case spec.Blocks == ops.UntilFree:
		// It blocks with an operation that was not recorded, behind its last event and the acquisition of the one that holds the lock.
		for _, h := range b.state.Holders(w.Object, -1) {
			if h.Thread != w.Thread {
				return max(last, h.Event)
			}
			return last
		}
	}
	return -1
}

// lastOf returns a thread's last event, or -1.
func (b *builder) lastOf(t trace.ThreadID) int {
	for i := len(b.tr.Events) - 1; i >= 0; i-- {
		if b.tr.Events[i].Thread == t {
			return i
		}
	}
	return -1
}

// waitFor sets what the threads of a failure wait for, and who has it.
func (b *builder) waitFor(f *Failure) {
	known := map[trace.Object]int{}
	for i := range f.Waits {
		w := &f.Waits[i]
		n := slices.IndexFunc(b.tr.Ending.Waiters, func(x trace.Waiter) bool { return x.Thread == w.Thread })
		x := &b.tr.Ending.Waiters[n]
		w.Object = -1
		if x.MayGoOn() {
			continue
		}
		if x.Op != trace.OpThreadJoin && x.Object != 0 {
			at, ok := known[x.Object]
			if !ok {
				at = len(f.Objects)
				known[x.Object] = at
				f.Objects = append(f.Objects, b.typed(x.Object))
			}
			w.Object = at
			for _, h := range b.state.Holders(x.Object, -1) {
				w.For = append(w.For, Holder{h.Thread, b.placeOf(&b.tr.Events[h.Event]).place, h.Event})
			}
		}
		if x.Holder >= 0 && !slices.ContainsFunc(w.For, func(h Holder) bool { return h.Thread == x.Holder }) {
			w.For = append(w.For, Holder{Thread: x.Holder, Event: -1})
		}
	}
}
