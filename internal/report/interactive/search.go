package interactive

import (
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
)

// search goes to the next row that contains the text, in any case, in what is drawn of it; after
// the last one it begins again. #N is the event of that number. It unfolds what the row is in.
func (m *model) search(text string) {
	if text == "" {
		if text = m.query; text == "" {
			return
		}
	}
	m.query = text
	matches := m.matcher(text)
	here := len(m.order)
	if r := m.row(); r != nil {
		here = m.order[r]
	}
	var first, next *report.Row
	var visit func(rows []report.Row)
	visit = func(rows []report.Row) {
		for i := range rows {
			if next != nil {
				return
			}
			r := &rows[i]
			if matches(r) {
				if first == nil {
					first = r
				}
				if m.order[r] > here {
					next = r
					return
				}
				if folds(r) && !m.open[r] {
					continue // the heading of a loop stands for its turns
				}
			}
			visit(r.Rows)
		}
	}
	visit(m.v.Rows)
	switch {
	case next != nil:
	case first != nil:
		next = first
		m.message = "searched from the beginning"
	default:
		m.message = strconv.Quote(text) + " not found"
		return
	}
	unfolded := false
	for r := m.parent[next]; r != nil; r = m.parent[r] {
		unfolded = unfolded || !m.open[r]
		m.open[r] = true
	}
	if unfolded {
		m.arrange()
	}
	m.at = m.index[next]
}

// matcher returns what decides whether a row matches a search.
func (m *model) matcher(text string) func(*report.Row) bool {
	number, numbered := strings.CutPrefix(text, "#")
	if n, err := strconv.Atoi(number); numbered && err == nil {
		return func(r *report.Row) bool {
			return r.Kind == report.EventRow && r.Event == n
		}
	}
	text = strings.ToLower(text)
	var matches func(r *report.Row) bool
	matches = func(r *report.Row) bool {
		switch r.Kind {
		case report.SwitchRow:
			return strings.Contains(strings.ToLower(r.Switch.Text), text)
		case report.LoopRow:
			if m.open[r] {
				return false // the turns are rows of their own
			}
			for i := range r.Body {
				if matches(&r.Body[i]) {
					return true
				}
			}
			return false
		case report.FoldRow:
			return false
		}
		p := m.v.Places[r.Cell.Place]
		for _, s := range []string{r.Cell.Text, r.Cell.Object, p.Label, p.Func, p.Text} {
			if strings.Contains(strings.ToLower(s), text) {
				return true
			}
		}
		return false
	}
	return matches
}
