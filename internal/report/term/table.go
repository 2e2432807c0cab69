package term

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// TableRow is a row of a Table: one of a view's, of any level.
type TableRow struct {
	*report.Row
	// Loops is how many unfolded loops the row is in.
	Loops int
	// Open says that the rows of a loop or fold follow, so only its heading is drawn.
	Open bool
}

// Table draws single rows, for a reader who moves through them and unfolds them. Its lines are
// those of Render.
type Table struct {
	d   *drawing
	out bytes.Buffer
}

// NewTable returns a table laid out for rows. Threads without rows have no column.
func NewTable(v *report.View, rows []TableRow, o Options) *Table {
	t := new(Table)
	var c content
	seen := map[trace.ThreadID]bool{}
	for _, r := range rows {
		c.row(v, r.Row, r.Loops)
		seen[r.Thread] = true
	}
	for _, column := range v.Columns {
		if column.Shown > 0 || seen[column.Thread] {
			c.columns = append(c.columns, column)
		}
	}
	t.d = newDrawing(&t.out, v, c, o)
	for _, r := range rows {
		if r.Cell != nil && r.Cell.Block >= 0 {
			t.d.blocks[r.Cell.Block] = true
		}
	}
	return t
}

// Clean returns s in one line of characters that the terminal can show.
func (t *Table) Clean(s string) string { return t.d.clean(s) }

// Title returns the lines above the table: what was run, and the size of the execution.
func (t *Table) Title() []string { return t.printed(t.d.heading) }

// Header returns the lines with the names of the threads.
func (t *Table) Header() []string { return t.printed(t.d.header) }

// Ending returns the lines below the table: how the execution ended, and what else there is to know.
func (t *Table) Ending() []string {
	return t.printed(func() {
		t.d.ending()
		t.d.legend()
	})
}

// Lines returns the lines of a row, painted with the sequences of ECMA-48 if the options have colour.
func (t *Table) Lines(r TableRow) (out []string) {
	d := t.d
	var lines []line
	switch {
	case !r.Open:
		lines = d.row(r.Row)
	case r.Kind == report.LoopRow && single(r.Row):
		lines = d.cellRow(r.Row, count(r.Times, "time")+": "+r.Body[0].Cell.Brief, bold, 0)
	case r.Kind == report.LoopRow:
		lines = []line{d.loopHead(r.Row, "╭")}
	default:
		lines = d.cellRow(r.Row, count(r.Events, "event")+":", bold, 0)
	}
	around := make([]string, r.Loops)
	for i := range around {
		around[i] = d.sign("│")
	}
	for _, l := range lines {
		l.bars = append(around[:len(around):len(around)], l.bars...)
		out = append(out, strings.TrimRight(d.withMargin(l), " "))
	}
	return out
}

// printed returns what a part of the drawing prints, as lines.
func (t *Table) printed(part func()) []string {
	t.out.Reset()
	t.d.out = bufio.NewWriter(&t.out)
	part()
	t.d.out.Flush()
	return strings.Split(strings.TrimSuffix(t.out.String(), "\n"), "\n")
}
