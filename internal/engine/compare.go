package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// DivergedError reports where a replay diverged from its recording.
type DivergedError struct {
	// Event is the index of the first event that differed. It is the number of recorded events if
	// the replay matched them all and then continued or ended differently.
	Event int
	// Field is what differed: "thread", "op", "site", …, "ending", or "event" if one side has no
	// such event.
	Field string
	// Recorded and Met are the two events, nil where the event is missing.
	Recorded, Met *trace.Event
	// RecordedText and MetText describe the two sides.
	RecordedText, MetText string
	// Changed describes differences in the environment since the recording, a likely cause.
	Changed []string
}

func (e *DivergedError) Error() string {
	place := fmt.Sprintf("event %d", e.Event)
	if e.Field == "ending" {
		place = "the end"
	}
	s := fmt.Sprintf("the replay differs from the recording at %s (%s): recorded %s, met %s", place, e.Field, e.RecordedText, e.MetText)
	if len(e.Changed) > 0 {
		s += "; changed since the recording: " + strings.Join(e.Changed, ", ")
	}
	return s
}

// same compares two recordings of what should be the same execution. It returns nil or the first
// difference.
//
// The text that a program prints may contain what heddle does not control, such as a process id or a
// time. So the text of a failure and the output of a failed execution do not count, provided that
// all events agree and the failure is at the same place and on the same stack: Varies reports them.
func same(recorded, met *trace.Trace) *DivergedError {
	for i := range recorded.Events {
		a := &recorded.Events[i]
		if i == len(met.Events) {
			return &DivergedError{Event: i, Field: "event", Recorded: a, RecordedText: eventText(recorded, a), MetText: "the end: " + endingText(met)}
		}
		if b := &met.Events[i]; true {
			if field, x, y := difference(recorded, met, a, b); field != "" {
				return &DivergedError{Event: i, Field: field, Recorded: a, Met: b, RecordedText: eventText(recorded, a) + x, MetText: eventText(met, b) + y}
			}
		}
	}
	n := len(recorded.Events)
	if len(met.Events) > n {
		b := &met.Events[n]
		return &DivergedError{Event: n, Field: "event", Met: b, RecordedText: "the end: " + endingText(recorded), MetText: eventText(met, b)}
	}
	a, b := &recorded.Ending, &met.Ending
	if a.Kind == trace.Unfinished && b.Kind == a.Kind {
		return nil // elapsed time decides where it is ended, and how much output there is by then
	}
	switch {
	case a.Kind != b.Kind, a.Status != b.Status, a.Thread != b.Thread,
		a.Site != b.Site || a.Object != b.Object,
		!slices.EqualFunc(a.Accesses, b.Accesses, sameAccess),
		a.Message != b.Message && !textual(recorded, met):
		return &DivergedError{Event: n, Field: "ending", RecordedText: endingText(recorded), MetText: endingText(met)}
	}
	if field, x, y := claims(recorded, met); field != "" {
		return &DivergedError{Event: n, Field: field, RecordedText: endingText(recorded) + x, MetText: endingText(met) + y}
	}
	if a.Kind.Failed() {
		return nil
	}
	if at, differ := outputs(a, b); differ {
		return &DivergedError{Event: n, Field: "ending", RecordedText: outputText(a.Output, at), MetText: outputText(b.Output, at)}
	}
	return nil
}

// claims compares what recordings say besides their events and how they ended: where the threads were, and which threads there were. It returns the
// first field that differs, and what to say of it in each.
func claims(recorded, met *trace.Trace) (field, x, y string) {
	a, b := &recorded.Ending, &met.Ending
	sites := func(t *trace.Trace, stack []trace.Site) string {
		text := " called from"
		for _, s := range stack {
			text += " " + place(t.Modules, s)
		}
		return text
	}
	if !slices.Equal(a.Stack, b.Stack) {
		return "stack", sites(recorded, a.Stack), sites(met, b.Stack)
	}
	if !slices.Equal(a.Cycle, b.Cycle) {
		return "cycle", fmt.Sprintf(" with the cycle %v", a.Cycle), fmt.Sprintf(" with the cycle %v", b.Cycle)
	}
	if (a.Child == nil) != (b.Child == nil) || a.Child != nil && *a.Child != *b.Child {
		return "child", fmt.Sprintf(" with the child %+v", a.Child), fmt.Sprintf(" with the child %+v", b.Child)
	}
	sameWaiter := func(p, q trace.Waiter) bool {
		if !slices.Equal(stackOf(recorded, p.Stack), stackOf(met, q.Stack)) {
			return false
		}
		p.Stack, p.Reach, q.Stack, q.Reach = 0, 0, 0, 0 // what could wake a thread is not looked for in every recording
		return p == q
	}
	if !slices.EqualFunc(a.Waiters, b.Waiters, sameWaiter) {
		waiters := func(t *trace.Trace) string {
			var all []string
			for _, w := range t.Ending.Waiters {
				all = append(all, fmt.Sprintf("T%d %v at %s of %v, held by %d, ready %t%s", w.Thread, w.Op, place(t.Modules, w.Site), w.Object, w.Holder, w.Ready, sites(t, stackOf(t, w.Stack))))
			}
			return " with " + strings.Join(all, "; ")
		}
		return "waiters", waiters(recorded), waiters(met)
	}
	if len(recorded.Threads) != len(met.Threads) {
		return "threads", fmt.Sprintf(" with %d threads", len(recorded.Threads)), fmt.Sprintf(" with %d threads", len(met.Threads))
	}
	for i := range recorded.Threads {
		if p, q := recorded.Threads[i], met.Threads[i]; p != q {
			return "threads", fmt.Sprintf(" with the thread %+v", p), fmt.Sprintf(" with the thread %+v", q)
		}
	}
	return "", "", ""
}

// textual reports whether the messages of two failures of one kind are the program's text, which may
// vary, and the failures agree in all else that tells them apart.
func textual(recorded, met *trace.Trace) bool {
	a, b := &recorded.Ending, &met.Ending
	switch a.Kind {
	case trace.Assertion:
		// The compiler may let several assertions of a function share the failing call.
		if finding.AssertedAt(a.Message) != finding.AssertedAt(b.Message) {
			return false
		}
	case trace.Test, trace.Panic, trace.Fatal, trace.WrongOutput, trace.Exit:
	default:
		return false // heddle's own words, or the type of an exception
	}
	if a.Site == 0 && !finding.Of(*a, recorded.Modules).Same(finding.Of(*b, met.Modules)) {
		return false
	}
	return slices.Equal(a.Stack, b.Stack)
}

// outputs returns the first byte in which the outputs of two executions differ, and whether they do.
func outputs(a, b *trace.Ending) (at int, differ bool) {
	x, y := a.Output, b.Output
	for at < len(x) && at < len(y) && x[at] == y[at] {
		at++
	}
	return at, at < len(x) || at < len(y)
}

// Varies describes how the text of a failure or the output of its execution differs in a replay that
// is otherwise identical. It is empty if neither does.
func Varies(recorded, met *trace.Trace) string {
	a, b := &recorded.Ending, &met.Ending
	if a.Message != b.Message && a.Kind != trace.Unfinished {
		return fmt.Sprintf("the message varies while every event is the same: %q, then %q", firstLine(a.Message), firstLine(b.Message))
	}
	if at, differ := outputs(a, b); differ && a.Kind.Failed() && a.Kind != trace.Hang {
		return fmt.Sprintf("the output varies while every event is the same: %s, then %s", outputText(a.Output, at), outputText(b.Output, at))
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// sameAccess compares two sides of a race. Their stack numbers may differ.
func sameAccess(a, b trace.Access) bool {
	a.Stack, b.Stack = 0, 0
	return a == b
}

// difference returns the first field in which two events differ, and what to append to the text of
// each event, which does not show that field.
func difference(ta, tb *trace.Trace, a, b *trace.Event) (field, x, y string) {
	number := func(name string, x, y uint64) (string, string, string) {
		return name, fmt.Sprintf(" with %s %#x", name, x), fmt.Sprintf(" with %s %#x", name, y)
	}
	switch {
	case a.Thread != b.Thread:
		return "thread", "", ""
	case a.Op != b.Op:
		return "op", "", ""
	case a.Site != b.Site:
		return "site", "", ""
	case a.Object != b.Object:
		return "object", "", ""
	case a.Size != b.Size:
		return number("size", uint64(a.Size), uint64(b.Size))
	case a.Flags != b.Flags:
		return number("flags", uint64(a.Flags), uint64(b.Flags))
	case a.Result != b.Result:
		return "result", fmt.Sprintf(" with result %d", a.Result), fmt.Sprintf(" with result %d", b.Result)
	case a.Value != b.Value:
		return number("value", a.Value, b.Value)
	case a.Aux != b.Aux:
		return number("aux", a.Aux, b.Aux)
	case !a.Enabled.Equal(b.Enabled):
		return "enabled", " with enabled threads " + setText(a.Enabled), " with enabled threads " + setText(b.Enabled)
	case !unknown(ta, a) && !unknown(tb, b) && !slices.Equal(stack(ta, a), stack(tb, b)):
		return "stack", " called from " + stackText(ta, a), " called from " + stackText(tb, b)
	}
	return "", "", ""
}

// fullStacks is how many stacks an execution has at least when the runtime's table has no room for another one (runtime/c/core/stacks.c).
const fullStacks = 1 << 15

// unknown reports whether an event may have a stack that the runtime had no room for.
func unknown(t *trace.Trace, e *trace.Event) bool { return e.Stack == 0 && len(t.Stacks) >= fullStacks }

func stack(t *trace.Trace, e *trace.Event) []trace.Site { return stackOf(t, e.Stack) }

func eventText(t *trace.Trace, e *trace.Event) string {
	s := fmt.Sprintf("T%d %v at %s", e.Thread, e.Op, place(t.Modules, e.Site))
	if e.Object != 0 {
		s += " of " + objectText(t, e.Object)
	}
	return s
}

func objectText(t *trace.Trace, o trace.Object) string {
	switch o.Region() {
	case trace.RegionGlobal:
		return place(t.Modules, trace.MakeSite(o.Index(), o.Offset()))
	case trace.RegionHeap:
		return fmt.Sprintf("heap+%#x", o.Offset())
	case trace.RegionStack:
		return fmt.Sprintf("stack of T%d-%#x", o.Index(), o.Offset())
	}
	return fmt.Sprintf("%#x", o.Offset())
}

func stackText(t *trace.Trace, e *trace.Event) string {
	var places []string
	for _, s := range stack(t, e) {
		places = append(places, place(t.Modules, s))
	}
	if len(places) == 0 {
		return "nowhere"
	}
	return strings.Join(places, ", ")
}

func setText(s trace.ThreadSet) string {
	var threads []string
	for t := range trace.ThreadID(64 * (1 + len(s.High))) {
		if s.Has(t) {
			threads = append(threads, fmt.Sprintf("T%d", t))
		}
	}
	return "{" + strings.Join(threads, " ") + "}"
}

func endingText(t *trace.Trace) string {
	e := &t.Ending
	s := fmt.Sprintf("%v (status %d) by T%d at %s", e.Kind, e.Status, e.Thread, place(t.Modules, e.Site))
	if e.Message != "" {
		s += fmt.Sprintf(": %q", e.Message)
	}
	return s
}

func outputText(output []byte, at int) string {
	return fmt.Sprintf("output %q at byte %d", output[at:min(len(output), at+40)], at)
}

// diverged describes a divergence reported by the target, which could not follow the strict script.
// Step n of the script is the n-th scheduling decision of the recording.
func diverged(recorded *trace.Trace, met *trace.Trace, d *schedule.Divergence) *DivergedError {
	e := &DivergedError{Event: len(recorded.Events), Field: "event", RecordedText: "the end: " + endingText(recorded), MetText: "no thread that could run"}
	step := 0
	for i := range recorded.Events {
		if recorded.Events[i].Flags&trace.FlagNoDecision != 0 {
			continue
		}
		if step == d.Step {
			e.Event, e.Recorded, e.RecordedText = i, &recorded.Events[i], eventText(recorded, &recorded.Events[i])
			break
		}
		step++
	}
	if d.Met.Thread < 0 {
		return e
	}
	m := &trace.Event{Thread: d.Met.Thread, Op: d.Met.Op, Site: d.Met.Site}
	e.Met, e.MetText = m, eventText(met, m)
	if r := e.Recorded; r != nil {
		switch {
		case r.Thread != m.Thread:
			e.Field = "thread"
		case r.Op != m.Op:
			e.Field = "op"
		case r.Site != m.Site:
			e.Field = "site"
		default:
			// The same operation, but it did not block in the recording.
			e.Field = "enabled"
			e.MetText += ", which could not run"
		}
	}
	return e
}
