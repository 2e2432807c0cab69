package interactive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/term"
)

// Options are what the reader sees besides the view.
type Options struct {
	// Draw are the options of the table; its width is the screen's. Full starts with everything unfolded.
	Draw term.Options
	// Source returns a line of a source file, from 1.
	Source func(file string, line int) (text string, ok bool)
	// Event is where to begin; nil for the beginning.
	Event *int
	// Debuggers returns the command lines that open debuggers at an event, or at the end if there is no event of that
	// number; nil if the trace has no program.
	Debuggers func(event int) []string
}

// pane is what is shown below the table.
type pane int

const (
	sourcePane pane = iota
	stackPane
	noPane
	panes // how many
)

// model is the state of the reader.
type model struct {
	v   *report.View
	opt Options

	order  map[*report.Row]int         // position of each row, in the order of the execution
	parent map[*report.Row]*report.Row // the loop or fold that a row is in
	open   map[*report.Row]bool        // unfolded loops and folds

	rows  []term.TableRow // that can be seen by scrolling
	index map[*report.Row]int
	at    int // the current row; len(rows) is the ending
	top   int // the first row on the screen
	table *term.Table
	lines map[int][]string // of rows, as drawn

	follow  string // the object that is followed, or empty
	query   string // the last search
	typing  bool   // a search is being typed
	typed   string
	help    bool
	below   pane
	message string // about the last key
	command string // the debugger's command that was shown last
	copied  bool   // the command has been copied to the clipboard

	width, height int // of the screen
}

func newModel(v *report.View, opt Options, width, height int) *model {
	m := &model{
		v: v, opt: opt, order: map[*report.Row]int{}, parent: map[*report.Row]*report.Row{}, open: map[*report.Row]bool{},
		width: width, height: height,
	}
	m.enter(v.Rows, nil)
	if opt.Draw.Full {
		m.unfoldAll()
	}
	m.arrange()
	m.first()
	if opt.Event != nil {
		m.search("#" + strconv.Itoa(*opt.Event))
	}
	return m
}

// enter records the order of rows and where they are.
func (m *model) enter(rows []report.Row, in *report.Row) {
	for i := range rows {
		r := &rows[i]
		m.order[r] = len(m.order)
		if in != nil {
			m.parent[r] = in
		}
		m.enter(r.Rows, r)
	}
}

// folds reports whether the row has rows that can be folded.
func folds(r *report.Row) bool { return r.Kind == report.LoopRow || r.Kind == report.FoldRow }

func (m *model) unfoldAll() {
	for r := range m.order {
		if folds(r) {
			m.open[r] = true
		}
	}
}

// arrange makes the list of rows after something was folded or unfolded.
func (m *model) arrange() {
	current := m.row()
	m.rows, m.index = nil, map[*report.Row]int{}
	var add func(rows []report.Row, loops int)
	add = func(rows []report.Row, loops int) {
		for i := range rows {
			r := &rows[i]
			m.index[r] = len(m.rows)
			m.rows = append(m.rows, term.TableRow{Row: r, Loops: loops, Open: m.open[r]})
			if m.open[r] {
				in := loops
				if r.Kind == report.LoopRow {
					in++
				}
				add(r.Rows, in)
			}
		}
	}
	add(m.v.Rows, 0)
	if current == nil {
		m.at = len(m.rows)
	} else {
		for m.parent[current] != nil {
			if _, ok := m.index[current]; ok {
				break
			}
			current = m.parent[current]
		}
		m.at = m.index[current]
	}
	m.layOut()
}

// layOut lays out the table after the rows or the width have changed.
func (m *model) layOut() {
	o := m.opt.Draw
	o.Width = m.width
	m.table, m.lines = term.NewTable(m.v, m.rows, o), map[int][]string{}
}

func (m *model) resize(width, height int) {
	changed := width != m.width
	m.width, m.height = width, height
	if changed {
		m.layOut()
	}
}

// row returns the current row, nil at the ending.
func (m *model) row() *report.Row {
	if m.at >= len(m.rows) {
		return nil
	}
	return m.rows[m.at].Row
}

// cell returns what the current row is about: its event, or the first of a loop. Nil for others.
func (m *model) cell() *report.Cell { return cellOf(m.row()) }

func cellOf(r *report.Row) *report.Cell {
	switch {
	case r == nil:
		return nil
	case r.Kind == report.LoopRow && len(r.Body) > 0:
		return cellOf(&r.Body[0])
	case r.Kind == report.FoldRow && len(r.Rows) > 0:
		return cellOf(&r.Rows[0])
	}
	return r.Cell
}

// place returns the place and the stack of the current row, innermost first; 0 for unknown.
func (m *model) place() (place int, stack []int) {
	r := m.row()
	switch {
	case r == nil && m.v.Failure != nil:
		f := m.v.Failure
		if f.Place == 0 && len(f.Waits) > 0 {
			return f.Waits[0].Place, f.Waits[0].Stack
		}
		return f.Place, f.Stack
	case r != nil && r.Kind == report.SwitchRow:
		return r.Switch.Next, nil
	}
	if c := m.cell(); c != nil {
		return c.Place, m.v.Stacks[c.Stack]
	}
	return 0, nil
}

// first goes to the first event.
func (m *model) first() {
	m.at = 0
	for m.at < len(m.rows)-1 && m.rows[m.at].Kind == report.SwitchRow {
		m.at++
	}
}

// move goes to the next row for which stop holds, forwards or backwards, and reports whether
// it exists.
func (m *model) move(by int, stop func(*report.Row) bool) bool {
	for i := m.at + by; i >= 0 && i < len(m.rows); i += by {
		if stop(m.rows[i].Row) {
			m.at = i
			return true
		}
	}
	return false
}

// step goes to the next event, or to the next of the object that is followed; after the last
// one, to the ending.
func (m *model) step(by int) {
	found := m.move(by, func(r *report.Row) bool {
		return r.Kind != report.SwitchRow && (m.follow == "" || !m.open[r] && about(r, m.follow))
	})
	switch {
	case found:
	case by > 0 && m.at < len(m.rows):
		m.at = len(m.rows)
	case by > 0:
		m.message = "this is the end of the execution"
	case m.follow != "":
		m.message = "no earlier event of " + m.follow
	default:
		m.message = "this is the beginning of the execution"
	}
}

// stepSwitch goes to the next context switch, or only to a preemption.
func (m *model) stepSwitch(by int, preemptions bool) {
	what := "context switch"
	if preemptions {
		what = "preemption"
	}
	if !m.move(by, func(r *report.Row) bool {
		return r.Kind == report.SwitchRow && (!preemptions || r.Switch.Reason == report.Preempted)
	}) {
		m.message = map[bool]string{true: "no later ", false: "no earlier "}[by > 0] + what
	}
}

// about reports whether a row, or a row behind it, is about the object.
func about(r *report.Row, object string) bool {
	if r.Cell != nil && r.Cell.Object == object {
		return true
	}
	rows := r.Rows
	if r.Kind == report.LoopRow {
		rows = r.Body // every turn has the same
	}
	for i := range rows {
		if about(&rows[i], object) {
			return true
		}
	}
	return false
}

// toggleFollow follows the object of the current event, or none.
func (m *model) toggleFollow() {
	if m.follow != "" {
		m.follow = ""
		return
	}
	if c := m.cell(); c != nil && c.Object != "" {
		m.follow = c.Object
		return
	}
	m.message = "nothing to follow here: go to an event of the object"
}

// followed returns which of the rows about the followed object the current one is, from 1 (0 if
// it is not about it), and how many they are.
func (m *model) followed() (n, of int) {
	for i, r := range m.rows {
		if r.Kind != report.SwitchRow && about(r.Row, m.follow) && !r.Open {
			of++
			if i == m.at {
				n = of
			}
		}
	}
	return n, of
}

// toggleFold unfolds the current loop or fold, or folds the one that the current row is in.
func (m *model) toggleFold() {
	r := m.row()
	if r != nil && !folds(r) {
		r = m.parent[r]
	}
	if r == nil {
		m.message = "nothing to unfold here"
		return
	}
	m.open[r] = !m.open[r]
	m.at = m.index[r]
	m.arrange()
}

// toggleAll unfolds everything, or folds everything if nothing is left to unfold.
func (m *model) toggleAll() {
	all := true
	for r := range m.order {
		if folds(r) && !m.open[r] {
			all = false
			break
		}
	}
	if all {
		clear(m.open)
	} else {
		m.unfoldAll()
	}
	m.arrange()
}

// showDebugger shows the command that opens a debugger at the current event; when it is asked for again, the
// next debugger's.
func (m *model) showDebugger() {
	event := m.v.Events
	if r := m.row(); r != nil {
		event = r.Event
	}
	var commands []string
	if m.opt.Debuggers != nil {
		commands = m.opt.Debuggers(event)
	}
	if len(commands) == 0 {
		m.message = "no debugger: the trace has no program"
		return
	}
	m.command, m.copied = commands[(slices.Index(commands, m.command)+1)%len(commands)], false
	m.message = m.command
}

// status describes the position.
func (m *model) status() string {
	if m.command != "" && m.message == m.command {
		return m.command // whole, to be read off
	}
	var parts []string
	if r := m.row(); r == nil {
		parts = append(parts, "the end")
	} else {
		parts = append(parts, fmt.Sprintf("T%d, event %d of %d", r.Thread, r.Event, m.v.Events))
	}
	if m.follow != "" {
		n, of := m.followed()
		parts = append(parts, fmt.Sprintf("following %s: %d of %d", m.follow, n, of))
	}
	if m.message != "" {
		parts = append(parts, m.message)
	}
	return strings.Join(parts, "  ·  ")
}
