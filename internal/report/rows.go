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
		r := Row{
			Kind: LoopRow, Thread: b.tr.Events[s.start].Thread, Event: s.start, Times: s.times,
			Body: b.rows(s.body, s.start, append(in[:len(in):len(in)], turns{s.period, s.times})),
		}
		r.Body = foldRows(b.switchRow(r.Body, s.start+s.period))
		for i := s.start; i < s.end; i++ {
			if i > s.start {
				r.Rows = b.switchRow(r.Rows, i)
			}
			if !b.hidden[i] {
				r.Rows = append(r.Rows, b.eventRow(i, nil))
			}
		}
		for i := range r.Rows {
			r.Events += r.Rows[i].Events
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
// the surrounding loops.
func (b *builder) eventRow(i int, in []turns) Row {
	e := &b.tr.Events[i]
	p := b.phrase(i)
	shared := b.shared[i]
	last := i
	for _, t := range in {
		last += t.stride * (t.times - 1)
	}
	if last != i {
		p = p.through(b.phrase(last))
		each(i, in, func(j int) { shared = shared || b.shared[j] })
	}
	at := b.placeOf(e)
	return Row{
		Kind: EventRow, Thread: e.Thread, Event: i, Events: 1,
		Cell: &Cell{
			Op: e.Op.String(), Text: p.text(), Brief: p.brief(), Object: p.object, Value: p.value, After: p.after,
			Place: at.place, Stack: at.stack, Block: p.block, Shared: shared, Failed: b.failed(i),
		},
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

// foldRows replaces consecutive rows of one thread that no other thread can notice with one row.
func foldRows(rows []Row) []Row {
	var out []Row
	for i := 0; i < len(rows); {
		j, events := i, 0
		for j < len(rows) && quiet(&rows[j]) && rows[j].Thread == rows[i].Thread {
			events += rows[j].Events
			j++
		}
		if events < minFold {
			j = max(j, i+1)
			out = append(out, rows[i:j]...)
		} else {
			out = append(out, Row{Kind: FoldRow, Thread: rows[i].Thread, Event: rows[i].Event, Events: events, Rows: rows[i:j:j]})
		}
		i = j
	}
	return out
}

// quiet reports whether a row may be folded.
func quiet(r *Row) bool {
	switch r.Kind {
	case EventRow:
		return !r.Cell.Shared && !r.Cell.Failed
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
