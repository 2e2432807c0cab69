package report

import (
	"cmp"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Known is a value in memory that an access has shown.
type Known struct {
	Name   string
	Value  string
	Event  int // that showed it first, since when no access has shown another
	Thread trace.ThreadID
}

// Memory is what the events of an execution so far have shown of its memory. The zero value is what is known before
// the first event.
type Memory struct {
	known map[extent]Known
}

// Apply adds event i, with its cell.
func (m *Memory) Apply(i int, e *trace.Event, c *Cell) {
	spec := ops.Of(e.Op)
	if spec.Of != ops.Memory && spec.Of != ops.Block || c.Object == "" {
		return
	}
	first, size := e.Object.Bytes(max(uint64(e.Size), 1))
	at := extent{c.Block, trace.Object(first), size}
	before, was := m.known[at]
	if ops.Changes(e) {
		for k := range m.known {
			if k.block == at.block && k.o < at.o+trace.Object(at.size) && at.o < k.o+trace.Object(k.size) {
				delete(m.known, k)
			}
		}
	}
	if c.After == "" {
		return
	}
	if m.known == nil {
		m.known = map[extent]Known{}
	}
	now := Known{c.Object, c.After, i, e.Thread}
	if was && before.Value == now.Value {
		now = before
	}
	m.known[at] = now
}

// All returns what is known, the newest first.
func (m *Memory) All() []Known {
	out := make([]Known, 0, len(m.known))
	for _, k := range m.known {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Known) int { return cmp.Or(b.Event-a.Event, cmp.Compare(a.Name, b.Name)) })
	return out
}
