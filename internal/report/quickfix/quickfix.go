// Package quickfix writes an execution as lines like those of a compiler, FILE:LINE:COLUMN: KIND: MESSAGE,
// through which editors step: the failure as an error; its call stack, the other threads involved, and the
// steps of the execution as notes. Columns are not known and always 1.
package quickfix

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
)

// Options configure Render.
type Options struct {
	// Dir is the working directory of the reader: files below it are named relative to it. Empty for none.
	Dir  string
	Full bool // list every event instead of folding
}

// Render writes the lines. The error is the writer's.
func Render(w io.Writer, v *report.View, o Options) error {
	q := &list{out: bufio.NewWriter(w), v: v, dir: o.Dir}
	if f := v.Failure; f != nil {
		q.failure(f)
	}
	q.why(v.Why)
	rows := v.Rows
	if o.Full {
		rows = v.Full()
	}
	q.steps(rows)
	return q.out.Flush()
}

type list struct {
	out *bufio.Writer
	v   *report.View
	dir string
}

// Kinds of lines, in the words of compilers.
const (
	failed = "error"
	detail = "note"
)

// line writes one line. A place without a source file has a line without a position if always is set, and
// none otherwise.
func (q *list) line(place int, kind, message string, always bool) {
	p := &q.v.Places[place]
	switch {
	case p.File != "":
		fmt.Fprintf(q.out, "%s:%d:1: %s: %s\n", wording.Line(q.file(p.File)), max(p.Line, 1), kind, wording.Line(message))
	case always:
		fmt.Fprintf(q.out, "%s: %s\n", kind, wording.Line(message))
	}
}

// file is the name of a file for the reader.
func (q *list) file(name string) string {
	if q.dir != "" {
		if rel, err := filepath.Rel(q.dir, name); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return name
}

// failure writes the failure with its call stack and the other threads.
func (q *list) failure(f *report.Failure) {
	at := f.Place
	for _, p := range f.Stack {
		if q.v.Places[at].File == "" {
			at = p
		}
	}
	title := f.Title
	if f.Object != "" {
		title += ": " + f.Object
	}
	q.line(at, failed, title, true)
	if len(f.Waits) == 0 && len(f.Sides) == 0 {
		q.stack(f.Stack, at)
	}
	for _, s := range f.Sides {
		q.line(s.Place, detail, s.Text, true)
		q.stack(s.Stack, s.Place)
	}
	for _, w := range f.Waits {
		q.line(w.Place, detail, w.Text, true)
		q.stack(w.Stack, w.Place)
		for _, h := range w.For {
			if h.Place != 0 {
				q.line(h.Place, detail, fmt.Sprintf("%s acquired %s here", report.ThreadText(h.Thread), q.object(f, w.Object)), false)
			}
		}
		if w.Created != 0 {
			q.line(w.Created, detail, report.ThreadText(w.Thread)+" was started here", false)
		}
	}
}

// why writes the explanation at the place of each of the events that it speaks of, or without a place.
func (q *list) why(x *report.Explanation) {
	if x == nil || x.Line == "" {
		return
	}
	places := q.v.WhyPlaces(x.Told...)
	if len(places) == 0 {
		places = []int{0}
	}
	for _, p := range places {
		q.line(p, detail, "why: "+x.Line, true)
	}
}

func (q *list) object(f *report.Failure, i int) string {
	if i < 0 {
		return "what it waits for"
	}
	return f.Objects[i]
}

// stack writes the callers of a place.
func (q *list) stack(stack []int, place int) {
	for _, p := range stack {
		if p != place {
			q.line(p, detail, "called from "+cmp.Or(q.v.Places[p].Func, q.v.Places[p].Label), false)
		}
	}
}

// steps writes the events and context switches that have a source line.
func (q *list) steps(rows []report.Row) {
	for i := range rows {
		switch r := &rows[i]; r.Kind {
		case report.EventRow:
			q.line(r.Cell.Place, detail, fmt.Sprintf("event %d, %s: %s", r.Event, report.ThreadText(r.Thread), r.Cell.Text), false)
		case report.SwitchRow:
			q.line(r.Switch.Next, detail, r.Switch.Text+", "+report.ThreadText(r.Switch.To)+" runs", false)
		case report.LoopRow:
			q.line(q.first(r.Body), detail, wording.Count(r.Times, "time")+":", false)
			q.steps(r.Body)
		}
	}
}

// first is the place of the first event.
func (q *list) first(rows []report.Row) int {
	for i := range rows {
		if c := rows[i].Cell; c != nil {
			return c.Place
		}
	}
	return 0
}
