package report

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// explanationVersion is that of an Explanation's form in a trace, which is its JSON. Explanations of another version do not
// count.
const explanationVersion = 1

// InTrace returns the explanation with the numbers of the explained trace, as Number has set them, in place of all others: -1
// for an event that the trace lacks. Events of the execution that does not fail keep theirs.
func (e *Explanation) InTrace() *Explanation {
	out := *e
	out.Orders, out.Steps, out.Events, out.Told = slices.Clone(e.Orders), slices.Clone(e.Steps), slices.Clone(e.Events), []int{}
	numbers := map[int]int{}
	number := func(event *int, in *int, passing bool) {
		if passing {
			return
		}
		was := *event
		if *event = -1; in != nil {
			*event, numbers[was] = *in, *in
		}
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		number(&s.Event, s.InTrace, s.Passing)
	}
	for i := range out.Events {
		x := &out.Events[i]
		number(&x.Event, x.InTrace, x.Passing)
	}
	for i := range out.Orders {
		o := &out.Orders[i]
		o.First = out.Events[2*i].Event
		if second := &out.Events[2*i+1]; !second.Passing {
			o.Second = second.Event
		}
	}
	for _, i := range e.Told {
		n, ok := numbers[i]
		if !ok { // a list of some would leave open of which
			out.Told = []int{}
			break
		}
		out.Told = append(out.Told, n)
	}
	out.Line = out.line()
	return &out
}

// Said returns Line of the view's explanation, or for a data race why nothing orders the two accesses; empty if neither is known.
func (v *View) Said() string {
	switch {
	case v.Why != nil:
		return v.Why.Line
	case v.Failure != nil:
		return v.Failure.Unordered
	}
	return ""
}

// WhyPlaces returns the places, each once, of events of the view's explanation.
func (v *View) WhyPlaces(events ...int) (places []int) {
	for _, i := range events {
		if p, ok := v.whyPlaces[i]; ok && p != 0 && !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places
}

// PassesIn reports whether the execution that does not fail can be one with so many events.
func (e *Explanation) PassesIn(events int) bool {
	for i := range e.Orders {
		if e.Orders[i].InPassing >= max(events, 1) {
			return false
		}
	}
	return true
}

// Numbered reports whether the explained trace has all events of the orderings that have happened.
func (e *Explanation) Numbered() bool {
	for i := range e.Events {
		if x := &e.Events[i]; !x.Passing && x.InTrace == nil {
			return false
		}
	}
	return true
}

// line is Line of an explanation in the numbers of the explained trace.
func (e *Explanation) line() string {
	if len(e.Orders) == 0 && e.Pattern == "" {
		return e.Reason.Says(e.Executions, e.Passed)
	}
	s := e.Short
	if s == "" && e.Reason != "" {
		return e.Reason.Says(e.Executions, e.Passed)
	}
	if s == "" {
		s, _, _ = strings.Cut(e.Text, ". ")
		s = strings.TrimSuffix(s, ".")
	}
	var events []string
	for _, n := range e.Told {
		events = append(events, wording.Thousands(n))
	}
	switch len(events) {
	case 0:
		return s
	case 1:
		return s + " [event " + events[0] + "]"
	}
	return s + " [events " + strings.Join(events[:len(events)-1], ", ") + " and " + events[len(events)-1] + "]"
}

// Save makes e, which is in the numbers of t, the explanation of t. A later heddle of the version given need not make the
// executions again for the same program. What more time might change is not saved.
func (e *Explanation) Save(t *trace.Trace, heddle string) {
	t.Explanation = nil
	if e.Cut {
		return
	}
	data, err := json.Marshal(savedExplanation{e, e.pointers})
	if err != nil {
		return // no explanation has anything that JSON lacks
	}
	t.SetExplanation(trace.Explanation{Version: explanationVersion, Heddle: heddle, BuildID: t.Header.BuildID, Data: data})
}

// Saved returns the explanation that a trace has, in its numbers; nil if it has none in a form that this heddle knows.
func Saved(t *trace.Trace) *Explanation {
	x := t.Explained()
	if x == nil || x.Version != explanationVersion {
		return nil
	}
	e := &Explanation{}
	saved := savedExplanation{Explanation: e}
	if json.Unmarshal(x.Data, &saved) != nil || !e.fits(len(t.Events)) {
		return nil
	}
	e.pointers = saved.Pointers
	return e
}

// savedExplanation is the form of an explanation in a trace.
type savedExplanation struct {
	*Explanation
	Pointers []symbol.Pointer `json:"pointers,omitempty"`
}

// pointersOf returns the pointers that the explanation of a trace knows.
func pointersOf(t *trace.Trace) []symbol.Pointer {
	if e := Saved(t); e != nil {
		return e.pointers
	}
	return nil
}

// SavedBy returns the explanation that a heddle of a version has saved in a trace, for the program that the trace is of; nil if it
// has none.
func SavedBy(t *trace.Trace, heddle string) *Explanation {
	if x := t.Explanation; x == nil || x.Heddle != heddle || x.BuildID != t.Header.BuildID {
		return nil
	}
	return Saved(t)
}

// fits reports whether the explanation can be one of a trace with so many events: files come from anywhere.
func (e *Explanation) fits(events int) bool {
	in := func(n int, passing bool) bool { return n >= -1 && (passing || n < events) }
	for i := range e.Steps {
		if !in(e.Steps[i].Event, e.Steps[i].Passing) {
			return false
		}
	}
	for i := range e.Events {
		if !in(e.Events[i].Event, e.Events[i].Passing) {
			return false
		}
	}
	for i := range e.Orders {
		o := &e.Orders[i]
		if !in(o.First, false) || !in(o.Second, false) || o.InPassing < 0 {
			return false
		}
	}
	return !e.Cut && len(e.Events) == 2*len(e.Orders) && !slices.ContainsFunc(e.Told, func(n int) bool { return n < 0 || n >= events })
}
