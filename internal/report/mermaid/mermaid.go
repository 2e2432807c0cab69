// Package mermaid writes an execution as a sequence diagram of Mermaid, which GitHub, GitLab and many
// editors draw in Markdown: a participant for each thread, a note for each step, and an arrow for each
// context switch and for each thread that another one creates, joins or wakes.
package mermaid

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// MaxBytes is the longest diagram that Render writes. Mermaid draws no text of more than 50,000
// characters (its maxTextSize), and escapes count as several.
const MaxBytes = 48_000

// longestText is the longest text of a note, in bytes; participantBytes is for the declarations.
const (
	longestText      = 120
	participantBytes = 16_000
)

// Options configure Render.
type Options struct {
	Full bool // show every event instead of folding
}

// Render writes the diagram. It returns an error if the execution has too many threads for a diagram, or
// the writer's.
func Render(w io.Writer, v *report.View, o Options) error {
	d := &diagram{v: v, parent: map[trace.ThreadID]trace.ThreadID{}}
	for _, c := range v.Columns {
		d.parent[c.Thread] = c.Parent
	}
	head := "sequenceDiagram\n"
	for _, c := range v.Columns {
		head += "  participant " + report.ThreadText(c.Thread) + " as " + text(c.Label()) + "\n"
	}
	if len(head) > participantBytes {
		return fmt.Errorf("the execution has %s, too many for a sequence diagram: simplify the trace, or use --markdown", wording.Count(len(v.Columns), "thread"))
	}
	rows := v.Rows
	if o.Full {
		rows = v.Full()
	}
	tail := d.failure()
	type block struct {
		text   string
		events int
	}
	var blocks []block
	for i := range rows {
		blocks = append(blocks, block{d.row(&rows[i], "  "), rows[i].Events})
	}
	first, left, last := report.Fit(blocks, MaxBytes-len(head)-len(tail)-longestText, func(b block) int { return len(b.text) })
	out := bufio.NewWriter(w)
	out.WriteString(head)
	for _, b := range first {
		out.WriteString(b.text)
	}
	if len(left) > 0 {
		events := 0
		for _, b := range left {
			events += b.events
		}
		fmt.Fprintf(out, "  Note over %s: … %s left out\n", d.all(), wording.Count(events, "event"))
	}
	for _, b := range last {
		out.WriteString(b.text)
	}
	out.WriteString(tail)
	return out.Flush()
}

type diagram struct {
	v      *report.View
	parent map[trace.ThreadID]trace.ThreadID // of the threads that have a participant
}

// all is the range of all participants.
func (d *diagram) all() string {
	first, last := d.v.Columns[0].Thread, d.v.Columns[len(d.v.Columns)-1].Thread
	if first == last {
		return report.ThreadText(first)
	}
	return report.ThreadText(first) + "," + report.ThreadText(last)
}

// row returns the statements of a row. A loop is one block, so that cutting the diagram between rows
// leaves it well formed.
func (d *diagram) row(r *report.Row, indent string) string {
	switch r.Kind {
	case report.SwitchRow:
		arrow := "--)"
		if r.Switch.Reason == report.Preempted {
			arrow = "-x"
		}
		return indent + report.ThreadText(r.Switch.From) + arrow + report.ThreadText(r.Switch.To) + ": " + text(r.Switch.Text) + "\n"
	case report.FoldRow:
		return indent + "Note over " + report.ThreadText(r.Thread) + ": … " + wording.Count(r.Events, "event") + "\n"
	case report.LoopRow:
		var b strings.Builder
		b.WriteString(indent + "loop " + wording.Count(r.Times, "time") + "\n")
		for i := range r.Body {
			b.WriteString(d.row(&r.Body[i], indent+"  "))
		}
		return b.String() + indent + "end\n"
	}
	label := r.Cell.Text
	if p := d.v.Places[r.Cell.Place]; r.Cell.Place != 0 {
		label += " (" + p.Label + ")"
	}
	if r.Cell.Failed {
		label = "✗ " + label
	}
	from, to, ok := d.arrow(r)
	if !ok {
		return indent + "Note over " + report.ThreadText(r.Thread) + ": " + text(label) + "\n"
	}
	return indent + report.ThreadText(from) + "->>" + report.ThreadText(to) + ": " + text(label) + "\n"
}

var threadName = regexp.MustCompile(`^(?:wakes )?T(\d+)$`)

// arrow returns the threads of a step that concerns another thread: from the one that acts to the one
// that it creates, wakes, signals or cancels, and from a joined thread to the one that joins it.
func (d *diagram) arrow(r *report.Row) (from, to trace.ThreadID, ok bool) {
	op, _ := trace.ParseOp(r.Cell.Op)
	does, name := ops.Does(op), r.Cell.Value
	switch {
	case does == ops.Create && name == "", does == ops.Join && name == "", does == ops.Cancel && name == "":
		name = r.Cell.Object
	case does == ops.Create, does == ops.Send, op.Class() == trace.ClassPost:
	default:
		return 0, 0, false
	}
	m := threadName.FindStringSubmatch(name)
	if m == nil {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	other := trace.ThreadID(n)
	parent, known := d.parent[other]
	if err != nil || !known || other == r.Thread || does == ops.Create && parent != r.Thread {
		return 0, 0, false
	}
	if does == ops.Join {
		return other, r.Thread, true
	}
	return r.Thread, other, true
}

// failure returns the statements that say how the execution failed.
func (d *diagram) failure() string {
	f := d.v.Failure
	if f == nil {
		return "  Note over " + d.all() + ": " + text(d.v.Ending) + "\n"
	}
	over := d.all()
	if _, known := d.parent[f.Thread]; known && len(f.Waits) == 0 && len(f.Sides) == 0 {
		over = report.ThreadText(f.Thread)
	}
	s := "  Note over " + over + ": ✗ " + text(f.Title) + "\n"
	for _, w := range f.Waits[:f.Ring] {
		if _, known := d.parent[w.Thread]; known {
			s += "  Note over " + report.ThreadText(w.Thread) + ": " + text(w.Text) + "\n"
		}
	}
	return s
}

// text returns text of the program as Mermaid takes it: characters that mean anything to its parser, to
// its directives, to HTML or to KaTeX become entity codes.
func text(s string) string {
	s = wording.Line(s)
	if len(s) > longestText {
		n := longestText
		for !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case strings.ContainsRune("#;<>&\"'%$\\{}`@+", r), r == ':' && i < len("nowrap:"):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	if b.Len() == 0 {
		return "?"
	}
	return b.String()
}
