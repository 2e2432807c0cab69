package race

import (
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// kind is the kind of an access, as far as races are concerned.
type kind uint8

const (
	none kind = iota
	plainRead
	plainWrite
	volatileRead // volatile is plain, but for assembly
	volatileWrite
	atomicRead
	atomicWrite
	// Of inline assembly, and of volatile accesses to what it had accessed before: those are the plain loads and stores beside it, as
	// C has no others.
	assemblyRead
	assemblyWrite
	lifetime   // of an operation that begins or ends the lifetime of an object; a use is an atomicRead
	allocation // of a block, whose later accesses it races with; it is not checked against earlier ones
)

// conflicts[k] are the kinds that an access of kind k races with, as bits.
var conflicts = [...]uint16{
	plainRead:     writes | atomicWrites,
	plainWrite:    reads | writes | atomicWrites,
	volatileRead:  writes | 1<<atomicWrite,
	volatileWrite: plainReads | 1<<atomicRead | writes | 1<<atomicWrite,
	atomicRead:    writes,
	atomicWrite:   plainReads | writes,
	assemblyRead:  writes &^ volatiles,
	assemblyWrite: (plainReads | writes) &^ volatiles,
	lifetime:      reads | writes | atomicWrites,
	allocation:    reads | writes | atomicWrites,
}

const (
	volatiles    = 1<<volatileRead | 1<<volatileWrite
	plainReads   = 1<<plainRead | 1<<volatileRead
	reads        = plainReads | 1<<atomicRead | 1<<assemblyRead
	atomicWrites = 1<<atomicWrite | 1<<assemblyWrite
	writes       = 1<<plainWrite | 1<<volatileWrite | 1<<lifetime | 1<<allocation
)

// beside adds what an event's flags say of its kind of access.
func (k kind) beside(f trace.Flags) kind {
	switch {
	case k == plainRead && f&trace.FlagVolatile != 0:
		return volatileRead
	case k == plainWrite && f&trace.FlagVolatile != 0:
		return volatileWrite
	case k == atomicRead && f&(trace.FlagVolatile|trace.FlagAssembly) != 0:
		return assemblyRead
	case k == atomicWrite && f&(trace.FlagVolatile|trace.FlagAssembly) != 0:
		return assemblyWrite
	}
	return k
}

// meetsAssembly reports whether two accesses do not race only because inline assembly made one, and a volatile access the other. It
// may still matter which comes first.
func (k kind) meetsAssembly(o kind) bool {
	return k == assemblyWrite && volatiles>>o&1 != 0 || k == assemblyRead && o == volatileWrite ||
		o == assemblyWrite && volatiles>>k&1 != 0 || o == assemblyRead && k == volatileWrite
}

func (k kind) conflictsWith(o kind) bool { return conflicts[k]>>o&1 != 0 }

// covers reports whether every kind that races with o also races with k.
func (k kind) covers(o kind) bool {
	return conflicts[o]&^conflicts[k] == 0 && (k == o || o < volatileRead || o > assemblyWrite || o == atomicRead || o == atomicWrite)
}

func kindOf(e *trace.Event) kind {
	switch e.Op.Class() {
	case trace.ClassRead:
		return plainRead
	case trace.ClassWrite:
		return plainWrite
	case trace.ClassALoad:
		return atomicRead
	case trace.ClassAStore:
		return atomicWrite
	case trace.ClassARMW:
		if e.Op == trace.OpAtomicCas && e.Result == 0 {
			return atomicRead
		}
		return atomicWrite
	}
	return none
}

// Detector processes an execution event by event and collects its races. Its memory grows with the
// bytes accessed and the instructions that access each, not with the number of events. It is not
// safe for concurrent use.
type Detector struct {
	engine *hb.Engine
	shadow shadow
	events int
	memory int64 // limit of the shadow in bytes, 0 for none
	full   int   // number of events at which the limit was exceeded, 0 if it was not

	ids   map[Access]uint32 // numbers of instructions
	names []Access
	cache [1 << 10]struct {
		name Access
		id   uint32 // + 1
	}

	found map[[2]uint32]struct{}
	seen  []Race

	beside map[trace.Site]struct{} // see Beside

	closed map[trace.Object]bool // descriptors closed and not seen open since

	known   *hb.Clock // what all live threads know, as of event knownAt
	knownAt int
	epoch   hb.Epoch // of the current event
	clock   *hb.Clock
	// unhooked: the event is a call by code without access hooks, which races with no allocation.
	unhooked bool
}

// Bounded returns a detector at the start of an execution. If the remembered accesses exceed memory
// bytes, it forgets all of them and examines no more: see Full. Zero means no bound.
func Bounded(memory int64) *Detector {
	d := &Detector{memory: memory, engine: hb.ForAccesses(), ids: map[Access]uint32{}, found: map[[2]uint32]struct{}{}, closed: map[trace.Object]bool{}, knownAt: -1 << 30}
	d.shadow.roots = map[uint64]*node{}
	d.shadow.compactAt = compactAt
	return d
}

// Event processes the next event. A thread that no event created must appear before any access of
// another thread that races with one of its own.
func (d *Detector) Event(e *trace.Event) {
	if ops.LifetimeOf(e.Op) != ops.Apart && d.full == 0 {
		d.living(e)
		d.events++
		return
	}
	d.engine.Event(e)
	index := d.events
	d.events++
	if d.full != 0 {
		return
	}
	k := kindOf(e).beside(e.Flags)
	if k == none {
		if e.Allocates() {
			d.allocated(e, index)
		}
		return
	}
	lo, size := e.Object.Bytes(uint64(e.Size))
	if size == 0 {
		switch e.Op {
		case trace.OpReadRange, trace.OpWriteRange, trace.OpFree:
			return // no bytes were accessed
		}
		size = 1 // an access whose size was not recorded
	}
	if e.Object == 0 {
		return
	}
	d.access(e, index, lo, lo+size, k, d.engine.Clock(e.Thread))
}

// allocatedBytes is the size up to which a block is written by its allocation.
const allocatedBytes = 64 << 20

// allocated processes event number index, an allocation. It is a write of the block if code with access hooks
// made it: the order that other code establishes may be unknown.
func (d *Detector) allocated(e *trace.Event, index int) {
	d.reset(e.Object, e.Bytes())
	lo, size := e.Object.Bytes(min(e.Bytes(), allocatedBytes))
	if size == 0 || !e.Hooked() {
		return
	}
	d.engine.Arrive(e.Thread)
	d.access(e, index, lo, lo+size, allocation, d.engine.Clock(e.Thread))
}

// living processes an operation on a synchronisation object or a descriptor. It checks the operation against
// those that begin or end the object's lifetime and against plain accesses to its first byte, with what
// happened before the operation, without what that acquires: a lock of a mutex is not ordered after the
// initialisation of the mutex by an unlock in between.
func (d *Detector) living(e *trace.Event) {
	o, l := ops.Lifetimes(e)
	if o == 0 || ops.Of(e.Op).Of == ops.Descriptor && !d.open(o, l, e) {
		d.engine.Event(e)
		return
	}
	k := atomicRead
	if l == ops.Bound {
		k = lifetime
	}
	lo, _ := o.Bytes(1)
	if ops.Acquires(e) != 0 || ops.Does(e.Op) == ops.Down {
		if before := d.engine.Newcomer(e.Thread); before != nil {
			d.engine.Event(e)
			d.engine.Arrive(e.Thread)
			d.access(e, d.events, lo, lo+1, k, before)
			return
		}
	}
	d.engine.Arrive(e.Thread)
	d.access(e, d.events, lo, lo+1, k, d.engine.Clock(e.Thread))
	d.engine.Event(e)
}

// open follows which descriptors are open, and reports whether an operation on one can race. A number
// that was closed and is in use again names another descriptor, with which the earlier operations cannot
// race. Only a failed use races with the close before it.
func (d *Detector) open(o trace.Object, l ops.Lifetime, e *trace.Event) bool {
	failed := e.Result == ops.NotOpen
	if l == ops.Renewal || d.closed[o] && !failed {
		d.reset(o, 1)
	}
	races := l != ops.Renewal && (d.closed[o] || !failed)
	if !failed {
		d.closed[o] = l == ops.Bound
	}
	return races
}

// access checks event number index, an access to bytes [lo, hi), against earlier accesses and remembers it.
// before is what happened before it.
func (d *Detector) access(e *trace.Event, index int, lo, hi uint64, k kind, before *hb.Clock) {
	d.clock = before
	d.unhooked = (e.Op == trace.OpFree || e.Op == trace.OpReadRange || e.Op == trace.OpWriteRange) && !e.Hooked()
	d.epoch = d.engine.Epoch(e.Thread)
	d.shadow.access(d, lo, hi, record{at: d.epoch, event: uint32(index), access: d.number(Access{e.Site, e.Op}), stack: e.Stack, thread: e.Thread, kind: k})
	if d.memory > 0 && d.shadow.bytes > d.memory {
		// Much of the shadow may have become free since: accesses to freed memory are
		// dropped.
		if d.shadow.bytes = d.shadow.size(); d.shadow.bytes > d.memory/4*3 {
			d.full = index + 1
			d.shadow = shadow{}
		}
	}
}

// Full returns the number of events at which the detector exceeded its memory limit, 0 if it did
// not. Races with later accesses are not found.
func (d *Detector) Full() int { return d.full }

// Races returns the races found so far, ordered by Pair.
func (d *Detector) Races() []Race {
	slices.SortFunc(d.seen, Race.Compare)
	return slices.Clone(d.seen)
}

// Beside returns the instructions, in ascending order, of inline assembly and of volatile accesses that were plain, by two threads to
// the same memory. They do not race, but the order of two of them may matter.
func (d *Detector) Beside() []trace.Site { return slices.Sorted(maps.Keys(d.beside)) }

func (d *Detector) number(a Access) uint32 {
	c := &d.cache[(uint64(a.Site)*0x9e3779b97f4a7c15>>50^uint64(a.Op))%uint64(len(d.cache))]
	if c.id != 0 && c.name == a {
		return c.id - 1
	}
	id, ok := d.ids[a]
	if !ok {
		id = uint32(len(d.names))
		d.ids[a] = id
		d.names = append(d.names, a)
	}
	c.name, c.id = a, id+1
	return id
}

// report records the race of an earlier access with the current one on bytes [lo, hi).
func (d *Detector) report(old, now *record, lo, hi uint64) {
	pair := [2]uint32{old.access, now.access}
	if pair[0] > pair[1] {
		pair[0], pair[1] = pair[1], pair[0]
	}
	if _, ok := d.found[pair]; ok {
		return
	}
	d.found[pair] = struct{}{}
	r := Race{
		Pair:  [2]Access{d.names[old.access], d.names[now.access]},
		First: int(old.event), Second: int(now.event), Event: int(now.event),
		Object: trace.ObjectAt(lo), Size: uint32(hi - lo),
	}
	for i, side := range [2]*record{old, now} {
		r.Witness[i] = trace.Access{
			Thread: side.thread, Op: r.Pair[i].Op, Site: r.Pair[i].Site, Object: r.Object, Size: r.Size, Stack: side.stack,
		}
	}
	r.Normalize()
	d.seen = append(d.seen, r)
}

// races reports whether o, an earlier access to bytes of r, the current one, races with it.
func (d *Detector) races(o, r *record) bool {
	if o.kind.meetsAssembly(r.kind) && o.thread != r.thread { // even if the later one has acquired what the earlier one released
		for _, a := range []uint32{o.access, r.access} {
			if d.beside == nil {
				d.beside = map[trace.Site]struct{}{}
			}
			d.beside[d.names[a].Site] = struct{}{}
		}
	}
	return r.kind != allocation && o.kind.conflictsWith(r.kind) && !d.clock.Covers(o.at) && !(o.kind == allocation && d.unhooked)
}

// everKnown returns what all live threads know. The value may be out of date, which is safe because
// it only grows. Computing it takes one pass over the clocks of all threads, so it is recomputed
// only after a number of events proportional to that cost.
func (d *Detector) everKnown() *hb.Clock {
	if d.events-d.knownAt > d.engine.KnownCost()/4 {
		d.known, d.knownAt = d.engine.Known(), d.events
	}
	return d.known
}
