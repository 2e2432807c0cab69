package trace

import (
	"errors"
	"fmt"

	"github.com/heddle-dev/heddle/trace/tracepb"
)

// code is what most events of one instruction have in common. A block holds each distinct code
// once; the events refer to it.
type code struct {
	op    Op
	site  Site
	size  uint32
	flags Flags
}

// fields are the parts of an event that are predicted from the previous event with the same thread
// and code: a lock stays the same, a loop counter and an array index move by a constant.
type fields struct {
	object, value, aux uint64
	stack              uint32
}

// history holds the last fields of each thread and code. It is a map because a malicious block may
// have many of both, and few pairs.
type history struct {
	place  map[uint64]uint32 // into fields
	fields []fields
}

func (h *history) reset() {
	if h.place == nil {
		h.place = make(map[uint64]uint32)
	}
	clear(h.place)
	h.fields = h.fields[:0]
}

// of returns a pointer that is valid until the next call.
func (h *history) of(t ThreadID, code uint32) *fields {
	key := uint64(t)<<32 | uint64(code)
	i, ok := h.place[key]
	if !ok {
		i = uint32(len(h.fields))
		h.place[key] = i
		h.fields = append(h.fields, fields{})
	}
	return &h.fields[i]
}

// blockEncoder turns events into the columns of one tracepb.EventBlock. It retains nothing of the
// events it is given. Call reset before the first.
type blockEncoder struct {
	block tracepb.EventBlock
	codes map[code]uint32
	last  history

	site    Site      // of the last code
	thread  ThreadID  // of the last event
	enabled ThreadSet // of the last event
	words   int       // of the sets above thread 63, over all runs
}

// reset empties the block; its next event has number first in the trace.
func (b *blockEncoder) reset(first uint64) {
	p := &b.block
	p.First, p.Count = first, 0
	for _, c := range []*[]uint32{
		&p.IntervalThread, &p.IntervalLength, &p.CodeOp, &p.CodeSize, &p.CodeFlags, &p.Code,
		&p.EnabledLength, &p.EnabledChanges, &p.EnabledThread,
	} {
		*c = (*c)[:0]
	}
	for _, c := range []*[]int64{&p.CodeSite, &p.Object, &p.Value, &p.Aux, &p.Stack} {
		*c = (*c)[:0]
	}
	p.Result = p.Result[:0]
	if b.codes == nil {
		b.codes = make(map[code]uint32)
	}
	clear(b.codes)
	b.last.reset()
	b.site, b.words = 0, 0
	b.enabled = ThreadSet{High: b.enabled.High[:0]}
}

// full reports whether e must go into the next block.
func (b *blockEncoder) full(e *Event) bool {
	return b.block.Count >= blockEvents || b.words+len(e.Enabled.High) > maxBlockSetWords ||
		len(b.block.EnabledThread) > blockChanges
}

// check returns why e cannot be written, nil if it can.
func (b *blockEncoder) check(e *Event) error {
	if e.Thread < 0 || e.Thread >= MaxThreads {
		return fmt.Errorf("its thread is %d: a trace file holds threads 0 to %d", e.Thread, MaxThreads-1)
	}
	if e.Enabled.last() >= MaxThreads {
		return fmt.Errorf("its enabled set goes beyond thread %d", MaxThreads-1)
	}
	return nil
}

func (b *blockEncoder) add(e *Event) {
	p := &b.block

	if p.Count > 0 && e.Thread == b.thread {
		p.IntervalLength[len(p.IntervalLength)-1]++
	} else {
		p.IntervalThread = append(p.IntervalThread, uint32(e.Thread))
		p.IntervalLength = append(p.IntervalLength, 1)
		b.thread = e.Thread
	}

	c := code{e.Op, e.Site, e.Size, e.Flags}
	i, ok := b.codes[c]
	if !ok {
		i = uint32(len(b.codes))
		b.codes[c] = i
		p.CodeOp = append(p.CodeOp, uint32(c.op))
		p.CodeSite = append(p.CodeSite, int64(c.site-b.site))
		p.CodeSize = append(p.CodeSize, c.size)
		p.CodeFlags = append(p.CodeFlags, uint32(c.flags))
		b.site = c.site
	}
	l := b.last.of(e.Thread, i)
	p.Code = append(p.Code, i)
	p.Object = append(p.Object, int64(uint64(e.Object)-l.object))
	p.Value = append(p.Value, int64(e.Value-l.value))
	p.Aux = append(p.Aux, int64(e.Aux-l.aux))
	p.Stack = append(p.Stack, int64(e.Stack)-int64(l.stack))
	p.Result = append(p.Result, e.Result)
	*l = fields{uint64(e.Object), e.Value, e.Aux, e.Stack}

	if p.Count > 0 && e.Enabled.Equal(b.enabled) {
		p.EnabledLength[len(p.EnabledLength)-1]++
	} else {
		b.addEnabled(e.Enabled)
	}
	p.Count++
}

// addEnabled begins a run of events that have the enabled set s.
func (b *blockEncoder) addEnabled(s ThreadSet) {
	p := &b.block
	before := len(p.EnabledThread)
	s.changes(b.enabled, func(t ThreadID) { p.EnabledThread = append(p.EnabledThread, uint32(t)) })
	p.EnabledLength = append(p.EnabledLength, 1)
	p.EnabledChanges = append(p.EnabledChanges, uint32(len(p.EnabledThread)-before))
	b.enabled = ThreadSet{Low: s.Low, High: append(b.enabled.High[:0], s.High...)}
	b.words += len(s.High)
}

// message returns the block to write. It is valid until the next call of reset.
func (b *blockEncoder) message() *tracepb.EventBlock {
	p := &b.block
	for _, c := range []*[]uint32{&p.CodeSize, &p.CodeFlags, &p.Code} {
		*c = unlessZero(*c)
	}
	for _, c := range []*[]int64{&p.Object, &p.Value, &p.Aux, &p.Stack} {
		*c = unlessZero(*c)
	}
	p.Result = unlessZero(p.Result)
	return p
}

func unlessZero[T comparable](column []T) []T {
	var zero T
	for _, v := range column {
		if v != zero {
			return column
		}
	}
	return column[:0]
}

// appendBlock appends the events of p, which may be malformed, to dst. Consecutive events with the
// same enabled set share the words of ThreadSet.High.
func appendBlock(dst []Event, p *tracepb.EventBlock) ([]Event, error) {
	n := int(p.Count)
	if n == 0 || n > maxBlockEvents {
		return dst, fmt.Errorf("a block of %d events, where 1 to %d are allowed", p.Count, maxBlockEvents)
	}
	codes, err := blockCodes(p)
	if err != nil {
		return dst, err
	}
	for _, c := range []struct {
		name string
		len  int
	}{
		{"code", len(p.Code)}, {"object", len(p.Object)}, {"value", len(p.Value)},
		{"aux", len(p.Aux)}, {"stack", len(p.Stack)}, {"result", len(p.Result)},
	} {
		if c.len != 0 && c.len != n {
			return dst, fmt.Errorf("column %s has %d values for %d events", c.name, c.len, n)
		}
	}

	start := len(dst)
	dst = append(dst, make([]Event, n)...)
	events := dst[start:]
	if err := fillThreads(events, p); err != nil {
		return dst[:start], err
	}
	if err := fillEnabled(events, p); err != nil {
		return dst[:start], err
	}
	var last history
	last.reset()
	for i := range events {
		e := &events[i]
		k := at(p.Code, i)
		if int(k) >= len(codes) {
			return dst[:start], fmt.Errorf("code %d, where there are %d", k, len(codes))
		}
		c, l := &codes[k], last.of(e.Thread, k)
		l.object += uint64(at(p.Object, i))
		l.value += uint64(at(p.Value, i))
		l.aux += uint64(at(p.Aux, i))
		l.stack += uint32(at(p.Stack, i))
		e.Op, e.Site, e.Size, e.Flags = c.op, c.site, c.size, c.flags
		e.Object, e.Value, e.Aux, e.Stack = Object(l.object), l.value, l.aux, l.stack
		e.Result = at(p.Result, i)
	}
	return dst, nil
}

// at returns column[i] of a column that is omitted when all of it is zero.
func at[T any](column []T, i int) T {
	if len(column) == 0 {
		var zero T
		return zero
	}
	return column[i]
}

func blockCodes(p *tracepb.EventBlock) ([]code, error) {
	n := len(p.CodeOp)
	if n > int(p.Count) || len(p.CodeSite) != n ||
		len(p.CodeSize) != 0 && len(p.CodeSize) != n ||
		len(p.CodeFlags) != 0 && len(p.CodeFlags) != n {
		return nil, fmt.Errorf("columns of codes have %d, %d, %d and %d values for %d events",
			n, len(p.CodeSite), len(p.CodeSize), len(p.CodeFlags), p.Count)
	}
	codes := make([]code, n)
	var site Site
	for i := range codes {
		if p.CodeOp[i] > 1<<16-1 {
			return nil, fmt.Errorf("%d is not an operation", p.CodeOp[i])
		}
		site += Site(p.CodeSite[i])
		codes[i] = code{Op(p.CodeOp[i]), site, at(p.CodeSize, i), Flags(at(p.CodeFlags, i))}
	}
	return codes, nil
}

var errRuns = errors.New("lengths of a block's runs do not add up to its events")

func fillThreads(events []Event, p *tracepb.EventBlock) error {
	if len(p.IntervalThread) != len(p.IntervalLength) {
		return errRuns
	}
	i := 0
	for k, n := range p.IntervalLength {
		t := p.IntervalThread[k]
		if t >= MaxThreads {
			return fmt.Errorf("thread %d, where %d is the last possible", t, MaxThreads-1)
		}
		if uint64(n) > uint64(len(events)-i) {
			return errRuns
		}
		for range n {
			events[i].Thread = ThreadID(t)
			i++
		}
	}
	if i != len(events) {
		return errRuns
	}
	return nil
}

func fillEnabled(events []Event, p *tracepb.EventBlock) error {
	if len(p.EnabledLength) != len(p.EnabledChanges) {
		return errRuns
	}
	var set ThreadSet
	i, words, changed := 0, 0, p.EnabledThread
	for k, n := range p.EnabledLength {
		c := p.EnabledChanges[k]
		if n == 0 || uint64(n) > uint64(len(events)-i) || uint64(c) > uint64(len(changed)) {
			return errRuns
		}
		set = set.Clone()
		for _, t := range changed[:c] {
			if t >= MaxThreads {
				return fmt.Errorf("thread %d, where %d is the last possible", t, MaxThreads-1)
			}
			set.toggle(ThreadID(t))
		}
		changed = changed[c:]
		if words += len(set.High); words > maxBlockSetWords {
			return errors.New("a block's enabled sets are too large")
		}
		for range n {
			events[i].Enabled = set
			i++
		}
	}
	if i != len(events) || len(changed) != 0 {
		return errRuns
	}
	return nil
}
