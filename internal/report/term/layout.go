package term

import (
	"strconv"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// layout is how the width is shared out. A line is
//
//	number  bars  cells  source
//
// where cells are the columns of the threads, or lanes and one text for all.
type layout struct {
	width   int
	number  int // width of event numbers
	bars    int // width of the bars of loops
	columns []report.Column
	index   map[trace.ThreadID]int // into columns
	lanes   bool                   // threads are lanes, or only numbers
	strip   int                    // width of the lanes, 0 if there are too many threads
	cell    int                    // width of a thread's column, or of the text beside the lanes
	source  int                    // width of the source column, 0: below each event
}

const (
	gap        = 2  // between columns of threads: a line and a space
	minCell    = 15 // narrowest column of a thread
	goodCell   = 18 // narrowest beside positions
	easyCell   = 22 // narrowest beside source lines
	maxCell    = 44
	goodSource = 32 // narrowest column of positions and source lines
	maxLabel   = 24 // widest column of positions alone
	minLabel   = 14 // narrowest, where file names are cut
	minText    = 24 // narrowest text beside lanes
)

// content is what a layout makes room for.
type content struct {
	columns     []report.Column
	depth       int // how many loops with more than one row stand in one another
	text, label int // widths of the longest text of an event and of the longest position
}

// contentOf measures rows, which are at the top level.
func contentOf(v *report.View, rows []report.Row, full bool) (c content) {
	for _, column := range v.Columns {
		if column.Shown > 0 || full {
			c.columns = append(c.columns, column)
		}
	}
	c.rows(v, rows, 0)
	return c
}

// rows measures rows inside of some loops.
func (c *content) rows(v *report.View, rows []report.Row, loops int) {
	for i := range rows {
		c.row(v, &rows[i], loops)
	}
}

func (c *content) row(v *report.View, r *report.Row, loops int) {
	c.depth = max(c.depth, loops)
	if r.Kind == report.LoopRow {
		if single(r) {
			c.text = max(c.text, width(loopText(r)))
		} else {
			loops++
		}
	}
	if r.Cell != nil {
		c.text = max(c.text, width(r.Cell.Text))
		c.label = max(c.label, width(v.Places[r.Cell.Place].Label))
	}
	c.rows(v, r.Body, loops)
}

// newLayout shares out lines of the width for the rows of a view with that many events.
func newLayout(events, lineWidth int, c content) layout {
	l := layout{width: max(lineWidth, MinWidth), columns: c.columns, index: map[trace.ThreadID]int{}}
	for i, column := range c.columns {
		l.index[column.Thread] = i
	}
	l.number = len(strconv.Itoa(max(events-1, 0))) + 1
	if c.depth > 0 {
		l.bars = c.depth + 1
	}
	room := l.width - l.number - l.bars
	n := max(len(l.columns), 1)
	want := min(max(c.text, goodCell), maxCell)
	label := min(c.label, maxLabel)
	// The room for a cell beside a source column of some width.
	each := func(source int) int {
		if source > 0 {
			source++ // a space before it
		}
		return (room - source - (n-1)*gap) / n
	}

	beside := true
	switch {
	case each(goodSource) >= min(want, easyCell):
		l.cell = min(want, each(goodSource))
	case each(label) >= goodCell:
		l.cell = min(want, each(label))
	case each(minLabel) >= goodCell:
		l.cell = min(want, each(minLabel))
	case each(0) >= minCell:
		l.cell, beside = each(0), false
	default:
		l.useLanes(n, room, want)
		return l
	}
	if beside {
		l.source = room - n*l.cell - (n-1)*gap - 1
	}
	return l
}

// useLanes lays out lanes with one text for all threads.
func (l *layout) useLanes(n, room, want int) {
	l.lanes = true
	tag := l.tagWidth()
	if n+1+tag+minText <= room {
		l.strip = n + 1
	}
	l.cell = room - l.strip
	if text := l.cell - tag; text >= goodCell+1+goodSource {
		cell := min(want, text-goodSource-1)
		l.source = text - cell - 1
		l.cell = tag + cell + 1
	}
}

// tagWidth is the width of `T12 `.
func (l *layout) tagWidth() int {
	return len(report.ThreadText(l.columns[len(l.columns)-1].Thread)) + 1
}

// single reports whether a loop is one event again and again, which needs no bar.
func single(r *report.Row) bool { return len(r.Body) == 1 && r.Body[0].Kind == report.EventRow }
