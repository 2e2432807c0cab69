package term

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// Render draws the view: a heading, a row for each event and context switch, how it
// ended, and what else there is to know. No line is wider than the options say. The error
// is the writer's.
func Render(w io.Writer, v *report.View, o Options) error {
	rows := v.Rows
	if o.Full {
		rows = v.Full()
	}
	head, tail := rows, []report.Row(nil)
	left := v.Left
	switch {
	case left != nil:
		head, tail = rows[:left.After], rows[left.After:]
	case len(rows) > LongTable && !o.Full:
		head, left, tail = rows[:TableHead], leftOut(rows[TableHead:len(rows)-TableTail]), rows[len(rows)-TableTail:]
		rows = slices.Concat(head, tail)
	}
	d := newDrawing(w, v, contentOf(v, rows, o.Full), o)
	d.heading()
	d.header()
	for _, l := range d.rows(head) {
		d.line(l)
	}
	if left != nil {
		d.print("")
		d.text(fmt.Sprintf("%s of %s are left out here: --full shows them", count(left.Events, "event"), count(left.Threads, "thread")), faint, "")
		d.print("")
	}
	for _, l := range d.rows(tail) {
		d.line(l)
	}
	d.ending()
	d.legend()
	return d.out.Flush()
}

// A table of more than LongTable rows is drawn as its first TableHead and last TableTail: what
// failed is at the end, and what a hundred thousand threads did before is not read.
const (
	LongTable = 3000
	TableHead = 200
	TableTail = 800
)

// leftOut describes rows that are not drawn.
func leftOut(rows []report.Row) *report.LeftOut {
	left, threads := &report.LeftOut{}, map[trace.ThreadID]bool{}
	for i := range rows {
		left.Events += rows[i].Events
		threads[rows[i].Thread] = true
	}
	left.Threads = len(threads)
	return left
}

type drawing struct {
	pen
	layout
	v      *report.View
	out    *bufio.Writer
	full   bool
	stacks bool
	blocks map[int]bool // heap blocks that were mentioned
}

func newDrawing(w io.Writer, v *report.View, c content, o Options) *drawing {
	return &drawing{
		pen: pen{o.Color, o.Unicode}, v: v, layout: newLayout(v.Events, o.Width, c),
		out: bufio.NewWriter(w), full: o.Full, stacks: o.Full || o.Stacks, blocks: map[int]bool{},
	}
}

// line is one line of the table, still without its margin.
type line struct {
	number string
	bars   []string // outermost first
	text   string   // painted, no wider than the room
}

func (d *drawing) line(l line) { d.print(d.withMargin(l)) }

// withMargin puts number and bars before a line's text.
func (d *drawing) withMargin(l line) string {
	s := pad(d.paint(l.number, faint), d.number)
	if d.layout.bars > 0 {
		s += pad(d.paint(strings.Join(l.bars, ""), faint), d.layout.bars)
	}
	return s + l.text
}

// print ends a line. Spaces at its end would be painted by some terminals.
func (d *drawing) print(s string) {
	d.out.WriteString(strings.TrimRight(s, " "))
	d.out.WriteByte('\n')
}

// heading prints what was run.
func (d *drawing) heading() {
	if len(d.v.Command) > 0 {
		d.text(shortCommand(d.v.Command), bold, "")
	}
	c := d.v.Cost
	s := fmt.Sprintf("%s, %s, %s", count(len(d.v.Columns), "thread"), count(d.v.Events, "event"), count(c.Switches, "context switch"))
	if c.Switches > 0 {
		s += " (" + count(c.Preemptions, "preemption") + ")"
	}
	n := report.Folded(d.v.Rows)
	if d.v.Left != nil {
		n += d.v.Left.Folded
	}
	if n > 0 && !d.full {
		s += fmt.Sprintf("; %d events are folded", n)
	}
	d.text(s, plain, "")
	if d.v.Fault != "" {
		d.text("fault: "+d.v.Fault, plain, "")
	}
	if len(d.v.Omit) > 0 {
		d.text("without "+strings.Join(d.v.Omit, ", "), plain, "")
	}
	if len(d.v.TryLock) > 0 {
		d.text("as if locked: "+strings.Join(d.v.TryLock, ", "), plain, "")
	}
	// A simplified trace's strategy repeats where it comes from. How a search found the schedule is for its tables.
	how := strings.TrimPrefix(d.v.Strategy, "simplified from ")
	imported := strings.HasPrefix(how, "imported from ")
	switch {
	case imported && d.v.Original != "":
		d.text("simplified from "+d.v.Original+", "+how, faint, "")
	case imported:
		d.text(how, faint, "")
	case d.v.Original != "":
		d.text("simplified from "+d.v.Original, faint, "")
	}
	d.print("")
}

func count(n int, what string) string { return strconv.Itoa(n) + " " + plural(n, what) }

func plural(n int, what string) string {
	switch {
	case n == 1:
		return what
	case strings.HasSuffix(what, "ch"):
		return what + "es"
	}
	return what + "s"
}

// text prints a paragraph across the whole width; lines after the first are indented.
func (d *drawing) text(s string, st style, indent string) {
	s = d.clean(s)
	const under = "  "
	for i, l := range d.pen.wrap(s, d.width-len(indent)-len(under), 12) {
		if i > 0 {
			l = under + l
		}
		d.print(indent + d.paint(l, st))
	}
}

// header names the columns.
func (d *drawing) header() {
	if d.lanes {
		d.laneHeader()
		return
	}
	for _, row := range []func(report.Column) string{
		func(c report.Column) string { return c.Label() },
		func(c report.Column) string {
			if c.Entry == 0 {
				return ""
			}
			return d.v.Places[c.Entry].Label
		},
	} {
		var s strings.Builder
		for i, c := range d.columns {
			s.WriteString(d.separator(i))
			s.WriteString(pad(d.paint(d.truncate(d.clean(row(c)), d.cell), threadStyle(i)), d.cell))
		}
		d.line(line{text: s.String()})
	}
	d.line(line{text: d.paint(strings.Repeat(d.sign("─"), d.room()), faint)})
}

// room is the width of everything right of the bars.
func (d *drawing) room() int { return d.width - d.number - d.layout.bars }

// separator stands left of column i.
func (d *drawing) separator(i int) string {
	if i == 0 {
		return ""
	}
	return d.paint(d.sign("│"), faint) + " "
}

// laneHeader lists the threads, those that run the same function together, and numbers
// the lanes.
func (d *drawing) laneHeader() {
	for i := 0; i < len(d.columns); {
		c, j := d.columns[i], i+1
		for j < len(d.columns) && d.columns[j].Name == c.Name && d.columns[j].Entry == c.Entry {
			j++
		}
		s := report.ThreadText(c.Thread)
		switch j - i {
		case 1:
		case 2:
			s += ", " + report.ThreadText(d.columns[j-1].Thread)
		default:
			s += " … " + report.ThreadText(d.columns[j-1].Thread)
		}
		s += " " + c.Name
		if c.Entry != 0 {
			s += " (" + d.v.Places[c.Entry].Label + ")"
		}
		d.text(s, plain, "")
		i = j
	}
	if d.strip > 0 {
		digits := len(strconv.Itoa(int(d.columns[len(d.columns)-1].Thread)))
		for k := range digits {
			var s strings.Builder
			for i, c := range d.columns {
				n := fmt.Sprintf("%*d", digits, c.Thread)
				s.WriteString(d.paint(n[k:k+1], threadStyle(i)))
			}
			d.line(line{text: s.String()})
		}
	}
	d.line(line{text: d.paint(strings.Repeat(d.sign("─"), d.room()), faint)})
}

// rows draws rows, without margin.
func (d *drawing) rows(rows []report.Row) (out []line) {
	for i := range rows {
		out = append(out, d.row(&rows[i])...)
	}
	return out
}

func (d *drawing) row(r *report.Row) []line {
	switch r.Kind {
	case report.SwitchRow:
		return d.switchRow(r)
	case report.FoldRow:
		return d.cellRow(r, "… "+count(r.Events, "event"), faint, 0)
	case report.LoopRow:
		return d.loop(r)
	}
	st := threadStyle(d.index[r.Thread])
	if r.Cell.Failed {
		st = alarm
	}
	return d.event(r, r.Cell.Text, st)
}

// event draws a row that has a cell.
func (d *drawing) event(r *report.Row, text string, st style) []line {
	if r.Cell.Block >= 0 {
		d.blocks[r.Cell.Block] = true
	}
	return d.cellRow(r, text, st, r.Cell.Place)
}

// loopText is the text of a loop of one event.
func loopText(r *report.Row) string {
	return r.Body[0].Cell.Text + "  ×" + strconv.Itoa(r.Times)
}

// loop draws one turn and the number of turns.
func (d *drawing) loop(r *report.Row) []line {
	if single(r) {
		in := &r.Body[0]
		return d.event(in, loopText(r), threadStyle(d.index[in.Thread]))
	}
	body := d.rows(r.Body)
	for i := range body {
		bar := "│"
		if i == len(body)-1 {
			bar = "╰"
		}
		body[i].bars = append([]string{d.sign(bar)}, body[i].bars...)
	}
	return append([]line{d.loopHead(r, "╭")}, body...)
}

// loopHead is the line above the turns of a loop, with a sign for its bar.
func (d *drawing) loopHead(r *report.Row, bar string) line {
	return line{bars: []string{d.sign(bar)}, text: d.strips(r.Event, -1) + d.paint(" "+strconv.Itoa(r.Times)+" times:", bold)}
}

// maxLines is the maximum number of lines for the text of one event.
const maxLines = 4

// cellRow draws text in the column of the row's thread and place beside or below it.
func (d *drawing) cellRow(r *report.Row, text string, st style, place int) []line {
	text = d.clean(text)
	var tag string
	cell := d.cell
	if d.lanes {
		tag = pad(report.ThreadText(r.Thread), d.tagWidth())
		cell -= d.tagWidth()
		if d.source > 0 {
			cell--
		}
	}
	texts := d.pen.wrap(text, cell, maxLines)
	styles := make([]style, len(texts))
	for i := range styles {
		styles[i] = st
	}
	var source string
	if place > 0 {
		if d.source > 0 {
			source = d.sourceText(place, d.source)
		} else {
			at := d.truncateLeft(d.clean(d.v.Places[place].Label), cell-2)
			last := texts[len(texts)-1]
			if d.lanes && width(last)+2+width(at) <= cell { // room beside it after all
				source = at
			} else {
				texts, styles = append(texts, "  "+at), append(styles, faint)
			}
		}
	}
	out := make([]line, len(texts))
	for i, t := range texts {
		switch {
		case !d.lanes:
			out[i].text = d.columnsWith(r.Thread, t, styles[i])
		case i == 0:
			out[i].text = d.strips(r.Event, r.Thread) + d.paint(tag, threadStyle(d.index[r.Thread])) + d.paint(t, styles[i])
		default:
			out[i].text = d.strips(r.Event, -1) + pad("", width(tag)) + d.paint(t, styles[i])
		}
	}
	out[0].number = strconv.Itoa(r.Event)
	if d.source > 0 {
		out[0].text = pad(out[0].text, d.room()-d.source) + d.paint(source, faint)
	} else if source != "" {
		out[len(out)-1].text += "  " + d.paint(source, faint)
	}
	return out
}

// minSnippet is the minimum width at which part of a source line is useful.
const minSnippet = 16

// sourceText is `file.c:12  counter++;` in w cells.
func (d *drawing) sourceText(place, w int) string {
	p := d.v.Places[place]
	at := d.truncateLeft(d.clean(p.Label), w)
	if p.Text == "" || w-width(at) < minSnippet {
		return at
	}
	return d.truncate(at+"  "+d.clean(p.Text), w)
}

// columnsWith returns a line with text in one thread's column.
func (d *drawing) columnsWith(t trace.ThreadID, text string, st style) string {
	var s strings.Builder
	for i, c := range d.columns {
		s.WriteString(d.separator(i))
		if c.Thread == t {
			s.WriteString(d.paint(text, st))
			s.WriteString(strings.Repeat(" ", max(0, d.cell-width(text))))
		} else {
			s.WriteString(strings.Repeat(" ", d.cell))
		}
	}
	return s.String()
}

// strips are the lanes at an event, with a mark for the thread that does it.
func (d *drawing) strips(event int, t trace.ThreadID) string {
	if d.strip == 0 {
		return ""
	}
	var s strings.Builder
	for i, c := range d.columns {
		switch {
		case c.Thread == t:
			s.WriteString(d.paint(d.sign("●"), threadStyle(i)))
		case c.First >= 0 && c.First <= event && event <= c.Last:
			s.WriteString(d.paint(d.sign("│"), faint))
		default:
			s.WriteByte(' ')
		}
	}
	return s.String() + " "
}

// switchRow draws a context switch across the columns.
func (d *drawing) switchRow(r *report.Row) []line {
	sw := r.Switch
	text := sw.Text
	if sw.Next != 0 {
		text += " (" + d.v.Places[sw.Next].Label + ")"
	}
	text += " → " + report.ThreadText(sw.To)
	st := faint
	if sw.Preemptive {
		st = alarm
	}
	lead := d.sign("── ")
	strip := d.strips(r.Event, -1)
	room := d.room() - width(strip)
	texts := d.pen.wrap(d.clean(text), room-width(lead), maxLines)
	out := make([]line, len(texts))
	for i, t := range texts {
		s := pad("", width(lead)) + t
		if i == 0 {
			s = lead + t
		}
		if fill := room - width(s) - 1; i == len(texts)-1 && fill > 0 {
			s += " " + strings.Repeat(d.sign("─"), fill)
		}
		out[i].text = strip + d.paint(s, st)
	}
	return out
}
