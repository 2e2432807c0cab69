package interactive

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/heddle-dev/heddle/internal/report"
)

// keys are the help, one line for each group.
var keys = [][2]string{
	{"j k, down up", "next, previous event (of the followed object)"},
	{"n p", "next, previous context switch"},
	{"N P", "next, previous preemption"},
	{"enter", "unfold, or fold what the event is in"},
	{"a", "unfold everything, fold everything"},
	{"f", "follow the event's object; again: stop"},
	{"/", "search; empty: again; #12: go to event 12"},
	{"space b", "a screen forwards, backwards"},
	{"g G", "the beginning, the end"},
	{"s", "below the table: source, call stack, nothing"},
	{"d", "copy the command for a debugger at the event; again: another"},
	{"?", "this help"},
	{"q", "quit"},
}

// hint is the line at the bottom.
const hint = "? help  q quit"

// The heights of parts of the screen, in lines. Small screens have only the table.
const (
	paneFrom  = 14 // least height of a screen with a pane
	titleFrom = 18 // … with a title
	mostPane  = 13
)

// draw draws the model on a screen of its size.
func (m *model) draw(s tcell.Screen) {
	s.Clear()
	c := canvas{s, m.width}
	y := 0
	top := m.table.Header()
	if m.height >= titleFrom {
		title := m.table.Title()
		top = append(title[:min(2, len(title))], top...)
	}
	if len(top) > m.height/2 {
		top = nil
	}
	for _, l := range top {
		c.put(0, y, l, tcell.StyleDefault)
		y++
	}
	bottom := m.height - 1
	if m.below != noPane && m.height >= paneFrom {
		bottom -= min(m.height/3, mostPane)
		m.drawPane(c, bottom, m.height-1)
	}
	if m.help {
		m.drawHelp(c, y, bottom)
	} else {
		m.drawRows(c, y, bottom)
	}
	m.drawStatus(c)
	s.Show()
}

// drawRows draws the rows around the current one in the lines from y to before end.
func (m *model) drawRows(c canvas, y, end int) {
	room := end - y
	if room <= 0 {
		return
	}
	m.scroll(room)
	for i := m.top; i <= len(m.rows) && y < end; i++ {
		base := tcell.StyleDefault
		if i == m.at {
			base = base.Reverse(true)
		} else if m.follow != "" && i < len(m.rows) && !about(m.rows[i].Row, m.follow) {
			base = base.Dim(true)
		}
		for _, l := range m.linesOf(i) {
			if y == end {
				break
			}
			if i == m.at {
				c.fill(y, base)
			}
			c.put(0, y, l, base)
			y++
		}
	}
}

// linesOf returns the lines of a row, or of the ending.
func (m *model) linesOf(i int) []string {
	lines, ok := m.lines[i]
	if !ok {
		if i == len(m.rows) {
			lines = m.table.Ending()
		} else {
			lines = m.table.Lines(m.rows[i])
		}
		m.lines[i] = lines
	}
	return lines
}

// scroll moves the first row on the screen so that the current one, and a row before and after it,
// are on it.
func (m *model) scroll(room int) {
	if before := max(m.at-1, 0); before < m.top {
		m.top = before
	}
	used := 0
	first := min(m.at+1, len(m.rows))
	if m.at == len(m.rows) {
		first = m.at
	}
	for i := first; i >= m.top; i-- {
		used += len(m.linesOf(i))
		if used > room {
			m.top = min(i+1, m.at)
			break
		}
	}
}

// drawPane draws the source around the current place, or its call stack.
func (m *model) drawPane(c canvas, y, end int) {
	n, stack := m.place()
	p := m.v.Places[n]
	head := "no source line is known here"
	if n != 0 {
		head = p.Label
		if p.Func != "" && !strings.HasPrefix(p.Label, p.Func) {
			head += " in " + p.Func
		}
	}
	if r := m.row(); r != nil && r.Cell != nil {
		head = fmt.Sprintf("T%d  %s  %s", r.Thread, r.Cell.Text, head)
	}
	dash := m.table.Clean("─")
	c.put(0, y, dash+dash+" "+m.table.Clean(head)+" "+strings.Repeat(dash, m.width), tcell.StyleDefault.Bold(true))
	y++
	if m.below == stackPane {
		m.drawStack(c, stack, y, end)
		return
	}
	m.drawSource(c, p, y, end)
}

func (m *model) drawStack(c canvas, stack []int, y, end int) {
	if len(stack) == 0 {
		c.put(2, y, "no call stack is known here", tcell.StyleDefault)
	}
	for _, n := range stack {
		if y == end {
			return
		}
		c.put(2, y, m.table.Clean(m.v.Places[n].Frame()), tcell.StyleDefault)
		y++
	}
}

func (m *model) drawSource(c canvas, p report.Place, y, end int) {
	if p.Line == 0 || y >= end {
		return
	}
	if _, ok := m.opt.Source(p.File, p.Line); !ok {
		c.put(2, y, m.table.Clean(p.File+" is not there: --sources DIR names another directory"), tcell.StyleDefault)
		return
	}
	first := max(1, p.Line-(end-y-1)/2)
	digits := len(strconv.Itoa(first + end - y))
	for n := first; y < end; n, y = n+1, y+1 {
		text, ok := m.opt.Source(p.File, n)
		if !ok {
			return
		}
		mark, style := " ", tcell.StyleDefault
		if n == p.Line {
			mark, style = "▶", style.Bold(true)
		}
		text = strings.ReplaceAll(text, "\t", "    ")
		c.put(0, y, m.table.Clean(fmt.Sprintf("%s %*d  %s", mark, digits, n, text)), style)
	}
}

func (m *model) drawHelp(c canvas, y, end int) {
	for _, k := range keys {
		if y == end {
			return
		}
		c.put(2, y, fmt.Sprintf("%-14s%s", k[0], k[1]), tcell.StyleDefault)
		y++
	}
}

func (m *model) drawStatus(c canvas) {
	y, style := m.height-1, tcell.StyleDefault.Reverse(true)
	c.fill(y, style)
	if m.typing {
		c.put(0, y, m.table.Clean("/"+m.typed), style)
		c.s.ShowCursor(min(1+len([]rune(m.typed)), m.width-1), y)
		return
	}
	c.s.HideCursor()
	c.put(0, y, m.table.Clean(m.status()), style)
	if x := m.width - len(hint) - 1; x > 0 {
		c.put(x-1, y, " "+hint+" ", style)
	}
}

// canvas puts text on a screen.
type canvas struct {
	s     tcell.Screen
	width int
}

func (c canvas) fill(y int, style tcell.Style) {
	for x := range c.width {
		c.s.Put(x, y, " ", style)
	}
}

// put writes a line, which may be painted by term, over a style.
func (c canvas) put(x, y int, line string, base tcell.Style) {
	style := base
	for line != "" && x < c.width {
		if parameters, ok := strings.CutPrefix(line, "\x1b["); ok {
			codes, rest, _ := strings.Cut(parameters, "m")
			style, line = painted(style, base, codes), rest
			continue
		}
		rest, w := c.s.Put(x, y, line, style)
		if len(rest) >= len(line) {
			return
		}
		line, x = rest, x+w
	}
}

// painted applies a select graphic rendition sequence of term.
func painted(style, base tcell.Style, codes string) tcell.Style {
	for code := range strings.SplitSeq(codes, ";") {
		n, _ := strconv.Atoi(code)
		switch {
		case n == 0:
			style = base
		case n == 1:
			style = style.Bold(true)
		case n == 2:
			style = style.Dim(true)
		case 30 <= n && n < 38:
			style = style.Foreground(tcell.PaletteColor(n - 30))
		case 90 <= n && n < 98:
			style = style.Foreground(tcell.PaletteColor(n - 90 + 8))
		}
	}
	return style
}
