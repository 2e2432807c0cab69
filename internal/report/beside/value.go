package beside

import (
	"regexp"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// read is a read that saw another value in each execution.
type read struct {
	item         int // of the failing execution
	wrote, there int // items that wrote the value in the failing execution and in the other one, -1 for none
}

// firstValue returns the first read of the program's own code, after the first difference in order, that saw another number than in the
// other execution; nil if none is known to. What differs before has another reason than the order, such as a clock.
func (x *comparer) firstValue(first *line) *read {
	if first == nil {
		return nil
	}
	for i, j := range x.to {
		if j < 0 || !x.since(*first, i, j) || !reads(x.a.event(i).Op) || !x.isOwn(line{i, j}) || !x.numbersDiffer(i, j) {
			continue
		}
		r := &read{item: i}
		var known, other bool
		r.wrote, known = x.a.writer(i)
		r.there, other = x.b.writer(j)
		switch {
		case !known || !other || r.wrote < 0 && r.there < 0:
		case r.wrote >= 0 && r.there >= 0 && x.to[r.wrote] == r.there && !x.since(*first, r.wrote, r.there):
		default:
			return r
		}
	}
	return nil
}

// since reports whether an item of either execution comes after the first difference, or is it.
func (x *comparer) since(first line, i, j int) bool {
	return first.a >= 0 && i >= first.a || first.b >= 0 && j >= first.b
}

// reads reports whether an operation reads memory.
func reads(op trace.Op) bool {
	switch ops.Does(op) {
	case ops.Read, ops.AtomicRead, ops.Exchange, ops.Compare:
		return ops.Of(op).Of == ops.Memory
	}
	return false
}

// writer returns the item that wrote what an item reads, or -1 if none is in the trace. known is false if that cannot be told: what was
// written last is only a part, or not what was read, so something else has written there.
func (s *side) writer(item int) (wrote int, known bool) {
	e := s.event(item)
	found, _, _ := strings.Cut(s.cells[item].Value, " → ") // before it changed it
	for i := item - 1; i >= 0; i-- {
		w := s.event(i)
		if ops.Of(w.Op).Of != ops.Memory || !race.Overlap(w, e) {
			continue
		}
		switch ops.Does(w.Op) {
		case ops.Write, ops.AtomicWrite:
			return i, w.Object == e.Object && w.Size == e.Size && s.cells[i].Value == found
		case ops.Exchange, ops.Compare:
			return i, w.Object == e.Object && w.Size == e.Size
		}
	}
	return -1, true
}

const number = `(-?\d{1,9}( '.*')?|-?\d{1,9}\.\d+|true|false)`

var (
	// A number, or two of an operation that changes one. Longer numbers may be times, hashes or addresses.
	plain   = regexp.MustCompile(`^` + number + `( → ` + number + `)?$`)
	unnamed = regexp.MustCompile(`^stack of `)
)

// numbersDiffer reports whether two corresponding accesses of one variable have different numbers. Addresses, times and names
// may differ in executions that do the same, and so does what has no name.
func (x *comparer) numbersDiffer(i, j int) bool {
	a, b := x.a.cells[i], x.b.cells[j]
	return a.Value != b.Value && plain.MatchString(a.Value) && plain.MatchString(b.Value) &&
		a.Object != "" && x.a.event(i).Size == x.b.event(j).Size && !unnamed.MatchString(a.Object) &&
		x.a.neutral(a.Object) == x.b.neutral(b.Object)
}

// differs reports whether two corresponding operations had different results, as far as that means something.
func (x *comparer) differs(i, j int) bool {
	op := x.a.event(i).Op
	switch ops.Of(op).Of {
	case ops.Memory:
		return x.numbersDiffer(i, j)
	case ops.Block, ops.Timer, ops.Thread:
		return false // sizes, times and names
	}
	return ops.Does(op) != ops.Sleep && x.a.neutral(x.a.cells[i].Value) != x.b.neutral(x.b.cells[j].Value)
}
