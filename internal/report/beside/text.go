package beside

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/wording"
)

// Lines is how many rows a table has by default, so that all fits on a screen.
const Lines = 26

// Narrow is the width below which the table has no positions.
const Narrow = 100

// Usual is the width where nothing is known of a terminal.
const Usual = 120

// Print writes the comparison as text, in lines of a width where the table allows it.
func (c *Comparison) Print(w io.Writer, width int) {
	if c.Why != "" {
		fmt.Fprintf(w, "why:     %s\n", c.Why)
	}
	fmt.Fprintf(w, "fails:   %s: %s\n", c.Failing.Trace, wording.Line(c.Failing.Ending))
	nearest := ""
	if !c.Turned && !c.Given {
		nearest = " (an execution near it; the ordering that decides is not known)"
	}
	fmt.Fprintf(w, "passes:  %s: %s%s\n", c.Passing.Trace, wording.Line(c.Passing.Ending), nearest)
	fmt.Fprintf(w, "order:   %s\n", c.orderText())
	fmt.Fprintf(w, "value:   %s\n", c.valueText())
	for i, s := range c.Stops {
		label := "failure:"
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(w, "%-8s %s\n", label, s.text())
	}
	fmt.Fprintln(w)
	c.table(w, width)
	fmt.Fprintf(w, "\nreplay:  %s; %s\n", c.Failing.Replay, c.Passing.Replay)
}

func (c *Comparison) orderText() string {
	same := "from the beginning"
	if c.Same > 0 {
		same = "after " + wording.Count(c.Same, "equal event")
	}
	f, p := c.Order.Failing, c.Order.Passing
	switch {
	case f == nil && p == nil:
		return "all threads do the same in the same order"
	case f == nil:
		return fmt.Sprintf("%s, the failing execution has ended; the passing one goes on: %s", same, p.sentence())
	case p == nil:
		return fmt.Sprintf("%s, the passing execution has ended; the failing one goes on: %s", same, f.sentence())
	}
	return fmt.Sprintf("%s, %s comes next; in the passing execution, %s", same, f.sentence(), p.sentence())
}

func (c *Comparison) valueText() string {
	v := c.Value
	if v == nil {
		return "no variable is known to have another value where both executions read it"
	}
	s := fmt.Sprintf("%s%s", v.Failing.sentence(), wroteText(v.Wrote.Failing))
	return fmt.Sprintf("%s; in the passing execution, %s%s", s, v.Passing.sentence(), wroteText(v.Wrote.Passing))
}

func wroteText(e *Event) string {
	if e == nil {
		return ""
	}
	return ", after " + e.sentence()
}

func (s *Stop) text() string {
	if s.Passing == nil {
		return fmt.Sprintf("%s; in the passing execution, %s does nothing more there", wording.Line(s.Failing), s.Thread)
	}
	return fmt.Sprintf("%s; in the passing execution, %s", wording.Line(s.Failing), s.Passing.sentence())
}

// sentence is the event in a sentence: `T1 read counter → 1 (event 5)`.
func (e *Event) sentence() string {
	s := e.Thread + " " + wording.Line(e.Text)
	if e.Where != "" {
		s += " at " + wording.Line(e.Where)
	}
	if e.Event >= 0 {
		s += " (event " + wording.Thousands(e.Event) + ")"
	}
	return s
}

// cell is one side of a row.
type cell struct{ number, text string }

func (e *Event) cell() (c cell) {
	if e == nil {
		return c
	}
	if e.Event >= 0 {
		c.number = fmt.Sprint(e.Event)
	}
	c.text = e.Thread + " " + wording.Line(e.Text)
	return c
}

// elsewhere says where an event is in the execution that does not have it in this place.
func (r *Row) elsewhere() cell {
	switch {
	case r.Waits:
		return cell{text: r.Passing.Thread + " waits"}
	case r.There == nil:
		return cell{}
	}
	s := "↑"
	if r.Later {
		s = "↓"
	}
	if r.There.Event >= 0 {
		s += " " + fmt.Sprint(r.There.Event)
	}
	if r.Differs {
		s += ": " + wording.Line(r.There.Text)
	}
	return cell{text: s}
}

func (r *Row) cells() (left, right cell, mark, where string) {
	switch r.Kind {
	case Failing:
		return r.Failing.cell(), r.elsewhere(), "<", r.Failing.Where
	case Passing:
		return r.elsewhere(), r.Passing.cell(), ">", r.Passing.Where
	case Other:
		return r.Failing.cell(), r.Passing.cell(), "≠", r.Failing.Where
	}
	return r.Failing.cell(), r.Passing.cell(), " ", r.Failing.Where
}

func (c *Comparison) table(w io.Writer, width int) {
	number, most, at := 0, 0, 0
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Kind != Fold {
			left, right, _, where := r.cells()
			number = max(number, len(left.number), len(right.number))
			most = max(most, utf8.RuneCountInString(left.text), utf8.RuneCountInString(right.text))
			at = max(at, utf8.RuneCountInString(where))
		}
	}
	if at = min(at, width/4); width < Narrow {
		at = 0
	}
	text := max(min(most, (width-2*number-8-at)/2), 16)
	side := number + 1 + text
	fmt.Fprintf(w, "%-*s   %s\n", side, "fails", "passes")
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Kind == Fold {
			fmt.Fprintf(w, "%*s %s\n", number, "", r.folded())
			continue
		}
		left, right, mark, where := r.cells()
		line := fmt.Sprintf("%*s %s %s %*s %s", number, left.number, padded(left.text, text), mark, number, right.number, padded(right.text, text))
		if at > 0 && where != "" {
			line += "  " + wording.Middle(wording.Line(where), max(at, 3))
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func padded(s string, n int) string {
	s = wording.Middle(s, n)
	return s + strings.Repeat(" ", n-utf8.RuneCountInString(s))
}

// folded says which rows a fold stands for.
func (r *Row) folded() string {
	if r.Equal == r.Events {
		return "… " + wording.Count(r.Events, "equal event")
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{r.Equal, "equal"}, {r.Values, "with another value"}, {r.Events - r.Equal - r.Values, "in one column only"}} {
		if p.n > 0 {
			parts = append(parts, wording.Thousands(p.n)+" "+p.what)
		}
	}
	return "… " + wording.Count(r.Events, "row") + ": " + strings.Join(parts, ", ")
}
