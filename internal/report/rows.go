package report

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// turns is a loop around a row: the row's event repeats every stride events, times times.
type turns struct{ stride, times int }

// rows returns the rows of segments in loops, folded. A row represents its event in every turn.
// first is the event before which no switch is shown: the switch into a loop's first turn is not
// part of the loop.
func (b *builder) rows(segments []segment, first int, in []turns) []Row {
	var out []Row
	for _, s := range segments {
		out = b.segment(out, s, first, in)
	}
	return out
}

// segment appends the rows of a segment.
func (b *builder) segment(out []Row, s segment, first int, in []turns) []Row {
	if s.start != first || len(in) == 0 {
		out = b.switchRow(out, s.start)
	}
	if s.period == 0 {
		if !b.hidden[s.start] {
			out = append(out, b.eventRow(s.start, in))
		}
		return out
	}
	around := append(in[:len(in):len(in)], turns{s.period, s.times})
	r := Row{
		Kind: LoopRow, Thread: b.tr.Events[s.start].Thread, Event: s.start, Times: s.times,
		Body: b.rows(s.body, s.start, around),
	}
	r.Body = b.foldRows(b.switchRow(r.Body, s.start+s.period), around)
	for i := s.start; i < s.end; i++ {
		if !b.hidden[i] {
			r.Events++
		}
		if b.short {
			continue
		}
		if i > s.start {
			r.Rows = b.switchRow(r.Rows, i)
		}
		if !b.hidden[i] {
			r.Rows = append(r.Rows, b.eventRow(i, nil))
		}
	}
	if r.Events > 0 {
		out = append(out, r)
	}
	return out
}

// switchRow appends the context switch before event i, if any.
func (b *builder) switchRow(out []Row, i int) []Row {
	if i >= len(b.reasons) || b.reasons[i] == 0 {
		return out
	}
	return append(out, Row{Kind: SwitchRow, Thread: b.tr.Events[i].Thread, Event: i, Switch: b.switches[i]})
}

// later is the cell of a row that is not folded, of which it is not known yet whether it is wanted.
var later = &Cell{Shared: true}

// eventRow returns the row of event i, which represents the corresponding events in all turns of
// the surrounding loops. In a short view it has no cell if it may be folded: foldRows adds the cells of rows that are not.
func (b *builder) eventRow(i int, in []turns) Row {
	e := &b.tr.Events[i]
	shared := b.shared[i]
	if len(in) > 0 {
		each(i, in, func(j int) { shared = shared || b.shared[j] })
	}
	r := Row{Kind: EventRow, Thread: e.Thread, Event: i, Events: 1}
	switch {
	case b.short && !shared && !b.failed(i):
	case b.long > 0 && len(in) == 0:
		r.Cell = later
	default:
		r.Cell = b.cell(i, in, shared)
	}
	return r
}

// cell describes event i, and the corresponding events in all turns of the surrounding loops.
func (b *builder) cell(i int, in []turns, shared bool) *Cell {
	e := &b.tr.Events[i]
	p := b.phrase(i)
	last := i
	for _, t := range in {
		last += t.stride * (t.times - 1)
	}
	if last != i {
		p = p.through(b.phrase(last))
	}
	at := b.placeOf(e)
	return &Cell{
		Op: e.Op.String(), Text: p.text(), Brief: p.brief(), Object: p.object, Value: p.value, After: p.after,
		Place: at.place, Stack: at.stack, Block: p.block, Shared: shared, Failed: b.failed(i),
	}
}

// each calls f for event i and the corresponding events in all turns of the surrounding loops.
func each(i int, in []turns, f func(int)) {
	if len(in) == 0 {
		f(i)
		return
	}
	for k := range in[0].times {
		each(i+k*in[0].stride, in[1:], f)
	}
}

// minFold is the minimum number of events in a fold.
const minFold = 2

// foldRows replaces consecutive rows of one thread that no other thread can notice with one row. in are the loops around the rows.
func (b *builder) foldRows(rows []Row, in []turns) (out []Row) {
	f := folder{b: b, in: in, do: func(r Row) { out = append(out, r) }}
	for i := range rows {
		f.add(&rows[i])
	}
	f.flush()
	return out
}

// folder does what foldRows does, row by row.
type folder struct {
	b      *builder
	in     []turns
	do     func(Row) // gets the rows
	run    []Row     // rows that may be folded, only the first if they will be, and the rows are not wanted
	events int       // that they represent
}

func (f *folder) add(r *Row) {
	is := quiet(r)
	if len(f.run) > 0 && (!is || r.Thread != f.run[0].Thread) {
		f.flush()
	}
	if !is {
		f.do(*r)
		return
	}
	f.events += r.Events
	if len(f.run) == 0 || !f.b.short || f.events < minFold {
		f.run = append(f.run, *r)
	}
}

// flush ends the run.
func (f *folder) flush() {
	switch {
	case len(f.run) == 0:
	case f.events < minFold:
		for _, r := range f.run {
			if r.Kind == EventRow && r.Cell == nil {
				if r.Cell = later; f.b.long == 0 || len(f.in) > 0 {
					r.Cell = f.b.cell(r.Event, f.in, false)
				}
			}
			f.do(r)
		}
	default:
		fold := Row{Kind: FoldRow, Thread: f.run[0].Thread, Event: f.run[0].Event, Events: f.events}
		if !f.b.short {
			fold.Rows = f.run
			f.run = nil
		}
		f.do(fold)
	}
	f.run, f.events = f.run[:0], 0
}

// quiet reports whether a row may be folded.
func quiet(r *Row) bool {
	switch r.Kind {
	case EventRow:
		return r.Cell == nil || !r.Cell.Shared && !r.Cell.Failed
	case FoldRow:
		return true
	case LoopRow:
		for i := range r.Body {
			if !quiet(&r.Body[i]) || r.Body[i].Thread != r.Thread {
				return false
			}
		}
		return true
	}
	return false
}

// LeftOut is what a view does not have because it is too long.
type LeftOut struct {
	After   int // rows of View.Rows that come before
	Events  int
	Threads int
	Folded  int // of Events, how many would have no row of their own
}

// topLevel returns the rows of the trace: all of them or, with Options.Long, the first and the last, and what is left out.
func (b *builder) topLevel() (rows []Row, left *LeftOut) {
	threads := trace.ThreadSet{}
	leave := func() {
		if left == nil {
			left = &LeftOut{After: b.head}
		}
		out := rows[b.head : len(rows)-b.tail]
		for i := range out {
			left.Events += out[i].Events
			threads.Add(out[i].Thread)
		}
		left.Folded += Folded(out)
		countShown(out, b.left)
		rows = slices.Delete(rows, b.head, len(rows)-b.tail)
	}
	f := folder{b: b, do: func(r Row) {
		if rows = append(rows, r); b.long > 0 && len(rows) == 2*b.long {
			leave()
		}
	}}
	var raw []Row
	b.loops().each(0, len(b.tr.Events), func(s segment) {
		raw = b.segment(raw[:0], s, 0, nil)
		for i := range raw {
			f.add(&raw[i])
		}
	})
	f.flush()
	if b.long == 0 {
		return rows, nil
	}
	if left != nil || len(rows) > b.long {
		leave()
		left.Threads = threads.Len()
	}
	b.complete(rows)
	return rows, left
}

// complete adds cells and switches to rows that are wanted.
func (b *builder) complete(rows []Row) {
	var switches []*Row
	var visit func(rows []Row)
	visit = func(rows []Row) {
		for i := range rows {
			switch r := &rows[i]; {
			case r.Kind == SwitchRow:
				switches = append(switches, r)
			case r.Cell == later:
				r.Cell = b.cell(r.Event, nil, b.shared[r.Event])
			}
			visit(rows[i].Body)
		}
	}
	visit(rows)
	wanted := map[int]bool{}
	for _, r := range switches {
		wanted[r.Event] = true
	}
	b.findSwitches(func(event int) bool { return wanted[event] })
	for _, r := range switches {
		r.Switch = b.switches[r.Event]
	}
}

// Folded returns how many events have no row of their own: those behind folds, and all but
// one turn of loops.
func Folded(rows []Row) (n int) {
	for i := range rows {
		switch r := &rows[i]; r.Kind {
		case FoldRow:
			n += r.Events
		case LoopRow:
			n += r.Events - (r.Events / r.Times) + Folded(r.Body)
		}
	}
	return n
}
