package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Patterns that Explain recognises. Each rests on the events of a critical ordering or on how the
// execution ended, and on nothing else.
const (
	LockCycle      = "lock cycle"
	LostUpdate     = "lost update"
	CheckThenAct   = "check then act"
	Unserializable = "unserializable accesses"
	UseAfterFree   = "use after free"
	TooEarly       = "use before initialisation"
	LostWakeUp     = "lost wake-up"
	StolenWakeUp   = "stolen wake-up"
	WrongWakeUp    = "wake-up of the wrong thread"
	DoubleClose    = "double close of a channel"
	ClosedSend     = "send on a closed channel"
	WaitGroup      = "WaitGroup misuse"
	MapAccess      = "concurrent map accesses"
	OrderViolation = "order violation"
)

// Explain is Explain with the names of the program.
func (r *Running) Explain(t, passing *trace.Trace, e *Explanation) { Explain(t, passing, r, e) }

// Explain completes an explanation of t: it names the objects of e.Orders and the pattern, lists the steps and the
// events, and writes the text. passing is the execution that does not fail, nil for none.
func Explain(t, passing *trace.Trace, names *Running, e *Explanation) {
	x := &explaining{t: t, passing: passing, names: names, said: map[int]bool{}}
	e.Steps, e.Events = []Step{}, []ExplainedEvent{}
	for i := range e.Orders {
		o := &e.Orders[i]
		if o.Second < 0 || o.Waiting || x.oneObject(o) {
			o.Object = x.object(t, o.First)
		}
		e.Events = append(e.Events, x.explained(t, o.First), x.explainedSecond(o))
	}
	var lines []string
	if len(e.Orders) == 0 {
		lines = append(lines, x.unexplained(e))
		if p, ok := x.wrongWakeUp(); ok {
			e.Pattern, e.Short = p.name, x.short(p, nil)
			lines = append(lines, p.sentence)
			e.Steps = append(x.steps(t, p.more), x.waits()...)
		}
	} else {
		o := &e.Orders[0]
		p := x.pattern(o)
		freed := x.freed()
		if freed >= 0 {
			p.name = UseAfterFree
		}
		if p.name == OrderViolation {
			if wrong, ok := x.wrongWakeUp(); ok {
				p = wrong
			}
		}
		e.Pattern = p.name
		moved := ""
		if !o.Controlled {
			moved = ", and what had to move with them,"
		}
		turned := fmt.Sprintf("With these two%s the other way round it does not fail (%s).", moved, shownBy(o))
		fails := "The execution fails because"
		if o.Failed > 0 {
			turned = fmt.Sprintf("With these two%s the other way round it does not always fail (%s).", moved, shownBy(o))
		}
		if o.Doubtful() {
			fails = "It is not confirmed that the execution fails because"
		}
		begun := -1
		if p.name == MapAccess {
			begun = x.begun(o)
		}
		if begun >= 0 {
			lines = append(lines, fmt.Sprintf("%s %s comes after the beginning of %s, and before its end.", fails, x.event(o.First), x.event(begun)))
			turned = fmt.Sprintf("If it comes after the end it does not fail (%s).", shownBy(o))
		} else {
			lines = append(lines, fmt.Sprintf("%s %s comes before %s.", fails, x.event(o.First), x.second(o)))
		}
		if len(p.triple) == 3 {
			lines = append(lines, fmt.Sprintf("So %s comes between %s and %s.", x.event(p.triple[1]), x.event(p.triple[0]), x.event(p.triple[2])))
		}
		later := -1
		if p.triple == nil && p.section == nil {
			p.section, later = x.guarded(o)
		}
		if len(p.section) == 2 {
			lines = append(lines, fmt.Sprintf("With the lock held, %s comes before %s.", x.event(p.section[0]), x.event(p.section[1])))
		}
		if p.sentence != "" {
			lines = append(lines, p.sentence)
		}
		late := ops.Does(t.Events[o.First].Op) == ops.Create
		if late {
			e.Pattern = ""
		}
		steps := slices.Concat([]int{o.First}, p.triple, p.section, p.more)
		if begun >= 0 {
			steps = append(steps, begun)
		}
		if freed >= 0 {
			lines = append(lines, fmt.Sprintf("The execution ends as T%d accesses memory after %s.", t.Ending.Thread, x.event(freed)))
			steps = append(steps, freed)
		}
		if o.Together && len(e.Orders) > 1 {
			turned = x.together(e)
		}
		lines = append(lines, turned)
		if o.KeptFailed < o.Kept {
			lines = append(lines, "It needs something else, too.")
		}
		if late {
			lines = append(lines, "No smaller ordering was found: a thread that is created so late hardly runs at the same time as others.")
		}
		if lock := x.missingLock(o); lock != "" {
			lines = append(lines, lock)
		}
		if o.Second >= 0 && !o.Waiting {
			steps = append(steps, o.Second)
		}
		for i := range e.Orders[1:] {
			if o := &e.Orders[i+1]; o.Second >= 0 && !o.Waiting {
				behind, _ := x.guarded(o)
				steps = slices.Concat(steps, []int{o.First, o.Second}, behind)
			}
		}
		e.Steps = append(x.steps(t, steps), x.waits()...)
		if o.Second < 0 && begun < 0 {
			not := []int{o.InPassing}
			if later >= 0 {
				not = append(not, later)
			}
			for _, s := range x.steps(passing, not) {
				s.Passing = true
				e.Steps = append(e.Steps, s)
			}
		}
		if !late {
			e.Short = strings.Replace(x.short(p, o), "does not fail", doesNotFail(o), 1)
			if o.Together && len(e.Orders) > 1 {
				e.Short = x.shortTogether(e)
			}
			if o.Doubtful() {
				e.Short = "perhaps " + e.Short
			}
		}
	}
	if !e.Complete {
		lines = append(lines, "Not every ordering was tried.")
	}
	e.Text = strings.Join(lines, " ")
}

// Number sets the numbers that the events of an explanation of t have in the trace that is explained, which has the same
// execution with fewer events.
func (e *Explanation) Number(t, explained *trace.Trace) {
	numbers := contained(t, explained)
	number := func(event int, passing bool) *int {
		if passing || event < 0 || event >= len(numbers) || numbers[event] < 0 {
			return nil
		}
		return &numbers[event]
	}
	for i := range e.Events {
		e.Events[i].InTrace = number(e.Events[i].Event, e.Events[i].Passing)
	}
	for i := range e.Steps {
		e.Steps[i].InTrace = number(e.Steps[i].Event, e.Steps[i].Passing)
	}
}

// contained returns the number that each event of all has in some, a part of its events in the same order; -1 if it
// has none, or if equal events of one thread leave open which it is.
func contained(all, some *trace.Trace) []int {
	// Objects of Go programs get other numbers when other goroutines ran before, so they do not count.
	same := func(a, b *trace.Event) bool {
		return a.Thread == b.Thread && a.Op == b.Op && a.Site == b.Site
	}
	first, last := make([]int, len(all.Events)), make([]int, len(all.Events))
	n := 0
	for i := range all.Events {
		if first[i] = -1; n < len(some.Events) && same(&all.Events[i], &some.Events[n]) {
			first[i] = n
			n++
		}
	}
	whole := n == len(some.Events)
	n = len(some.Events) - 1
	for i := len(all.Events) - 1; i >= 0; i-- {
		if last[i] = -1; n >= 0 && same(&all.Events[i], &some.Events[n]) {
			last[i] = n
			n--
		}
	}
	for i := range first {
		if !whole || first[i] != last[i] {
			first[i] = -1
		}
	}
	return first
}

// doesNotFail tells how often executions fail that have an ordering's events the other way round.
func doesNotFail(o *Order) string {
	if o.Failed == 0 {
		return "does not fail"
	}
	return fmt.Sprintf("fails in %d of %s", o.Failed, wording.Count(o.Executions, "execution"))
}

// shownBy tells the executions that show an ordering.
func shownBy(o *Order) string {
	s := wording.Count(o.Executions, "execution")
	if o.Kept > 0 {
		s = fmt.Sprintf("%d of %s; in their order, %d of %d", o.Failed, s, o.KeptFailed, o.Kept)
	}
	return s
}

type explaining struct {
	t, passing *trace.Trace
	names      *Running
	said       map[int]bool // events of t that the text has described
	last       string       // the object that it has named last
}

// event describes an event with its thread and place, more briefly once it has been described.
func (x *explaining) event(i int) string {
	ev := &x.t.Events[i]
	if x.said[i] {
		return fmt.Sprintf("T%d's %s", ev.Thread, verb(ev))
	}
	x.said[i] = true
	return x.eventIn(x.t, i)
}

func (x *explaining) eventIn(t *trace.Trace, i int) string {
	ev := &t.Events[i]
	object := x.object(t, i)
	s := fmt.Sprintf("T%d's %s", ev.Thread, verb(ev))
	if child, ok := ev.Child(); ok && ops.Does(ev.Op) == ops.Create {
		s += fmt.Sprintf(" of T%d", child)
	}
	switch {
	case object == "":
	case object == x.last:
		s += " of it"
	default:
		s += " of " + object
		x.last = object
	}
	switch at, own := x.place(ev), x.names.ownPlace(t, i); {
	case at == "":
	case own != "":
		s += " in " + at + ", " + own + ","
	default:
		s += " at " + at
	}
	return s
}

// object names what an event concerns; empty for a thread, which heddle knows by its stack.
func (x *explaining) object(t *trace.Trace, i int) string {
	ev := &t.Events[i]
	switch s := ops.Of(ev.Op); {
	case ev.Object == 0, s.Of == ops.Signal, s.Of == ops.Thread && s.Does != ops.Start:
		return ""
	}
	name := x.names.Object(t, ev.Object, ev.Size, i)
	if strings.HasPrefix(name, "#") { // of Go, and without a type
		switch ops.Of(ev.Op).Of {
		case ops.Channel:
			return "channel " + name
		case ops.Mutex, ops.RWLock:
			return "lock " + name
		}
	}
	return name
}

// place is where an event happened. A thread starts in the function that its object names.
func (x *explaining) place(ev *trace.Event) string {
	if ops.Does(ev.Op) == ops.Start {
		return ""
	}
	return x.names.Place(ev.Site)
}

// verb is what an event does.
func verb(ev *trace.Event) string {
	if ev.Op == trace.OpWgAdd && int64(ev.Value) == -1 {
		return "WaitGroup.Done"
	}
	if timedWait(ev) {
		if ev.Op == trace.OpCondWake {
			return "timed-out " + trace.OpCondWait.String()
		}
		return "timed-out " + ev.Op.String()
	}
	return ev.Op.String()
}

// timedWait reports whether an event is the end of a wait whose time was over.
func timedWait(ev *trace.Event) bool {
	s := ops.Of(ev.Op)
	return s.Blocks != ops.UntilTime && s.Blocks != ops.Never && (ev.Flags&trace.FlagTimeout != 0 || ev.Op < trace.OpGo && ev.Result == int32(syscall.ETIMEDOUT))
}

// second describes the second of an ordering, which may be what a thread waits for.
func (x *explaining) second(o *Order) string {
	if o.Second < 0 {
		return x.eventIn(x.passing, o.InPassing) + ", which has not happened when the execution ends"
	}
	if !o.Waiting {
		return x.event(o.Second)
	}
	w := x.waiter(x.t.Events[o.Second].Thread)
	if w == nil {
		return "what a thread waits for"
	}
	s := fmt.Sprintf("T%d's %s of %s, for which it waits", w.Thread, w.Op, x.names.Object(x.t, w.Object, 0, len(x.t.Events)-1))
	if at := x.names.Place(w.Site); at != "" {
		s += " at " + at
	}
	return s
}

// begun returns the access to a map that the second of an ordering ends: the last event of its thread, which was in the
// middle of it when the execution ended. It returns -1 if no thread was.
func (x *explaining) begun(o *Order) int {
	if o.Second >= 0 || o.InPassing >= len(x.passing.Events) {
		return -1
	}
	end := &x.passing.Events[o.InPassing]
	for i := len(x.t.Events) - 1; i >= 0; i-- {
		if ev := &x.t.Events[i]; ev.Thread == end.Thread {
			if i < o.First && ev.Op.IsAccess() && ev.Op == end.Op && ev.Site == end.Site {
				return i
			}
			return -1
		}
	}
	return -1
}

// short is the explanation in one line.
func (x *explaining) short(p shown, o *Order) string {
	clear(x.said)
	x.last = ""
	of := ""
	switch p.name {
	case WrongWakeUp:
		return p.name + ": " + strings.TrimSuffix(p.sentence, ".")
	case StolenWakeUp:
		events := []int{o.First, o.Second}
		if len(p.section) == 2 {
			events = p.section
		}
		return fmt.Sprintf("%s: %s comes before %s; the other way round it does not fail", p.name, x.event(events[0]), x.event(events[1]))
	case UseAfterFree, DoubleClose, ClosedSend: // how the execution ends, not what the ordering is of
		return fmt.Sprintf("%s: %s comes before %s; the other way round it does not fail", p.name, x.event(o.First), x.second(o))
	}
	if o.Object != "" {
		of = " of " + o.Object
	}
	x.last = o.Object
	if p.name == MapAccess {
		if begun := x.begun(o); begun >= 0 {
			return fmt.Sprintf("%s%s: %s comes after the beginning of %s, and before its end; after the end it does not fail", p.name, of, strings.ReplaceAll(x.event(o.First), " of it", ""), strings.ReplaceAll(x.event(begun), " of it", ""))
		}
	}
	place := func(s string) string { return strings.ReplaceAll(s, " of it", "") }
	if len(p.section) == 2 {
		x.last = x.object(x.t, p.section[0])
		object, first := x.last, p.section[0]
		if timedWait(&x.t.Events[o.First]) { // what the thread does then is not to blame
			first = o.First
		}
		return fmt.Sprintf("%s of %s: %s comes before %s; the other way round it does not fail", p.name, object, place(x.event(first)), place(x.event(p.section[1])))
	}
	if len(p.triple) == 3 {
		x.last = x.object(x.t, p.triple[1])
		return fmt.Sprintf("%s of %s: %s comes between %s and its %s", p.name, x.last, place(x.event(p.triple[1])), place(x.event(p.triple[0])), x.own(place(x.event(p.triple[2]))))
	}
	return fmt.Sprintf("%s%s: %s comes before %s; the other way round it does not fail", p.name, of, place(x.event(o.First)), place(x.second(o)))
}

// own removes the thread from a description: `T1's read at f.c:3` becomes `read at f.c:3`.
func (x *explaining) own(s string) string {
	_, rest, _ := strings.Cut(s, "'s ")
	return rest
}

// steps lists events of an execution in their order.
func (x *explaining) steps(t *trace.Trace, events []int) []Step {
	slices.Sort(events)
	v := Build(t, NamesOf(t, x.names.symbols()), Options{})
	cells := map[int]*Cell{}
	for _, r := range v.Full() {
		if r.Cell != nil {
			cells[r.Event] = r.Cell
		}
	}
	out := []Step{}
	for _, i := range slices.Compact(events) {
		ev := &t.Events[i]
		s := Step{Event: i, Thread: ThreadText(ev.Thread), Text: ev.Op.String(), Where: x.names.Place(ev.Site)}
		if c := cells[i]; c != nil {
			s.Text, s.Where = c.Text, v.Places[c.Place].Label
		}
		out = append(out, s)
	}
	return out
}

// explained describes an event of an ordering.
func (x *explaining) explained(t *trace.Trace, e int) ExplainedEvent {
	ev := &t.Events[e]
	out := ExplainedEvent{Event: e, Thread: ThreadText(ev.Thread), Operation: verb(ev), Where: x.place(ev)}
	for _, s := range t.Stacks[ev.Stack] {
		out.Stack = append(out.Stack, x.names.Place(s))
	}
	for _, lock := range heldBy(t, ev.Thread, e) {
		out.Holds = append(out.Holds, x.names.Object(t, lock, 0, e))
	}
	return out
}

// explainedSecond describes the second event of an ordering, or what its thread waits for.
func (x *explaining) explainedSecond(o *Order) ExplainedEvent {
	if o.Second < 0 {
		out := x.explained(x.passing, o.InPassing)
		out.Passing = true
		return out
	}
	w := x.waiter(x.t.Events[o.Second].Thread)
	if !o.Waiting || w == nil {
		return x.explained(x.t, o.Second)
	}
	out := ExplainedEvent{Event: o.Second, Waiting: true, Thread: ThreadText(w.Thread), Operation: w.Op.String(), Where: x.names.Place(w.Site)}
	for _, s := range x.t.Stacks[w.Stack] {
		out.Stack = append(out.Stack, x.names.Place(s))
	}
	for _, lock := range heldBy(x.t, w.Thread, len(x.t.Events)) {
		out.Holds = append(out.Holds, x.names.Object(x.t, lock, 0, len(x.t.Events)))
	}
	return out
}

// heldBy returns the locks that a thread holds before event e, in the order of their acquisition.
func heldBy(t *trace.Trace, th trace.ThreadID, e int) (locks []trace.Object) {
	for _, l := range LocksAt(t, e) {
		if l.Thread == th {
			locks = append(locks, l.Lock)
		}
	}
	return locks
}

func (x *explaining) waiter(th trace.ThreadID) *trace.Waiter {
	for i := range x.t.Ending.Waiters {
		if w := &x.t.Ending.Waiters[i]; w.Thread == th {
			return w
		}
	}
	return nil
}

// shown is a pattern with the events that show it.
type shown struct {
	name     string
	sentence string // about the execution; may be empty
	triple   []int  // p, r and c of unserializable accesses; nil for others
	section  []int  // two events of the critical sections that the ordering is of; nil if guarded chooses them
	more     []int  // other events that the sentence names
}

// pattern names the kind of bug that an ordering shows.
func (x *explaining) pattern(o *Order) shown {
	first, end := &x.t.Events[o.First], &x.t.Ending
	if o.Second < 0 {
		later := &x.passing.Events[o.InPassing]
		if end.Kind == trace.Signal && end.Thread == first.Thread && !changes(first) && changes(later) && first.Value == 0 && !x.written(first, o.First) {
			return shown{name: TooEarly, sentence: "It is 0, and no write of it came before."}
		}
		return shown{name: x.misuse(o)}
	}
	second := &x.t.Events[o.Second]
	a, b := ops.Of(first.Op), ops.Of(second.Op)
	switch {
	case end.Kind == trace.Deadlock && len(x.lockCycle()) > 1:
		return shown{name: LockCycle, sentence: fmt.Sprintf("%s wait in a circle: each for a lock that another of them holds.", x.threads(x.lockCycle()))}
	case (a.Does == ops.WakeOne || a.Does == ops.WakeAll) && b.Does == ops.Wait && x.waitsForever(o.Second):
		return shown{name: LostWakeUp, sentence: x.stillWaits(second.Thread)}
	case a.Does == ops.Free && b.Of == ops.Memory, a.Does == ops.Free && b.Does == ops.Free:
		return shown{name: UseAfterFree}
	case o.Waiting:
		return shown{name: OrderViolation}
	case b.Blocks == ops.UntilReacquired && a.Does == ops.Acquire:
		if wake, ok := x.steals(o); ok {
			return shown{name: StolenWakeUp, more: []int{wake}, sentence: fmt.Sprintf("%s has woken T%d before, but T%d acquires the lock first.", x.event(wake), second.Thread, first.Thread)}
		}
	case a.Does == ops.Acquire && b.Does == ops.Acquire:
		if wake, wait, ok := x.lostWakeUp(o.First, o.Second); ok {
			return shown{name: LostWakeUp, section: []int{wake, wait}, sentence: x.stillWaits(second.Thread)}
		}
	}
	if a.Of != ops.Memory || b.Of != ops.Memory {
		f, s, ok := x.inside(o.First, o.Second)
		if !ok {
			if p, r, c, ok := x.across(o.First, o.Second); ok {
				return x.unserializable(p, r, c)
			}
			return shown{name: x.misuse(o)}
		}
		first, second = &x.t.Events[f], &x.t.Events[s]
		o = &Order{First: f, Second: s}
	}
	if p, r, c, ok := x.broken(o.First, o.Second); ok {
		return x.unserializable(p, r, c)
	}
	if end.Kind == trace.Signal && end.Thread == first.Thread && !changes(first) && changes(second) && first.Value == 0 && !x.written(first, o.First) {
		return shown{name: TooEarly, sentence: "It is 0, and no write of it came before."}
	}
	return shown{name: x.misuse(o)}
}

func (x *explaining) wait(threads []trace.ThreadID) string {
	if len(threads) == 1 {
		return fmt.Sprintf("T%d waits", threads[0])
	}
	return x.threads(threads) + " wait"
}

// Misuses reports whether an ordering shows how a Go program misused a channel, a WaitGroup or a map, or how a thread took what
// another one had been woken for.
func (r *Running) Misuses(t, passing *trace.Trace, o *Order) bool {
	x := &explaining{t: t, passing: passing, names: r}
	_, steals := x.steals(o)
	return steals || x.misuse(o) != OrderViolation
}

// steals returns the wake-up of a thread that has the lock again with the second event of an ordering, if with the first another
// thread acquires the lock before and changes what the woken thread looks at.
func (x *explaining) steals(o *Order) (wake int, ok bool) {
	if o.Second < 0 || o.Waiting || ops.Of(x.t.Events[o.Second].Op).Blocks != ops.UntilReacquired || ops.Does(x.t.Events[o.First].Op) != ops.Acquire {
		return 0, false
	}
	return x.woken(o.First, o.Second)
}

// misuse is the pattern of an ordering that has no other: how a Go program used a channel, a WaitGroup or a map.
func (x *explaining) misuse(o *Order) string {
	end := &x.t.Ending
	for _, m := range []struct{ message, name string }{
		{"close of closed channel", DoubleClose},
		{"send on closed channel", ClosedSend},
		{"sync: negative WaitGroup counter", WaitGroup},
		{"sync: WaitGroup misuse", WaitGroup},
		{"sync: WaitGroup is reused", WaitGroup},
		{"concurrent map ", MapAccess},
	} {
		if x.t.Header.Target == "go" && (end.Kind == trace.Panic || end.Kind == trace.Fatal) && strings.Contains(end.Message, m.message) {
			return m.name
		}
	}
	first, later := &x.t.Events[o.First], (*trace.Event)(nil)
	switch {
	case o.Waiting:
		return OrderViolation
	case o.Second >= 0:
		later = &x.t.Events[o.Second]
	default:
		later = &x.passing.Events[o.InPassing]
	}
	if first.Op == trace.OpWgWait && later.Op == trace.OpWgAdd && int64(later.Value) > 0 && first.Object == later.Object {
		return WaitGroup
	}
	return OrderViolation
}

func (x *explaining) stillWaits(th trace.ThreadID) string {
	return fmt.Sprintf("T%d still waits when the execution ends, and nobody signals after its wait began.", th)
}

// unserializable is the pattern of accesses of one object, p and c of one thread and r of another between them.
func (x *explaining) unserializable(p, r, c int) shown {
	out := shown{name: Unserializable, triple: []int{p, r, c}}
	reads := func(i int) bool { return !changes(&x.t.Events[i]) }
	switch {
	case reads(p) && !reads(c) && !reads(r):
		out.name = LostUpdate
	case reads(p) && reads(c):
		out.name = CheckThenAct
	}
	return out
}

// across returns unserializable accesses p, r and c of one object where p is in the critical section that begins with one
// acquisition of a lock, c in a later one of the same thread, and r, of the other acquisition's thread, after that acquisition.
func (x *explaining) across(first, second int) (p, r, c int, ok bool) {
	if !x.sameLock(first, second) {
		return 0, 0, 0, false
	}
	one, two := x.t.Events[first].Thread, x.t.Events[second].Thread
	accesses, _ := section(x.t, first)
	for _, p := range accesses {
		for r := second + 1; r < len(x.t.Events); r++ {
			ev := &x.t.Events[r]
			if ev.Object != x.t.Events[p].Object || ops.Of(ev.Op).Of != ops.Memory {
				continue
			}
			if ev.Thread == one {
				break // c of an interleaving without r
			}
			if ev.Thread != two || !changes(ev) {
				continue
			}
			if p, r, c, ok := x.broken(p, r); ok && x.t.Events[p].Thread == one {
				return p, r, c, true
			}
		}
	}
	return 0, 0, 0, false
}

// freed returns the event by which another thread freed the memory whose access ends the execution; -1 if it does
// not end so.
func (x *explaining) freed() int {
	end := &x.t.Ending
	if end.Kind != trace.Misuse || end.Object == 0 {
		return -1
	}
	for i := len(x.t.Allocs) - 1; i >= 0; i-- {
		a := &x.t.Allocs[i]
		if a.Object <= end.Object && end.Object < a.Object+trace.Object(max(a.Size, 1)) {
			if a.Freed >= 0 && a.Freed < len(x.t.Events) && x.t.Events[a.Freed].Thread != end.Thread && ops.Does(x.t.Events[a.Freed].Op) == ops.Free {
				return a.Freed
			}
			return -1
		}
	}
	return -1
}

// inside returns accesses of one object in the critical sections that begin with two acquisitions of one lock, one
// of them a write.
func (x *explaining) inside(first, second int) (f, s int, ok bool) {
	if ops.Does(x.t.Events[first].Op) != ops.Acquire || !x.sameLock(first, second) {
		return 0, 0, false
	}
	a, _ := section(x.t, first)
	b, _ := section(x.t, second)
	a, b = x.outermost(a), x.outermost(b)
	theirs := map[trace.Object][]int{}
	for _, s := range b {
		o := x.t.Events[s].Object
		theirs[o] = append(theirs[o], s)
	}
	tried := 0
	for _, f := range a {
		for _, s := range theirs[x.t.Events[f].Object] {
			if !changes(&x.t.Events[f]) && !changes(&x.t.Events[s]) {
				continue
			}
			if tried++; tried > mostInside {
				return 0, 0, false
			}
			if _, _, _, broken := x.broken(f, s); broken {
				return f, s, true
			}
		}
	}
	return 0, 0, false
}

// mostInside is how many pairs of accesses in two critical sections are looked at, each in time that grows with the execution.
const mostInside = 200

// outermost returns the first and the last of the accesses that an instruction makes to an object, of each.
func (x *explaining) outermost(accesses []int) []int {
	type access struct {
		site   trace.Site
		object trace.Object
	}
	of := func(e int) access { return access{x.t.Events[e].Site, x.t.Events[e].Object} }
	first, last := map[access]int{}, map[access]int{}
	for _, e := range accesses {
		if _, ok := first[of(e)]; !ok {
			first[of(e)] = e
		}
		last[of(e)] = e
	}
	return slices.DeleteFunc(accesses, func(e int) bool { return e != first[of(e)] && e != last[of(e)] })
}

// guarded returns the accesses to memory for which two acquisitions of one lock stand: of their critical sections, the last of the first and the first of the second that conflict. later is the second one's event if it is of
// the execution that does not fail, otherwise -1. If the second thread waits, events has the last access of the first section to
// memory that other threads access.
func (x *explaining) guarded(o *Order) (events []int, later int) {
	if ops.Acquires(&x.t.Events[o.First]) == 0 {
		return nil, -1
	}
	first, _ := section(x.t, o.First)
	if o.Waiting {
		for _, f := range slices.Backward(first) {
			one := &x.t.Events[f]
			if slices.ContainsFunc(x.t.Events, func(ev trace.Event) bool {
				return ev.Thread != one.Thread && ev.Object == one.Object && ops.Of(ev.Op).Of == ops.Memory
			}) {
				return []int{f}, -1
			}
		}
		return nil, -1
	}
	in, second := x.t, o.Second
	if second < 0 {
		in, second = x.passing, o.InPassing
	}
	behind, _ := section(in, second)
	for _, f := range slices.Backward(first) {
		for _, s := range behind {
			one, two := &x.t.Events[f], &in.Events[s]
			if one.Object == two.Object && (changes(one) || changes(two)) {
				if o.Second < 0 {
					return []int{f}, s
				}
				return []int{f, s}, -1
			}
		}
	}
	return nil, -1
}

// waits are steps for what threads wait for when the execution ends, except for the end of another thread.
func (x *explaining) waits() (out []Step) {
	const most = 6
	switch x.t.Ending.Kind {
	case trace.Deadlock, trace.Hang, trace.Livelock, trace.Leak:
	default:
		return nil
	}
	for i := range x.t.Ending.Waiters {
		w := &x.t.Ending.Waiters[i]
		if w.Ready || ops.Does(w.Op) == ops.Join || len(out) == most {
			continue
		}
		s := Step{Event: -1, Thread: ThreadText(w.Thread), Text: "waits: " + w.Op.String(), Where: x.names.Place(w.Site)}
		if w.Object != 0 {
			s.Text += " " + x.names.Object(x.t, w.Object, 0, len(x.t.Events)-1)
		}
		out = append(out, s)
	}
	return out
}

// section returns the accesses to memory of the critical section that begins with an acquisition, or ends with a
// release, and its events on conditions.
func section(t *trace.Trace, at int) (accesses, conditions []int) {
	bound := &t.Events[at]
	lock := cmp.Or(ops.Acquires(bound), bound.Object)
	from, step := at+1, 1
	if does := ops.Does(bound.Op); does == ops.Release || does == ops.ReleaseShared {
		from, step = at-1, -1
	}
	for i := from; i >= 0 && i < len(t.Events); i += step {
		ev := &t.Events[i]
		s := ops.Of(ev.Op)
		if ev.Thread != bound.Thread {
			continue
		}
		switch s.Does {
		case ops.Acquire, ops.AcquireShared, ops.Release, ops.ReleaseShared:
			if ev.Object == lock {
				return accesses, conditions
			}
		}
		switch {
		case s.Of == ops.Memory && ev.Object.Region() != trace.RegionStack:
			accesses = append(accesses, i)
		case s.Of == ops.Condition:
			conditions = append(conditions, i)
			if s.Does == ops.Wait && trace.Object(ev.Aux) == lock {
				return accesses, conditions // it releases the lock
			}
		}
	}
	return accesses, conditions
}

// wrongWakeUp is the pattern of a deadlock in which a signal of a condition woke a thread which only began to wait there again, when threads
// that wait there forever waited already.
func (x *explaining) wrongWakeUp() (shown, bool) {
	if x.t.Ending.Kind != trace.Deadlock {
		return shown{}, false
	}
	last := map[trace.ThreadID]int{} // the last event of each thread
	for i := range x.t.Events {
		last[x.t.Events[i].Thread] = i
	}
	waits := func(th trace.ThreadID, on trace.Object) bool { // forever
		w, ev := x.waiter(th), &x.t.Events[last[th]]
		return w != nil && w.Object == on && ev.Object == on && ops.Does(ev.Op) == ops.Wait
	}
	for i := range slices.Backward(x.t.Events) {
		ev := &x.t.Events[i]
		if spec := ops.Of(ev.Op); spec.Does != ops.WakeOne || spec.Of != ops.Condition || spec.Value != ops.ThreadPlusOne || ev.Value == 0 {
			continue
		}
		th := trace.ThreadID(ev.Value) - 1
		if !waits(th, ev.Object) || !x.onlyReads(th, i+1) {
			continue
		}
		var others []trace.ThreadID
		for n := range x.t.Ending.Waiters {
			if y := x.t.Ending.Waiters[n].Thread; y != th && last[y] < i && waits(y, ev.Object) {
				others = append(others, y)
			}
		}
		if len(others) > 0 {
			p := shown{name: WrongWakeUp, more: []int{i}, sentence: fmt.Sprintf("%s wakes T%d, which waits again, while %s on it, too.", x.event(i), th, x.wait(others))}
			clear(x.said)
			x.last = ""
			return p, true
		}
	}
	return shown{}, false
}

// onlyReads reports whether a thread writes no shared memory and wakes nobody from an event on.
func (x *explaining) onlyReads(th trace.ThreadID, from int) bool {
	return !slices.ContainsFunc(x.t.Events[from:], func(ev trace.Event) bool {
		spec := ops.Of(ev.Op)
		return ev.Thread == th && (spec.Of == ops.Memory && ev.Object.Region() != trace.RegionStack && changes(&ev) || spec.Does == ops.WakeOne || spec.Does == ops.WakeAll)
	})
}

// oneObject reports whether the events of an ordering concern one object.
func (x *explaining) oneObject(o *Order) bool {
	first, second := &x.t.Events[o.First], &x.t.Events[o.Second]
	return first.Object == second.Object || x.sameLock(o.First, o.Second) || overlaps(first, second)
}

// overlaps reports whether two accesses have a byte in common.
func overlaps(a, b *trace.Event) bool {
	return a.Object < b.Object+trace.Object(max(b.Size, 1)) && b.Object < a.Object+trace.Object(max(a.Size, 1))
}

// sameLock reports whether two events acquire the same lock.
func (x *explaining) sameLock(first, second int) bool {
	lock := ops.Acquires(&x.t.Events[first])
	return lock != 0 && lock == ops.Acquires(&x.t.Events[second])
}

// woken returns the event by which another thread woke the one whose wait on a condition returns with event second, if that
// was before event first, and the section that begins with first changes memory which the woken thread accesses after its wait.
func (x *explaining) woken(first, second int) (wake int, ok bool) {
	back := &x.t.Events[second]
	accesses, _ := section(x.t, first)
	mine, _ := section(x.t, second)
	taken := slices.ContainsFunc(accesses, func(a int) bool {
		return changes(&x.t.Events[a]) && slices.ContainsFunc(mine, func(b int) bool { return x.t.Events[a].Object == x.t.Events[b].Object })
	})
	for i := first - 1; i >= 0 && taken; i-- {
		ev := &x.t.Events[i]
		does := ops.Does(ev.Op)
		if ev.Object != back.Object {
			continue
		}
		switch {
		case does == ops.Wait && ev.Thread == back.Thread:
			return 0, false
		case does == ops.WakeAll, does == ops.WakeOne && ops.Of(ev.Op).Value == ops.ThreadPlusOne && trace.ThreadID(ev.Value)-1 == back.Thread:
			return i, true
		}
	}
	return 0, false
}

// lostWakeUp returns a wake-up in the critical section of the first of two acquisitions of one lock, and a wait for it
// in that of the second, which never ends.
func (x *explaining) lostWakeUp(first, second int) (wake, wait int, ok bool) {
	if ops.Does(x.t.Events[first].Op) != ops.Acquire || x.t.Events[first].Object != x.t.Events[second].Object {
		return 0, 0, false
	}
	_, wakes := section(x.t, first)
	_, waits := section(x.t, second)
	for _, wake := range wakes {
		for _, wait := range waits {
			one, two := &x.t.Events[wake], &x.t.Events[wait]
			does := ops.Does(one.Op)
			if (does == ops.WakeOne || does == ops.WakeAll) && ops.Does(two.Op) == ops.Wait && one.Object == two.Object && x.waitsForever(wait) {
				return wake, wait, true
			}
		}
	}
	return 0, 0, false
}

// waitsForever reports whether the thread of a wait still waits there when the execution ends, and no wake-up of the
// object follows the wait.
func (x *explaining) waitsForever(wait int) bool {
	ev := &x.t.Events[wait]
	w := x.waiter(ev.Thread)
	return w != nil && w.Object == ev.Object && !slices.ContainsFunc(x.t.Events[wait+1:], func(later trace.Event) bool {
		does := ops.Does(later.Op)
		return later.Object == ev.Object && (later.Thread == ev.Thread || does == ops.WakeOne || does == ops.WakeAll)
	})
}

// changes reports whether an access changes memory. A compare-and-swap that fails only reads.
func changes(ev *trace.Event) bool {
	switch ops.Does(ev.Op) {
	case ops.Read, ops.AtomicRead:
		return false
	case ops.Compare:
		return ev.Result != 0
	}
	return true
}

// broken returns accesses p and c of one thread, one after the other, and r of another on one object, r between the others, so
// that no order of the two threads without an interruption gives the same values (CTrigger, ASPLOS'09, §2).
// The first of the pair is p, or the second is c. The other one is r, if it is such an access, and otherwise one of r's thread
// that also comes between p and c.
func (x *explaining) broken(first, second int) (p, r, c int, ok bool) {
	object := x.t.Events[second].Object
	if x.t.Events[first].Object != object {
		return 0, 0, 0, false
	}
	at := func(from, to, step int, th trace.ThreadID) int {
		for i := from; i != to; i += step {
			if ev := &x.t.Events[i]; ev.Thread == th && ev.Object == object && ops.Of(ev.Op).Of == ops.Memory {
				return i
			}
		}
		return -1
	}
	n := len(x.t.Events)
	one, two := x.t.Events[first].Thread, x.t.Events[second].Thread
	candidates := []struct {
		p, r, c int
		other   trace.ThreadID // r's
	}{{first, second, at(second+1, n, 1, one), two}, {at(first-1, -1, -1, two), first, second, one}}
	for _, k := range candidates {
		if k.p < 0 || k.c < 0 || x.begins(k.other) > k.p {
			continue
		}
		own := at(k.p+1, k.c, 1, x.t.Events[k.p].Thread)
		if k.p == first { // it is p that the failure depends on, though the thread may read the same again before r
			for own >= 0 && own < k.r && !changes(&x.t.Events[k.p]) && !changes(&x.t.Events[own]) {
				own = at(own+1, k.c, 1, x.t.Events[k.p].Thread)
			}
		}
		if own >= 0 {
			continue
		}
		between := []int{k.r}
		for i := k.p + 1; i < k.c; i++ {
			if i != k.r && at(i, i+1, 1, k.other) == i {
				between = append(between, i)
			}
		}
		for _, r := range between {
			w := [3]bool{changes(&x.t.Events[k.p]), changes(&x.t.Events[r]), changes(&x.t.Events[k.c])}
			switch w {
			case [3]bool{false, true, false}, [3]bool{true, true, false}, [3]bool{false, true, true}, [3]bool{true, false, true}:
				return k.p, r, k.c, true
			}
		}
	}
	return 0, 0, 0, false
}

// begins returns the event by which a thread was created, -1 for none.
func (x *explaining) begins(th trace.ThreadID) int {
	return slices.IndexFunc(x.t.Events, func(ev trace.Event) bool {
		s := ops.Of(ev.Op)
		return s.Does == ops.Create && s.Value == ops.ThreadNumber && trace.ThreadID(ev.Value) == th
	})
}

// LosesWakeUp reports whether an ordering of two events is that of a wake-up before a wait which never ends, or of the critical
// sections that they are in.
func LosesWakeUp(t *trace.Trace, first, second int) bool {
	x := &explaining{t: t}
	a, b := &t.Events[first], &t.Events[second]
	if does := ops.Does(a.Op); (does == ops.WakeOne || does == ops.WakeAll) && ops.Does(b.Op) == ops.Wait {
		return a.Object == b.Object && x.waitsForever(second)
	}
	_, _, ok := x.lostWakeUp(first, second)
	return ok
}

// written reports whether an access before an event wrote some of what another accesses.
func (x *explaining) written(to *trace.Event, before int) bool {
	return slices.ContainsFunc(x.t.Events[:before], func(ev trace.Event) bool {
		return ops.Of(ev.Op).Of == ops.Memory && changes(&ev) && ev.Object < to.Object+trace.Object(max(to.Size, 1)) && to.Object < ev.Object+trace.Object(max(ev.Size, 1))
	})
}

// lockCycle returns threads each of which waits for a lock that the next one holds, and the last one for one that the first
// holds; nil for none. A lock that several threads hold for reading is followed to each of them.
func (x *explaining) lockCycle() []trace.ThreadID {
	held := LocksAt(x.t, len(x.t.Events))
	waits := func(th trace.ThreadID) (on []trace.ThreadID) {
		w := x.waiter(th)
		if w == nil || w.Ready || ops.Does(w.Op) != ops.Acquire && ops.Does(w.Op) != ops.AcquireShared {
			return nil
		}
		for _, h := range held {
			if h.Lock == w.Object && h.Thread != th {
				on = append(on, h.Thread)
			}
		}
		if w.Holder >= 0 && w.Holder != th && !slices.Contains(on, w.Holder) {
			on = append(on, w.Holder)
		}
		return on
	}
	var path, found []trace.ThreadID
	visited := map[trace.ThreadID]bool{}
	var follow func(th trace.ThreadID) bool
	follow = func(th trace.ThreadID) bool {
		if i := slices.Index(path, th); i >= 0 {
			found = slices.Clone(path[i:])
			return true
		}
		if visited[th] {
			return false
		}
		visited[th] = true
		path = append(path, th)
		if slices.ContainsFunc(waits(th), follow) {
			return true
		}
		path = path[:len(path)-1]
		return false
	}
	for i := range x.t.Ending.Waiters {
		if follow(x.t.Ending.Waiters[i].Thread) {
			slices.Sort(found)
			return found
		}
	}
	return nil
}

func (x *explaining) threads(list []trace.ThreadID) string {
	var names []string
	for _, th := range list {
		names = append(names, fmt.Sprintf("T%d", th))
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// missingLock says which lock guards another access of the object and one of the pair, which have no lock in
// common; empty for none.
func (x *explaining) missingLock(o *Order) string {
	if o.Second < 0 || o.Waiting || x.t.Header.Target == "go" {
		return "" // not a pair of accesses, or the locks held are not known
	}
	first, second := &x.t.Events[o.First], &x.t.Events[o.Second]
	if ops.Of(first.Op).Of != ops.Memory || ops.Of(second.Op).Of != ops.Memory {
		return ""
	}
	held := map[trace.ThreadID]map[trace.Object]bool{}
	guards := map[trace.Object]int{} // lock: accesses of the object that hold it
	var mine [2]map[trace.Object]bool
	accesses := 0
	for i := range x.t.Events {
		ev := &x.t.Events[i]
		h := held[ev.Thread]
		if h == nil {
			h = map[trace.Object]bool{}
			held[ev.Thread] = h
		}
		switch ops.Does(ev.Op) {
		case ops.Acquire:
			if ops.Of(ev.Op).Done(ev) {
				h[ev.Object] = true
			}
		case ops.Release:
			delete(h, ev.Object)
		}
		if ev.Object != second.Object || ops.Of(ev.Op).Of != ops.Memory {
			continue
		}
		accesses++
		for lock := range h {
			guards[lock]++
		}
		for k, e := range []int{o.First, o.Second} {
			if e == i {
				mine[k] = map[trace.Object]bool{}
				for lock := range h {
					mine[k][lock] = true
				}
			}
		}
	}
	for _, lock := range slices.Sorted(func(yield func(trace.Object) bool) {
		for l := range guards {
			if !yield(l) {
				return
			}
		}
	}) {
		without := first
		switch {
		case mine[0][lock] && mine[1][lock]:
			return "" // a lock that both hold
		case mine[0][lock] == mine[1][lock], guards[lock] < 2:
			continue
		case mine[0][lock]:
			without = second
		}
		return fmt.Sprintf("T%d's access holds no %s, which the other holds.", without.Thread, x.names.Object(x.t, lock, 0, o.Second))
	}
	return ""
}
