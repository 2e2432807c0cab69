// Package markdown writes an execution as a report in GitHub Flavored Markdown, to be pasted into an
// issue: the finding, how to replay it, the steps, the call stacks and the output. Text of the program
// is always in a code span or a code block, so it cannot become markup, a link or a mention.
package markdown

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Options configure Render.
type Options struct {
	Trace    string // name of the trace file, for the command that replays it
	Schedule string // schedule string of the execution; empty for none
	Full     bool   // show every event instead of folding
}

// MaxBytes is the largest report that Render writes: GitHub takes up to 65,536 characters for an issue.
const MaxBytes = 65_000

// Shares of MaxBytes for the parts of unlimited length. The rest is for the others, which are cut at
// longestText and by count.
const (
	tableBytes  = 30_000
	stackBytes  = 14_000
	outputBytes = 6_000
	scheduleMax = 4_000
	longestText = 400
	notesShown  = 5
)

// threadColumns is the maximum number of threads that get a column each.
const threadColumns = 4

// Render writes the report. The error is the writer's.
func Render(w io.Writer, v *report.View, o Options) error {
	d := &document{out: bufio.NewWriter(w), v: v}
	title := v.Ending
	if v.Failure != nil {
		title = v.Failure.Title
	}
	d.printf("## %s\n\n", span(title))
	d.summary()
	d.replay(o)
	rows := v.Rows
	if o.Full {
		rows = v.Full()
	}
	d.steps(rows)
	d.stacks()
	d.blocks()
	if text := strings.TrimRight(v.Output, "\n"); text != "" {
		d.printf("### Output\n\n")
		d.fence("text", strings.Split(text, "\n"), outputBytes)
	}
	for i, n := range v.Notes {
		if i == 0 {
			d.printf("### Notes\n\n")
		}
		if i == notesShown {
			d.printf("- and %s\n", wording.Count(len(v.Notes)-i, "more note"))
			break
		}
		d.printf("- %s\n", span(n))
	}
	return d.out.Flush()
}

type document struct {
	out *bufio.Writer
	v   *report.View
}

func (d *document) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }

// summary says what was run, and how large the execution is.
func (d *document) summary() {
	v, c := d.v, d.v.Cost
	if len(v.Command) > 0 {
		d.printf("Program: %s\n\n", span(wording.QuotedWords(v.Command)))
	}
	d.printf("%s, %s, %s (%s)", wording.Count(len(v.Columns), "thread"), wording.Count(v.Events, "event"),
		wording.Count(c.Switches, "context switch"), wording.Count(c.Preemptions, "preemption"))
	if len(v.Omit) > 0 {
		d.printf(", without %s", span(strings.Join(v.Omit, ", ")))
	}
	if len(v.TryLock) > 0 {
		d.printf(", as if locked: %s", span(strings.Join(v.TryLock, ", ")))
	}
	d.printf(".\n\n")
	if f := v.Failure; f != nil && f.Object != "" {
		d.printf("Concerns: %s\n\n", span(f.Object))
	}
	if said := v.Said(); said != "" {
		d.printf("Why: %s\n\n", span(said))
	}
}

// replay says how to replay the execution, from the file and from the schedule alone.
func (d *document) replay(o Options) {
	if o.Trace != "" {
		d.printf("### Replay\n\n")
		d.fence("sh", []string{"heddle replay " + wording.Quoted(o.Trace)}, outputBytes)
	}
	if o.Schedule != "" && len(o.Schedule) <= scheduleMax {
		d.printf("Without the file, `heddle replay --schedule` follows this schedule in the same build of the program:\n\n")
		d.fence("text", []string{o.Schedule}, outputBytes)
	}
}

// step is a line of the table.
type step struct {
	number string
	thread trace.ThreadID
	text   string // Markdown
	place  int
	events int // that it represents, in all turns of its loop
}

// flatten returns the lines of rows, in loops whose turns number times.
func flatten(out []step, rows []report.Row, turns []int) []step {
	times, events := "", 1
	for _, n := range turns {
		times += " ×" + wording.Thousands(n)
		events *= n
	}
	for i := range rows {
		r := &rows[i]
		number := strconv.Itoa(r.Event) + times
		switch r.Kind {
		case report.SwitchRow:
			out = append(out, step{"", r.Switch.From, "⇄ " + cell(r.Switch.Text), r.Switch.Next, 0})
		case report.FoldRow:
			out = append(out, step{number, r.Thread, "… " + wording.Count(r.Events, "event"), 0, r.Events * events})
		case report.LoopRow:
			if len(r.Body) > 1 {
				out = append(out, step{"", r.Thread, "↻ " + wording.Count(r.Times, "time") + ":", 0, 0})
			}
			out = flatten(out, r.Body, append(turns[:len(turns):len(turns)], r.Times))
		default:
			text := cell(r.Cell.Text)
			if r.Cell.Failed {
				text = "**✗** " + text
			}
			out = append(out, step{number, r.Thread, text, r.Cell.Place, events})
		}
	}
	return out
}

// steps prints the table of the steps.
func (d *document) steps(rows []report.Row) {
	d.printf("### Steps\n\n")
	head, left, tail := report.Fit(flatten(nil, rows, nil), tableBytes, func(s step) int { return len(d.line(s)) })
	d.table(head)
	if len(left) > 0 {
		events := 0
		for _, s := range left {
			events += s.events
		}
		d.printf("%s left out.\n\n", wording.Count(events, "event"))
		d.table(tail)
	}
}

// wide reports whether the table has a column for each thread.
func (d *document) wide() bool { return len(d.v.Columns) <= threadColumns }

func (d *document) table(steps []step) {
	columns := []string{"event"}
	if d.wide() {
		for _, c := range d.v.Columns {
			columns = append(columns, cell(c.Label()))
		}
	} else {
		columns = append(columns, "thread", "step")
	}
	columns = append(columns, "source")
	d.printf("| %s |\n|--:|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)-1))
	for _, s := range steps {
		d.out.WriteString(d.line(s))
	}
	d.printf("\n")
}

func (d *document) line(s step) string {
	cells := []string{s.number}
	if d.wide() {
		for _, c := range d.v.Columns {
			if c.Thread == s.thread {
				cells = append(cells, s.text)
			} else {
				cells = append(cells, "")
			}
		}
	} else {
		cells = append(cells, report.ThreadText(s.thread), s.text)
	}
	return "| " + strings.Join(append(cells, d.source(s.place)), " | ") + " |\n"
}

// source is a place and its line of source, in a cell.
func (d *document) source(place int) string {
	if place == 0 {
		return ""
	}
	p := d.v.Places[place]
	s := cell(p.Label)
	if p.Text != "" {
		s += " " + cell(p.Text)
	}
	return s
}

// stacks prints the call stack of the failure, of both accesses of a race, and of waiting threads.
func (d *document) stacks() {
	f := d.v.Failure
	if f == nil {
		return
	}
	var lines []string
	add := func(head string, stack []int) {
		lines = append(lines, head)
		for _, n := range stack {
			lines = append(lines, "    "+d.v.Places[n].Frame())
		}
	}
	at := func(place int) string {
		if place == 0 {
			return ""
		}
		return " at " + d.v.Places[place].Label
	}
	for i, w := range f.Waits {
		if i == f.Ring && f.Ring > 0 {
			lines = append(lines, "Besides:")
		}
		add(w.Sentence(d.v.Places), w.Stack)
		if w.Created != 0 {
			lines = append(lines, "  started by "+report.ThreadText(w.Creator)+at(w.Created))
		}
		for _, p := range w.Partners {
			lines = append(lines, "  "+p)
		}
	}
	for _, s := range f.Sides {
		head := s.Text + at(s.Place)
		if s.Event >= 0 {
			head += fmt.Sprintf(" (event %d)", s.Event)
		}
		add(head, s.Stack)
	}
	if len(f.Waits) == 0 && len(f.Sides) == 0 && len(f.Stack) > 0 {
		add(report.ThreadText(f.Thread), f.Stack)
	}
	if len(lines) > 0 {
		d.printf("### Call stacks\n\n")
		d.fence("text", lines, stackBytes)
	}
}

// blocksShown is how many heap blocks are listed.
const blocksShown = 20

// blocks lists the heap blocks that the steps mention.
func (d *document) blocks() {
	for i, b := range d.v.Blocks {
		if i == 0 {
			d.printf("### Heap blocks\n\n")
		}
		if i == blocksShown {
			d.printf("- and %s\n", wording.Count(len(d.v.Blocks)-i, "more block"))
			break
		}
		d.printf("- %s: %s, by %s\n", span(b.Name), span(b.Detail), report.ThreadText(b.Thread))
	}
	if len(d.v.Blocks) > 0 {
		d.printf("\n")
	}
}

// fence prints lines as a code block, at most budget bytes of them.
func (d *document) fence(language string, lines []string, budget int) {
	for i := range lines {
		lines[i] = wording.Line(lines[i])
		if language != "sh" && len(lines[i]) < scheduleMax {
			lines[i] = short(lines[i])
		}
	}
	head, left, tail := report.Fit(lines, budget, func(s string) int { return len(s) + 1 })
	if len(left) > 0 {
		head = append(head[:len(head):len(head)], "… "+wording.Count(len(left), "line"))
	}
	lines = append(head[:len(head):len(head)], tail...)
	mark := strings.Repeat("`", max(3, longestRun(strings.Join(lines, "\n"))+1))
	d.printf("%s%s\n%s\n%s\n\n", mark, language, strings.Join(lines, "\n"), mark)
}
