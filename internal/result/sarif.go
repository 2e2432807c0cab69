package result

import (
	"cmp"
	"fmt"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/sarif"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// flowSteps is the maximum number of steps in the code flow of a result: GitHub takes 10,000 for all results
// of a run, and shows 1,000 of one.
const flowSteps = 400

// locate sets the places of a result: that of the failure, or the innermost one on its stack that has a
// source file; the call stacks of the threads involved; what other threads did or wait for; and the steps of
// the execution, as a code flow.
func locate(r *sarif.Result, v *report.View) {
	x := v.Failure
	if x == nil {
		return
	}
	at := func(place int, message string) sarif.Place {
		p := &v.Places[place]
		return sarif.Place{Func: cmp.Or(p.Func, p.Label), File: p.File, Line: p.Line, Message: message}
	}
	for _, p := range append([]int{x.Place}, x.Stack...) {
		if v.Places[p].File != "" {
			r.Where = at(p, r.Where.Message)
			break
		}
	}
	stack := func(message string, places []int) {
		if len(places) == 0 {
			return
		}
		s := sarif.Stack{Message: message}
		for _, p := range places {
			s.Frames = append(s.Frames, at(p, ""))
		}
		r.Stacks = append(r.Stacks, s)
	}
	if len(x.Sides) == 0 { // the stack of a race is that of its second access
		stack(x.Title, x.Stack)
	}
	for _, s := range x.Sides {
		r.Related = append(r.Related, at(s.Place, s.Text))
		stack(s.Text, s.Stack)
	}
	for _, t := range x.Waits {
		r.Related = append(r.Related, at(t.Place, t.Text))
		stack(t.Text, t.Stack)
	}
	if w := v.Why; w != nil {
		for i := range w.Events {
			x := &w.Events[i]
			if x.Passing || x.Event < 0 || x.Waiting { // an execution that does not fail has the event, or none; the waits have places above
				continue
			}
			for _, p := range v.WhyPlaces(x.Event) {
				r.Related = append(r.Related, at(p, fmt.Sprintf("event %s: %s's %s (ordering %d)", wording.Thousands(x.Event), x.Thread, x.Operation, i/2+1)))
			}
		}
	}
	r.Flows = flows(v)
}

// flows returns the steps of each thread that have a source line.
func flows(v *report.View) []sarif.Flow {
	var steps []*report.Row
	var visit func(rows []report.Row)
	visit = func(rows []report.Row) {
		for i := range rows {
			switch r := &rows[i]; r.Kind {
			case report.EventRow:
				if p := &v.Places[r.Cell.Place]; p.File != "" && p.Line > 0 {
					steps = append(steps, r)
				}
			case report.LoopRow:
				visit(r.Body)
			}
		}
	}
	visit(v.Rows)
	head, _, tail := report.Fit(steps, flowSteps, func(*report.Row) int { return 1 })
	threads := map[trace.ThreadID]*sarif.Flow{}
	for _, list := range [][]*report.Row{head, tail} {
		for _, r := range list {
			f := threads[r.Thread]
			if f == nil {
				f = &sarif.Flow{Thread: report.ThreadText(r.Thread)}
				threads[r.Thread] = f
			}
			p := &v.Places[r.Cell.Place]
			s := sarif.Step{Place: sarif.Place{Func: cmp.Or(p.Func, p.Label), File: p.File, Line: p.Line, Message: r.Cell.Text}, Order: r.Event, Importance: sarif.Unimportant}
			switch {
			case r.Cell.Failed:
				s.Importance = sarif.Essential
			case r.Cell.Shared:
				s.Importance = sarif.Important
			}
			f.Steps = append(f.Steps, s)
		}
	}
	var out []sarif.Flow
	for _, c := range v.Columns {
		if f := threads[c.Thread]; f != nil {
			f.Message = c.Label()
			out = append(out, *f)
		}
	}
	return out
}
