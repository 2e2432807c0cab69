// Package beside shows a failing execution and one that passes side by side: where their orders differ first, which value
// differs because of that, and what the failing operation does in the other one.
//
// Events correspond by thread: each thread's operations are aligned in its program order. Of the events that correspond, a
// largest set whose global order is the same in both executions stands in one row each; the others have changed places.
package beside

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Execution is one of the two.
type Execution struct {
	File     string
	Recorded *trace.Trace // as the file has it: numbers of events are its
	Full     *trace.Trace // the same execution with every access to memory and its value
	View     *report.View // of Full
	Ended    *report.View // of Recorded, for how it ended
}

// Comparison is what heddle compare prints of one trace.
type Comparison struct {
	// Why is the sentence that every output has of the failing execution; empty if nothing was explained.
	Why string `json:"why,omitempty"`
	// Turned: in Passing, the ordering that Why states is the other way round. Otherwise it is one near the failing one.
	Turned bool `json:"turned"`
	// Given: the user has named Passing.
	Given   bool  `json:"given,omitempty"`
	Failing Ended `json:"failing"`
	Passing Ended `json:"passing"`
	// Same is how many events the executions have in common before the first difference.
	Same int `json:"same"`
	// Order is the first event of each that the other does not have in that place.
	Order Difference `json:"order"`
	// Value is the first read of a variable that saw another number; nil if none is known.
	Value *Value `json:"value,omitempty"`
	// Stops says what the threads that fail or wait do in the execution that passes.
	Stops []Stop `json:"stops"`
	Rows  []Row  `json:"rows"`
	// Executions is how many were made.
	Executions int `json:"executions"`
}

// Ended says how an execution ended.
type Ended struct {
	Trace  string `json:"trace"`
	Ending string `json:"ending"`
	Events int    `json:"events"` // of the trace file
	Replay string `json:"replay"`
}

// Event is an event of one of the executions.
type Event struct {
	Event  int    `json:"event"` // its number in the trace file; -1 if that lacks it
	Thread string `json:"thread"`
	Text   string `json:"text"` // `read counter → 1`
	Where  string `json:"where,omitempty"`
}

// Difference is an event of each execution; nil where an execution has none.
type Difference struct {
	Failing *Event `json:"failing,omitempty"`
	Passing *Event `json:"passing,omitempty"`
}

// Value is a read that saw another value in each execution, and what had written it.
type Value struct {
	Difference
	Wrote Difference `json:"wrote"`
}

// Stop is a thread that failed, or waits when the execution ends.
type Stop struct {
	Thread  string `json:"thread"`
	Failing string `json:"failing"`           // in words
	Passing *Event `json:"passing,omitempty"` // what it does there at that point; nil if it does nothing more
}

// Kind says what a row shows.
type Kind string

const (
	Same    Kind = "same"    // an event of both executions
	Other   Kind = "value"   // likewise, with another value or result
	Failing Kind = "failing" // an event that only the failing execution has in this place
	Passing Kind = "passing" // one that only the passing execution has in this place
	Fold    Kind = "fold"    // rows that are not shown
)

// Row is a line of the table.
type Row struct {
	Kind    Kind   `json:"kind"`
	Failing *Event `json:"failing,omitempty"`
	Passing *Event `json:"passing,omitempty"`
	// There is the same event in the other execution, which has it in another place; nil if it never happens there. Later says on
	// which side of this row that is, and Differs that it has another value.
	There   *Event `json:"there,omitempty"`
	Later   bool   `json:"later,omitempty"`
	Differs bool   `json:"differs,omitempty"`
	// Waits: in the failing execution, the thread waits to do this when it ends.
	Waits bool `json:"waits,omitempty"`
	// Of a fold: how many rows it has, and of these the same and with another value.
	Events int   `json:"events,omitempty"`
	Equal  int   `json:"equal,omitempty"`
	Values int   `json:"values,omitempty"`
	Rows   []Row `json:"rows,omitempty"` // with Options.Whole
}

// Options say how much of the table is wanted.
type Options struct {
	Lines int  // at most so many rows, folds included; 0 for all
	Whole bool // folds have their rows
	// Own reports whether an event is of the program's own code: others are shown only if they are of the failure. If nil, all are.
	Own func(t *trace.Trace, event int) bool
}

// line is a row: an item of each execution, or -1.
type line struct{ a, b int }

// comparer compares a, which fails, with b.
type comparer struct {
	a, b    *side
	to      []int // for each item of a that of b, or -1
	from    []int // for each item of b that of a, or -1
	lines   []line
	rowOfA  []int
	rowOfB  []int
	because *report.Explanation
	own     func(t *trace.Trace, event int) bool
	waiting map[int]bool // items of b that threads of a wait to do when it ends
}

// Compare puts two executions side by side. why explains the failing one; it may be nil.
func Compare(failing, passing Execution, why *report.Explanation, o Options) *Comparison {
	detailed := len(failing.Full.Events) <= mostDetailed && len(passing.Full.Events) <= mostDetailed
	x := &comparer{a: newSide(failing, detailed), b: newSide(passing, detailed), because: why, own: o.Own}
	x.to = align(x.a, x.b)
	x.from = make([]int, len(x.b.items))
	for i := range x.from {
		x.from[i] = -1
	}
	for i, j := range x.to {
		if j >= 0 {
			x.from[j] = i
		}
	}
	x.merge()
	x.findWaiting()
	out := &Comparison{Failing: ended(&failing, x.a), Passing: ended(&passing, x.b), Stops: x.stops()}
	if why != nil {
		out.Why = why.Line
	}
	first, before := x.firstOrder(), len(x.lines)
	if first != nil {
		out.Order, before = x.difference(*first), x.earlier(*first)
	}
	out.Same = x.together(before)
	value := x.firstValue(first)
	if value != nil {
		out.Value = &Value{Difference: x.difference(line{value.item, x.to[value.item]}), Wrote: x.difference(line{value.wrote, value.there})}
	}
	out.Rows = x.rows(x.chosen(first, value, o.Lines), o.Whole)
	return out
}

func ended(e *Execution, s *side) Ended {
	out := Ended{Trace: e.File, Ending: e.Ended.Ending, Events: len(e.Recorded.Events)}
	if f := e.Ended.Failure; f != nil {
		out.Ending = f.Title
	}
	return out
}

// merge makes the lines.
func (x *comparer) merge() {
	var mine, other []int
	for i, j := range x.to {
		if j >= 0 {
			mine, other = append(mine, i), append(other, j)
		}
	}
	i, j := 0, 0
	until := func(a, b int) {
		for ; i < a; i++ {
			x.lines = append(x.lines, line{i, -1})
		}
		for ; j < b; j++ {
			x.lines = append(x.lines, line{-1, j})
		}
	}
	for _, k := range increasing(other) {
		until(mine[k], other[k])
		x.lines = append(x.lines, line{i, j})
		i, j = i+1, j+1
	}
	until(len(x.a.items), len(x.b.items))
	x.rowOfA, x.rowOfB = make([]int, len(x.a.items)), make([]int, len(x.b.items))
	for n, l := range x.lines {
		if l.a >= 0 {
			x.rowOfA[l.a] = n
		}
		if l.b >= 0 {
			x.rowOfB[l.b] = n
		}
	}
}

// firstOrder returns the first item of each execution, or -1 where it has ended, that the other one does not have in that place. Only
// what threads may do in another order counts: scheduling points of the program's own code, or else of libraries. Those of a runtime or
// a library, and its allocations, can differ within one operation of the program. It returns nil if all are in the same place.
func (x *comparer) firstOrder() *line {
	mine, other := x.a.accessPoints(), x.b.accessPoints()
	point := func(s *side, i int) bool {
		if e := s.event(i); e.Op.IsAccess() { // recordings differ in which of these are scheduling points
			op := s.operation(i)
			return mine[op] && other[op]
		} else {
			return !e.Detail() && ops.Does(e.Op) != ops.Allocate
		}
	}
	for _, counts := range []func(s *side, i int) bool{
		func(s *side, i int) bool { return point(s, i) && (x.own == nil || x.own(s.Full, s.items[i])) },
		point,
	} {
		mine, other := x.a.those(counts), x.b.those(counts)
		for n := 0; n < len(mine) || n < len(other); n++ {
			d := line{-1, -1}
			if n < len(mine) {
				d.a = mine[n]
			}
			if n < len(other) {
				d.b = other[n]
			}
			if d.a < 0 || d.b < 0 || x.to[d.a] != d.b {
				return &d
			}
		}
	}
	return nil
}

// accessPoints are the accesses to memory that are scheduling points.
func (s *side) accessPoints() map[operation]bool {
	out := map[operation]bool{}
	for i := range s.items {
		if e := s.event(i); e.Op.IsAccess() && !e.Detail() {
			out[s.operation(i)] = true
		}
	}
	return out
}

// those returns the items that count.
func (s *side) those(counts func(s *side, i int) bool) (out []int) {
	for i := range s.items {
		if counts(s, i) {
			out = append(out, i)
		}
	}
	return out
}

// earlier returns the row of the first difference: the first of the two.
func (x *comparer) earlier(first line) int {
	switch {
	case first.b < 0:
		return x.rowOfA[first.a]
	case first.a < 0:
		return x.rowOfB[first.b]
	}
	return min(x.rowOfA[first.a], x.rowOfB[first.b])
}

// together returns how many rows of the first n both executions have.
func (x *comparer) together(n int) (same int) {
	for _, l := range x.lines[:n] {
		if l.a >= 0 && l.b >= 0 {
			same++
		}
	}
	return same
}

// difference shows two items, of which either may be -1.
func (x *comparer) difference(l line) (d Difference) {
	if l.a >= 0 {
		d.Failing = x.a.shown(l.a)
	}
	if l.b >= 0 {
		d.Passing = x.b.shown(l.b)
	}
	return d
}

// shown is an item for the reader.
func (s *side) shown(item int) *Event {
	c, e := s.cells[item], s.items[item]
	out := &Event{Event: s.numbers[e], Thread: report.ThreadText(s.Full.Events[e].Thread), Text: c.Text}
	if op := s.Full.Events[e].Op; c.Place != 0 && op != trace.OpTestEnd { // a test ends in heddle's own code
		out.Where = s.View.Places[c.Place].Label
	}
	return out
}

// stops returns what threads that fail or wait do in the other execution.
func (x *comparer) stops() []Stop {
	const most = 4
	out := []Stop{}
	f := x.a.View.Failure
	if f == nil {
		return out
	}
	stopped := func(th trace.ThreadID, text string) {
		s := Stop{Thread: report.ThreadText(th), Failing: text}
		if j := x.instead(th); j >= 0 {
			s.Passing = x.b.shown(j)
		}
		out = append(out, s)
	}
	waits := x.waits(f)
	for _, w := range waits[:min(len(waits), most)] {
		stopped(w.Thread, x.renumbered(w.Sentence(x.a.View.Places)))
	}
	if len(out) == 0 {
		stopped(f.Thread, f.Title)
	}
	return out
}

var inSentence = regexp.MustCompile(`, (since )?event ([\d,]*\d)`)

// renumbered gives a sentence about the failing execution the numbers of its trace file.
func (x *comparer) renumbered(s string) string {
	return inSentence.ReplaceAllStringFunc(s, func(found string) string {
		m := inSentence.FindStringSubmatch(found)
		n, err := strconv.Atoi(strings.ReplaceAll(m[2], ",", ""))
		if err != nil || n >= len(x.a.numbers) || x.a.numbers[n] < 0 {
			return ""
		}
		return ", " + m[1] + "event " + wording.Thousands(x.a.numbers[n])
	})
}

// waits returns the threads that wait for one another when the execution ends, or else those that wait for more than the end of a
// thread, or else all that wait.
func (x *comparer) waits(f *report.Failure) (out []report.Wait) {
	if f.Ring > 0 {
		return f.Waits[:f.Ring]
	}
	joins := func(w report.Wait) bool {
		op := x.waitsFor(w.Thread)
		return op == nil || ops.Does(op.op) == ops.Join
	}
	all := slices.ContainsFunc(f.Waits, func(w report.Wait) bool { return !w.Ready && !joins(w) })
	for _, w := range f.Waits {
		if !w.Ready && (!all || !joins(w)) {
			out = append(out, w)
		}
	}
	return out
}

// findWaiting sets waiting.
func (x *comparer) findWaiting() {
	x.waiting = map[int]bool{}
	for i := range x.a.Full.Ending.Waiters {
		w := &x.a.Full.Ending.Waiters[i]
		if j := x.instead(w.Thread); j >= 0 && x.from[j] < 0 && x.b.operation(j) == (operation{w.Op, w.Site}) {
			x.waiting[j] = true
		}
	}
}

// waitsFor returns the operation that a thread waits to do when the failing execution ends; nil for none.
func (x *comparer) waitsFor(th trace.ThreadID) *operation {
	for i := range x.a.Full.Ending.Waiters {
		if w := &x.a.Full.Ending.Waiters[i]; w.Thread == th {
			return &operation{w.Op, w.Site}
		}
	}
	return nil
}

// stopped returns the item of the failing execution with which a thread fails, or the last one before; -1 if it has none.
func (x *comparer) stopped(th trace.ThreadID) int {
	if f := x.a.View.Failure; f != nil && f.Thread == th && len(f.Sides) == 2 { // of a data race, the later access
		if i, ok := x.a.at[f.Sides[1].Event]; ok {
			return i
		}
	}
	last := -1
	for i := len(x.a.items) - 1; i >= 0; i-- {
		e := x.a.event(i)
		if e.Thread != th {
			continue
		}
		if last < 0 {
			last = i
		}
		if ops.Does(e.Op) == ops.Fail {
			return i
		}
	}
	return last
}

// instead returns the item of the passing execution that stands for what a thread fails to do, or waits to do: the same operation, or
// else what its own code does after all that it does in both up to there; -1 if it does nothing more.
func (x *comparer) instead(th trace.ThreadID) int {
	stopped, waits := x.stopped(th), x.waitsFor(th)
	name, from := x.a.name(th), 0
	for i := stopped; i >= 0; i-- {
		if j := x.to[i]; x.a.event(i).Thread == th && j >= 0 && (i == stopped || x.isOwn(line{i, j})) {
			if i == stopped && (waits == nil || x.a.operation(i) == *waits) {
				return j
			}
			from = j + 1
			break
		}
	}
	own, last := -1, -1
	for j := from; j < len(x.b.items); j++ {
		if x.b.name(x.b.event(j).Thread) != name {
			continue
		}
		if waits != nil && x.b.operation(j) == *waits {
			return j
		}
		if last = j; own < 0 && x.isOwn(line{-1, j}) {
			own = j
		}
	}
	if own < 0 {
		return last // of a test, its end
	}
	return own
}
