package atomicity

import (
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// run is the analysis of one recording.
type run struct {
	profile *Profile
	trace   *trace.Trace
	times   []uint64
	fresh   int

	order    *hb.Engine
	locks    ops.State
	blocked  map[int]bool // events of goroutines that blocked
	threads  []thread
	segments []segment
	sets     map[string]int32 // numbers of sets of locks
	members  [][]lock
	pages    map[uint64]use   // by granule / page
	cells    map[uint64]*cell // by granule; only shared ones
	shared   []uint64         // the granules of cells, ascending: evaluated in this order, so that a profile is reproducible
}

// thread is the state of one thread.
type thread struct {
	time    uint64  // events so far
	segment int32   // number + 1; 0: to be determined at the next access
	held    []*hold // in the order of acquisition; never changed in place
	set     int32   // number of the set of its locks
}

// segment is a period of a thread in which creation, join, barriers and once change nothing. Two
// events are ordered by those as their segments are.
type segment struct {
	epoch hb.Epoch
	clock hb.Clock
}

// hold is one critical section: a dynamic lock instance.
type hold struct {
	lock     lock
	site     trace.Site
	acquired uint64 // thread time
	released uint64 // 0: not yet
}

// lock is a lock in one of its modes.
type lock struct {
	number int32
	shared bool
}

// excludes reports whether the two cannot be held by different threads at one time.
func (l lock) excludes(o lock) bool { return l.number == o.number && !(l.shared && o.shared) }

func newRun(p *Profile, t *trace.Trace, times []uint64) *run {
	return &run{
		profile: p, trace: t, times: times, order: hb.Necessary(), threads: make([]thread, len(t.Threads)),
		sets: map[string]int32{"": 0}, members: [][]lock{nil}, pages: map[uint64]use{}, cells: map[uint64]*cell{}, blocked: map[int]bool{},
	}
}

// granule is the unit of memory of which a cell is kept; a mask tells its bytes apart.
const granule = 8

// maxGranules is how much of a large access is looked at, at either end, in granules.
const maxGranules = 1 << 13

// page is how many granules are first told apart together: large ranges mostly lie in pages that one thread accesses.
const page = 512

// granules calls f for the granules of an access, with the bytes accessed in each. It leaves out pages that only one
// thread accesses, and pages without a write.
func (r *run) granules(e *trace.Event, f func(g uint64, mask uint8)) {
	first, n := placeOf(e)
	if n == 0 {
		return
	}
	last := first + n - 1
	parts(first/granule, last/granule, func(from, to uint64) {
		for g := from; g <= to; g++ {
			if g == from || g%page == 0 {
				if u := r.pages[g/page]; u.thread != -1 || !u.writes {
					g |= page - 1
					continue
				}
			}
			mask := uint8(0xff)
			if g == first/granule {
				mask &= 0xff << (first % granule)
			}
			if g == last/granule {
				mask &= 0xff >> (granule - 1 - last%granule)
			}
			f(g, mask)
		}
	})
}

// placeOf returns the bytes of an access.
func placeOf(e *trace.Event) (first, n uint64) {
	first, n = e.Object.Bytes(uint64(e.Size))
	if n == 0 && e.Op != trace.OpReadRange && e.Op != trace.OpWriteRange && e.Op != trace.OpFree {
		n = 1
	}
	return first, n
}

// parts calls f for the granules of an access that are looked at.
func parts(first, last uint64, f func(from, to uint64)) {
	if last-first > 2*maxGranules {
		f(first, first+maxGranules-1)
		first = last - maxGranules
	}
	f(first, last)
}

// use is who accesses some memory, and whether anyone writes it.
type use struct {
	thread trace.ThreadID // -1: several
	writes bool
}

func (u use) with(e *trace.Event, known bool, effect Effect) use {
	if !known {
		u.thread = e.Thread
	}
	if u.thread != e.Thread {
		u.thread = -1
	}
	u.writes = u.writes || effect&Writes != 0
	return u
}

// share makes cells for the granules that several threads access, one of them to write.
func (r *run) share() {
	each := func(f func(e *trace.Event, effect Effect)) {
		for i := range r.trace.Events {
			e := &r.trace.Events[i]
			if effect := effectOf(e); effect != 0 && e.Object != 0 && e.Site != 0 {
				f(e, effect)
			}
		}
	}
	each(func(e *trace.Event, effect Effect) {
		first, n := placeOf(e)
		if n == 0 {
			return
		}
		parts(first/granule, (first+n-1)/granule, func(from, to uint64) {
			for p := from / page; p <= to/page; p++ {
				u, ok := r.pages[p]
				r.pages[p] = u.with(e, ok, effect)
			}
		})
	})
	uses := map[uint64]use{}
	each(func(e *trace.Event, effect Effect) {
		r.granules(e, func(g uint64, _ uint8) {
			u, ok := uses[g]
			u = u.with(e, ok, effect)
			if uses[g] = u; u.thread == -1 && u.writes && r.cells[g] == nil {
				r.cells[g] = &cell{}
			}
		})
	})
}

// block finds the operations in which goroutines blocked: those that an OpResume continues, and those
// that never ended.
func (r *run) block() {
	ahead := make([]trace.Op, len(r.trace.Threads))
	for i := len(r.trace.Events) - 1; i >= 0; i-- {
		e := &r.trace.Events[i]
		if e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		if next := ahead[e.Thread]; e.Op >= trace.OpGo && (next == trace.OpResume || next == trace.OpNone && !r.trace.Threads[e.Thread].Ended) {
			r.blocked[i] = true
		}
		ahead[e.Thread] = e.Op
	}
}

// walk analyses the recording.
func (r *run) walk() {
	r.share()
	r.shared = slices.Sorted(maps.Keys(r.cells))
	r.block()
	allocs := r.trace.Allocs
	for i := range r.trace.Events {
		for len(allocs) > 0 && allocs[0].Event <= i {
			r.renew(allocs[0].Object, allocs[0].Size)
			allocs = allocs[1:]
		}
		e := &r.trace.Events[i]
		t := &r.threads[e.Thread]
		if r.times != nil {
			t.time = r.times[i]
		} else {
			t.time++
		}
		if e.Allocates() {
			r.renew(e.Object, e.Bytes())
		}
		effect := effectOf(e)
		if effect == 0 {
			r.synchronise(t, e, i)
			continue
		}
		r.order.Event(e)
		if e.Object == 0 || e.Site == 0 {
			continue // no bytes are known, or no instruction that could be told apart or held
		}
		var a *access
		r.granules(e, func(g uint64, mask uint8) {
			c := r.cells[g]
			if c == nil {
				return
			}
			if a == nil {
				a = r.access(e, t, effect, i)
			}
			c.access(r, *a, mask)
		})
	}
	for _, g := range r.shared {
		r.cells[g].evaluate(r)
	}
}

// renew begins a new life of some bytes: what accessed them before was another object.
func (r *run) renew(o trace.Object, size uint64) {
	first, n := o.Bytes(size)
	if n == 0 {
		return
	}
	low, high := first/granule, (first+n-1)/granule
	at, _ := slices.BinarySearch(r.shared, low)
	for ; at < len(r.shared) && r.shared[at] <= high; at++ {
		r.cells[r.shared[at]].renew(r)
	}
}

// synchronise processes an event that does not access memory.
func (r *run) synchronise(t *thread, e *trace.Event, index int) {
	r.order.Event(e)
	spec := ops.Of(e.Op)
	switch {
	case spec.Does == ops.Create, spec.Does == ops.Join, spec.Of == ops.Barrier, spec.Of == ops.Once:
		t.segment = 0
	}
	changes := r.locks.ApplyGo(e, r.blocked[index])
	for i := range changes {
		c := &changes[i]
		switch c.Kind {
		case ops.Acquired, ops.AcquiredShared:
			if c.Depth == c.N { // not yet held
				r.hold(&r.threads[c.Thread], c, e.Site)
			}
		case ops.Released, ops.ReleasedShared:
			if c.Depth == 0 {
				r.release(&r.threads[c.Thread], c.Object.Num)
			}
		}
	}
}

func (r *run) hold(t *thread, c *ops.Change, site trace.Site) {
	h := &hold{lock: lock{c.Object.Num, c.Kind == ops.AcquiredShared}, site: site, acquired: t.time}
	t.held = append(slices.Clip(t.held), h)
	t.set = r.set(t.held)
}

func (r *run) release(t *thread, number int32) {
	for i, h := range t.held {
		if h.lock.number == number {
			h.released = t.time
			t.held = slices.Delete(slices.Clone(t.held), i, i+1)
			t.set = r.set(t.held)
			return
		}
	}
}

// set returns the number of the set of some locks.
func (r *run) set(held []*hold) int32 {
	locks := make([]lock, 0, len(held))
	for _, h := range held {
		locks = append(locks, h.lock)
	}
	slices.SortFunc(locks, func(a, b lock) int { return int(a.number) - int(b.number) })
	key := make([]byte, 0, 5*len(locks))
	for _, l := range locks {
		mode := byte(0)
		if l.shared {
			mode = 1
		}
		key = append(key, byte(l.number), byte(l.number>>8), byte(l.number>>16), byte(l.number>>24), mode)
	}
	n, ok := r.sets[string(key)]
	if !ok {
		n = int32(len(r.members))
		r.sets[string(key)] = n
		r.members = append(r.members, locks)
	}
	return n
}

// exclusive reports whether two sets have locks that exclude each other.
func (r *run) exclusive(a, b int32) bool {
	for _, l := range r.members[a] {
		for _, m := range r.members[b] {
			if l.excludes(m) {
				return true
			}
		}
	}
	return false
}

// access describes the current event.
func (r *run) access(e *trace.Event, t *thread, effect Effect, index int) *access {
	if t.segment == 0 {
		s := segment{epoch: r.order.Epoch(e.Thread)}
		s.clock.Join(r.order.Clock(e.Thread))
		r.segments = append(r.segments, s)
		t.segment = int32(len(r.segments))
	}
	n := r.profile.number(Statement{e.Site, e.Op, effect})
	r.profile.accesses[n] = true
	return &access{statement: n, thread: e.Thread, segment: t.segment - 1, set: t.set, event: index, time: t.time, held: t.held, size: e.Size, stack: e.Stack}
}

// before reports whether all events of segment a precede those of segment b in every execution.
func (r *run) before(a, b int32) bool {
	return a != unknown && b != unknown && r.segments[b].clock.Covers(r.segments[a].epoch)
}
