package symbol

import (
	"encoding/binary"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// ObjectsAs is Objects, but an object has the name that it has in another trace of the program, as. Blocks that as does not have are
// numbered after its own. The numbers of a Go program's objects
// depend on the order, and on how much was recorded: what as does not have, or what may be several objects there, has no number.
func (t *Table) ObjectsAs(tr, as *trace.Trace, pointers ...Pointer) *Objects {
	if tr == as {
		return t.Objects(tr, pointers...)
	}
	o := t.Objects(tr)
	if !o.golang {
		o.numbers, o.as = blockNumbers(tr, as), t.Objects(as, pointers...)
	} else {
		o.types.as, o.types.there = correspondence(tr, as), t.goTypes(as.Types).objects
	}
	o.addLocals(tr, as)
	return o
}

// addLocals adds what another trace knows of places on a stack that this one knows nothing of: where the same thread does the same there,
// the same variable lies there.
func (o *Objects) addLocals(tr, as *trace.Trace) {
	type use struct {
		place
		o trace.Object
	}
	missing := map[use]trace.Local{}
	for _, l := range as.Locals {
		if o.locals[l.Object] == nil && l.Event < len(as.Events) {
			if e := &as.Events[l.Event]; e.Object == l.Object {
				missing[use{place{as.Threads[e.Thread].Name, e.Op, e.Site}, l.Object}] = l
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	for i := range tr.Events {
		e := &tr.Events[i]
		if l, ok := missing[use{place{tr.Threads[e.Thread].Name, e.Op, e.Site}, e.Object}]; ok && o.locals[l.Object] == nil {
			l.Event = i
			o.locals[l.Object] = []trace.Local{l}
		}
	}
}

// blockNumbers returns the numbers of the blocks of a trace. A block has the number that a block has in another trace which the same thread
// has allocated at the same place, called from the same places, as the same one of its blocks from there.
func blockNumbers(of, as *trace.Trace) []int {
	next, there := numberer(as), map[turn]int{}
	for j := range as.Allocs {
		there[next(j)] = j + 1
	}
	out, more := make([]int, len(of.Allocs)), len(as.Allocs)
	next = numberer(of)
	for i := range of.Allocs {
		n, known := there[next(i)]
		if !known {
			more++
			n = more
		}
		out[i] = n
	}
	return out
}

// turn is one of the blocks that a thread allocates in a call.
type turn struct {
	thread uint64 // its name
	calls  string
	n      int
}

// numberer returns what each of a trace's blocks is, which are asked for in their order.
func numberer(t *trace.Trace) func(alloc int) turn {
	seen := map[turn]int{}
	return func(alloc int) turn {
		a := &t.Allocs[alloc]
		var calls []byte
		calls = binary.LittleEndian.AppendUint64(calls, uint64(a.Site))
		if int(a.Stack) < len(t.Stacks) {
			for _, s := range t.Stacks[a.Stack] {
				calls = binary.LittleEndian.AppendUint64(calls, uint64(s))
			}
		}
		k := turn{calls: string(calls)}
		if int(a.Thread) < len(t.Threads) {
			k.thread = t.Threads[a.Thread].Name
		}
		n := seen[k]
		seen[k]++
		k.n = n
		return k
	}
}

// goNumber returns the number of an object of a Go program; 0 for none.
func goNumber(o trace.Object) uint64 {
	if o.Region() != trace.RegionHeap {
		return 0
	}
	return uint64(o.Offset()) >> goHeapBits
}

// place is what a thread does to an object.
type place struct {
	thread uint64 // its name
	op     trace.Op
	site   trace.Site
}

// correspondence returns the numbers that the objects of one trace of a Go program have in another one. Objects correspond if the same
// thread does the same to them, in its program order, and only if nothing speaks against it.
func correspondence(of, as *trace.Trace) map[uint64]uint64 {
	out, back := map[uint64]uint64{}, map[uint64]uint64{}
	pair := func(a, b uint64) {
		switch x, known := out[a]; {
		case a == 0 || b == 0 || known && x == b:
		case known || back[b] != 0:
			out[a], out[back[b]] = 0, 0 // undecided
		default:
			out[a], back[b] = b, a
		}
	}
	same := true // one execution, recorded twice
	mine, other := synchronised(of), synchronised(as)
	for thread, list := range mine {
		n := 0
		for ; n < len(list) && n < len(other[thread]); n++ {
			a, b := &list[n], &other[thread][n]
			if a.Op != b.Op || a.Site != b.Site {
				break
			}
			pair(goNumber(a.Object), goNumber(b.Object))
		}
		same = same && n == len(list) && n == len(other[thread])
	}
	if same {
		// Either recording may lack what a thread repeats.
		there := firstAccesses(as)
		for p, a := range firstAccesses(of) {
			if b, ok := there[p]; ok {
				pair(goNumber(a.Object), goNumber(b.Object))
				if a.Flags&b.Flags&trace.FlagPointer != 0 {
					pair(goNumber(trace.Object(a.Value)), goNumber(trace.Object(b.Value)))
				}
			}
		}
	}
	there := allocatedOnce(as)
	for k, a := range allocatedOnce(of) {
		pair(a, there[k])
	}
	return out
}

// synchronised returns what each thread does to objects in the heap, without accesses and allocations.
func synchronised(t *trace.Trace) map[uint64][]trace.Event {
	out := map[uint64][]trace.Event{}
	for _, e := range t.Events {
		if goNumber(e.Object) > 0 && !e.Op.IsAccess() && !e.Op.IsCall() && ops.Does(e.Op) != ops.Allocate {
			out[t.Threads[e.Thread].Name] = append(out[t.Threads[e.Thread].Name], e)
		}
	}
	return out
}

func firstAccesses(t *trace.Trace) map[place]*trace.Event {
	out := map[place]*trace.Event{}
	for i := range t.Events {
		if e := &t.Events[i]; e.Op.IsAccess() {
			if p := (place{t.Threads[e.Thread].Name, e.Op, e.Site}); out[p] == nil {
				out[p] = e
			}
		}
	}
	return out
}

// origin is what objects have in common that are allocated in one place.
type origin struct {
	name string
	site trace.Site
}

// allocatedOnce returns the objects that are the only ones of their allocation, and 0 for other allocations.
func allocatedOnce(t *trace.Trace) map[origin]uint64 {
	out := map[origin]uint64{}
	for _, y := range t.Types {
		k := origin{y.Name, y.Site}
		if _, several := out[k]; several || y.Site == 0 {
			out[k] = 0
		} else {
			out[k] = goNumber(y.Object)
		}
	}
	return out
}
