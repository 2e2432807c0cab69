package report

// turns is a loop around a row: the row's event repeats every stride events, times times.
type turns struct{ stride, times int }

// rows returns the rows of segments. Inside loops (in), a row represents its event in every turn.
// first is the event before which no switch is shown: the switch into a loop's first turn is not
// part of the loop.
func (b *builder) rows(segments []segment, first int, in []turns) []Row {
	var out []Row
	for _, s := range segments {
		if s.start != first || len(in) == 0 {
			out = b.switchRow(out, s.start)
		}
		if s.period == 0 {
			if !b.hidden[s.start] {
				out = append(out, b.eventRow(s.start, in))
			}
			continue
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
	}
	return out
}

// switchRow appends the context switch before event i, if any.
func (b *builder) switchRow(out []Row, i int) []Row {
	if i >= len(b.switches) || b.switches[i] == nil {
		return out
	}
	return append(out, Row{Kind: SwitchRow, Thread: b.tr.Events[i].Thread, Event: i, Switch: b.switches[i]})
}

// eventRow returns the row of event i, which represents the corresponding events in all turns of
// the surrounding loops. In a short view it has no cell if it may be folded: foldRows adds the cells of rows that are not.
func (b *builder) eventRow(i int, in []turns) Row {
	e := &b.tr.Events[i]
	shared := b.shared[i]
	if len(in) > 0 {
		each(i, in, func(j int) { shared = shared || b.shared[j] })
	}
	r := Row{Kind: EventRow, Thread: e.Thread, Event: i, Events: 1}
	if !b.short || shared || b.failed(i) {
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
func (b *builder) foldRows(rows []Row, in []turns) []Row {
	var out []Row
	for i := 0; i < len(rows); {
		j, events := i, 0
		for j < len(rows) && quiet(&rows[j]) && rows[j].Thread == rows[i].Thread {
			events += rows[j].Events
			j++
		}
		if events < minFold {
			j = max(j, i+1)
			for k := i; k < j; k++ {
				if r := &rows[k]; r.Kind == EventRow && r.Cell == nil {
					r.Cell = b.cell(r.Event, in, false)
				}
			}
			out = append(out, rows[i:j]...)
		} else {
			fold := Row{Kind: FoldRow, Thread: rows[i].Thread, Event: rows[i].Event, Events: events}
			if !b.short {
				fold.Rows = rows[i:j:j]
			}
			out = append(out, fold)
		}
		i = j
	}
	return out
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
