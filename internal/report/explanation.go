package report

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// Explanation says why an execution fails: the orderings of events of different threads on which its
// failure depends, each shown by an execution. The engine makes it; pages and exports draw it beside
// the View of the same execution. Number gives events the numbers of the trace that is explained, and InTrace leaves only those;
// until then, they are indices into a trace of the same execution with all accesses to memory.
type Explanation struct {
	// Others are executions that do not fail, besides the one that the explanation has: what happens in them, too, does not depend on the ordering.
	Others []*trace.Trace `json:"-"`

	pointers []symbol.Pointer // in the numbers of the explained trace: with them, it has the names that the explanation uses
	// Orders is the critical order, the most telling first.
	Orders []Order `json:"orders"`
	// Pattern names the kind of bug: `lost update`, `use after free`; empty if none was recognised.
	Pattern string `json:"pattern,omitempty"`
	// Short is one line for the reader, empty if the ordering says little; Text is a paragraph. Each sentence rests on events or executions that Orders
	// and Steps refer to.
	Short string `json:"short,omitempty"`
	Text  string `json:"text"`
	// Told are the events that Short speaks of, those of the execution that does not fail excepted; none if the explained
	// trace lacks one of them.
	Told []int `json:"told"`
	// Line is the sentence that every output has: Short, or without it the first sentence of Text, and the numbers of Told. It is
	// Reason in words if Short is empty and Reason is not.
	Line string `json:"line,omitempty"`
	// Steps are the events that make the failure, in their order: those of Orders, what the critical sections stand for that
	// they begin, and those that show the pattern of the first.
	Steps []Step `json:"steps"`
	// Events are the two events of each of Orders.
	Events []ExplainedEvent `json:"events"`
	// Passing is the name of the trace of the nearest execution that does not fail; empty if none was
	// found.
	Passing string `json:"passing,omitempty"`
	// Schedule is that of the execution that does not fail, or else of any that was met and does not fail, as heddle replay --schedule
	// follows it; empty if none was met, or if it is too long.
	Schedule string `json:"schedule,omitempty"`
	// Executions is how many were needed. Complete is false if the limit on them ended the work before
	// every ordering was tried.
	Executions int  `json:"executions"`
	Complete   bool `json:"complete"`
	// Cut says that the limits ended the work, so that with more of them another ordering might be named.
	Cut bool `json:"cut,omitempty"`
	// Interrupted is what a signal handler does to its own thread if the failure depends on it; nil otherwise.
	Interrupted *Interrupted `json:"-"`
	// Reason says why no ordering is named; empty if one is. Passed of the executions did not fail.
	Reason Unexplained `json:"reason,omitempty"`
	Passed int         `json:"passed,omitempty"`
}

// Interrupted is an interruption by a handler, with the executions that show that the failure depends on it: Failed had it and failed, Passed
// did neither.
type Interrupted struct {
	pattern.Interruption
	Failed, Passed int
}

// Step is an event, or what a thread waits for when the failing execution ends.
type Step struct {
	Event   int    `json:"event"`             // -1 for a wait, and for an event that the explained trace lacks
	InTrace *int   `json:"inTrace,omitempty"` // its number in the explained trace; nil if that lacks it
	Passing bool   `json:"passing,omitempty"` // an event of the execution that does not fail, which has not happened in the failing one
	Thread  string `json:"thread"`            // `T1`
	Text    string `json:"text"`              // `write counter ← 1`
	Where   string `json:"where,omitempty"`
}

// ExplainedEvent is an event of an ordering.
type ExplainedEvent struct {
	Event     int      `json:"event"`             // -1 if the explained trace lacks it
	InTrace   *int     `json:"inTrace,omitempty"` // its number in the explained trace; nil if that lacks it
	Passing   bool     `json:"passing,omitempty"` // of the execution that does not fail: it has not happened in the other
	Waiting   bool     `json:"waiting,omitempty"` // not Event, but what the thread waits for after it when the execution ends
	Thread    string   `json:"thread"`
	Operation string   `json:"operation"`
	Where     string   `json:"where,omitempty"`
	Stack     []string `json:"stack,omitempty"` // callers, innermost first
	// Holds are the locks that the thread holds during the event. Locks of Go programs are not known.
	Holds []string `json:"holds,omitempty"`
}

// Order is an ordering of two events of different threads: turning it makes the failure vanish.
type Order struct {
	// First and Second are -1 if the explained trace lacks the event.
	First  int `json:"first"`
	Second int `json:"second"`
	// Waiting: the second is not an event, but the operation for which a thread waits when the execution ends.
	// Second is then the thread's last event.
	Waiting bool   `json:"waiting,omitempty"`
	Object  string `json:"object,omitempty"` // that both events concern: `counter`, `queue->mutex`
	// Second is -1 if it has not happened when the execution ends. Then InPassing is its number in the trace of
	// Explanation.Passing.
	InPassing int `json:"inPassing,omitempty"`
	// Controlled: an execution in which everything moved but one of the two failed. Otherwise what had to move with
	// them may matter, too.
	Controlled bool `json:"controlled"`
	// Of the schedules near the failing one, Kept have the two in their order, and KeptFailed of these fail.
	Kept       int `json:"kept"`
	KeptFailed int `json:"keptFailed"`
	// Executions is how many had the two the other way round, Failed how many of these failed all the
	// same: 0 for an ordering of the critical order.
	Executions int `json:"executions"`
	Failed     int `json:"failed"`
	// Again is how many more failed with them so in which the same two instructions came in the order all the same: the threads exchanged their roles, or
	// others did the same.
	Again int `json:"-"`
	// Whole is the event from which on the thread of First has to do all after Second, where doing only First later fails; 0 if that suffices.
	Whole int `json:"-"`
	// Unconfirmed: the limits ended the work before it was tried in schedules near the failing one.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Together: turning it makes the failure vanish only if the next of Explanation.Orders is turned, too.
	Together bool `json:"together,omitempty"`
	// Between: it and the next of Explanation.Orders have an operation of one thread come between two of another, and turning either makes
	// the failure vanish.
	Between bool `json:"between,omitempty"`
}

// needsMore reports whether the failure needs something besides an ordering: it has not come about in each schedule that has it.
func (o *Order) needsMore() bool { return o.KeptFailed < o.Kept }

// events returns the two events.
func (o *Order) events() *pattern.Order {
	return &pattern.Order{First: o.First, Second: o.Second, Waiting: o.Waiting, InPassing: o.InPassing}
}

// Doubtful reports whether an ordering is not confirmed: an execution failed with its events the other way round, only one could be made
// with them so, or there was no time to try it again.
func (o *Order) Doubtful() bool { return o.Failed > 0 || o.Executions == 1 || o.Unconfirmed }

// Number sets the numbers that the events of an explanation of t have in the trace that is explained, which has the same
// execution with fewer events.
func (e *Explanation) Number(t, explained *trace.Trace) {
	numbers := Contained(t, explained)
	e.pointers = nil
	if explained.Header.Target != "go" {
		e.pointers = symbol.Pointers(t)
	}
	next, at := 0, 0 // an event of t, and the number in the explained trace of the first one from there on
	for i := range e.pointers {
		p := &e.pointers[i]
		for ; next < p.Event; next++ {
			if numbers[next] >= 0 {
				at = numbers[next] + 1
			}
		}
		p.Event = at
	}
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

// Named returns the events of the failing execution that the explanation names, each once.
func (e *Explanation) Named() (events []int) {
	add := func(event int, passing bool) {
		if !passing && event >= 0 {
			events = append(events, event)
		}
	}
	for i := range e.Events {
		add(e.Events[i].Event, e.Events[i].Passing || e.Events[i].Waiting) // of a wait, it is only the last event before it
	}
	for i := range e.Steps {
		add(e.Steps[i].Event, e.Steps[i].Passing)
	}
	slices.Sort(events)
	return slices.Compact(events)
}

// Contained returns the number that each event of all has in some, a part of its events in the same order; -1 if it
// has none, or if equal events of one thread leave open which it is.
func Contained(all, some *trace.Trace) []int {
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
