package race

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Access is an instruction that accesses memory.
type Access struct {
	Site trace.Site `json:"site"`
	Op   trace.Op   `json:"op"`
}

func (a Access) compare(b Access) int {
	return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Op, b.Op))
}

// Race is a pair of instructions that race, with the first racing pair of their events as witness.
type Race struct {
	// Pair is in ascending order; the two may be the same instruction.
	Pair [2]Access `json:"pair"`
	// First and Second are the witness, indices into the execution's events. If the target
	// found the race, First is -1. Either way Second orders the races of an execution by their
	// later access.
	First  int `json:"first"`
	Second int `json:"second"`
	// Event is the number of the recording's events that precede the later access.
	Event int `json:"event"`
	// Witness describes both events, First's and then Second's.
	Witness [2]trace.Access `json:"witness"`
	// Object and Size are bytes that both accessed.
	Object trace.Object `json:"object"`
	Size   uint32       `json:"size"`
}

// Compare orders races by Pair.
func (r Race) Compare(o Race) int {
	return cmp.Or(r.Pair[0].compare(o.Pair[0]), r.Pair[1].compare(o.Pair[1]))
}

// Normalize puts Pair in ascending order, and makes the size unknown if one of the two is an operation on
// a synchronisation object or descriptor, which accesses no particular bytes of it.
func (r *Race) Normalize() {
	if ops.LifetimeOf(r.Pair[0].Op) != ops.Apart || ops.LifetimeOf(r.Pair[1].Op) != ops.Apart {
		r.Size, r.Witness[0].Size, r.Witness[1].Size = 0, 0, 0
	}
	if r.Pair[1].compare(r.Pair[0]) < 0 {
		r.Pair[0], r.Pair[1] = r.Pair[1], r.Pair[0]
	}
}

// Before orders the races of one execution: the race whose later access comes first, and among those
// of one access by Pair.
func (r Race) Before(o Race) int { return cmp.Or(cmp.Compare(r.Second, o.Second), r.Compare(o)) }

// Text describes what an access did: its operation, or what it allocated.
func Text(t *trace.Trace, a *trace.Access) string {
	if a.Op != trace.OpMalloc {
		return a.Op.String()
	}
	if block := allocated(t, a); block != nil {
		return fmt.Sprintf("allocation of %s", wording.Count(int(block.Size), "byte"))
	}
	return "allocation"
}

// Stack returns the call stack of an allocation of the trace, 0 if it is unknown.
func Stack(t *trace.Trace, a *trace.Access) uint32 {
	if block := allocated(t, a); a.Op == trace.OpMalloc && block != nil {
		return block.Stack
	}
	return 0
}

// allocated returns the latest block that an access allocated, nil if the trace lacks it.
func allocated(t *trace.Trace, a *trace.Access) *trace.Alloc {
	if t == nil {
		return nil
	}
	for i := len(t.Allocs) - 1; i >= 0; i-- {
		b := &t.Allocs[i]
		if b.Thread == a.Thread && b.Site == a.Site && b.Object <= a.Object && uint64(a.Object-b.Object) < b.Size {
			return b
		}
	}
	return nil
}

// Allocates reports whether the first access of the race allocates the memory, so that the other cannot come
// before it.
func (r *Race) Allocates() bool {
	return r.Pair[0].Op == trace.OpMalloc || r.Pair[1].Op == trace.OpMalloc
}

// Place returns the bytes at which an event races.
func Place(e *trace.Event) (trace.Object, uint32) {
	if o, l := ops.Lifetimes(e); l != ops.Apart {
		return o, 1
	}
	return e.Object, max(e.Size, 1)
}

// Overlap reports whether two events race at a common byte.
func Overlap(a, b *trace.Event) bool {
	x, m := Place(a)
	y, n := Place(b)
	if x.Region() == trace.RegionStack {
		x, y = y, x // offsets into a stack descend as addresses ascend
		m, n = n, m
	}
	return x <= y && uint64(y-x) < uint64(m) || y <= x && uint64(x-y) < uint64(n)
}

// Sites returns the memory instructions of races, in ascending order, to be made scheduling points.
// It omits all others, which always are.
func Sites(races []Race) []trace.Site {
	var sites []trace.Site
	for _, r := range races {
		for _, a := range r.Pair {
			if a.Op.IsAccess() {
				sites = append(sites, a.Site)
			}
		}
	}
	slices.Sort(sites)
	return slices.Compact(sites)
}
