package report

import (
	"cmp"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// sharedEvents returns, by event, whether another thread could notice it: it creates or joins a
// thread, ends the execution, or involves an object that another thread accesses in this trace,
// unless all of them only read it.
func sharedEvents(tr *trace.Trace, names Names) []bool {
	shared := make([]bool, len(tr.Events))
	touched := newTouches(names, tr.Allocs)
	for i := range tr.Events {
		e := &tr.Events[i]
		shared[i] = ops.Of(e.Op).Noticed
		if e.Overtakes() { // the finding may depend on it
			shared[i] = true
		}
		touched.each(i, e, func(k extent, write bool) { touched.add(k, e.Thread, write) })
	}
	for i := range tr.Ending.Waiters { // they had reached the lock
		if w := &tr.Ending.Waiters[i]; w.Object != 0 && w.Op != trace.OpThreadJoin {
			touched.add(touched.key(w.Object, 1, len(tr.Events)), w.Thread, true)
		}
	}
	if end := &tr.Ending; end.Object != 0 && (end.Kind == trace.Misuse || end.Kind == trace.Signal || end.Kind == trace.Race || end.Child != nil) {
		// The failed access may not have been recorded as an event.
		touched.add(touched.key(end.Object, 1, len(tr.Events)), end.Thread, true)
	}
	if i := forkOf(tr); i >= 0 {
		shared[i] = true
	}
	touched.merge()
	for i := range tr.Events {
		e := &tr.Events[i]
		if !shared[i] {
			touched.each(i, e, func(k extent, write bool) {
				shared[i] = shared[i] || touched.others(k, e.Thread, write)
			})
		}
	}
	return shared
}

// extent is a range of memory during one lifetime: heap memory that is freed and allocated again is
// a different extent.
type extent struct {
	block int // index of the heap block, or -1
	o     trace.Object
	size  uint64
}

// crowd is a set of threads that stores one member and whether there are more.
type crowd struct {
	one  trace.ThreadID
	some bool
	many bool
}

func (c *crowd) add(t trace.ThreadID) {
	if c.some && c.one != t {
		c.many = true
	}
	c.one, c.some = t, true
}

func (c *crowd) join(d crowd) {
	if d.some {
		c.add(d.one)
		c.many = c.many || d.many
	}
}

// besides reports whether the set has a thread other than t.
func (c crowd) besides(t trace.ThreadID) bool { return c.many || c.some && c.one != t }

type users struct{ readers, writers crowd }

// touches records which threads access which extents.
type touches struct {
	names  Names
	allocs []trace.Alloc
	own    map[extent]*users // users of exactly these bytes
	all    map[extent]*users // users of any overlapping bytes; set by merge
}

func newTouches(names Names, allocs []trace.Alloc) *touches {
	return &touches{names: names, allocs: allocs, own: map[extent]*users{}}
}

// key returns the extent at o as of event i.
func (x *touches) key(o trace.Object, size uint32, i int) extent {
	return extent{x.names.Block(o, i), o, max(uint64(size), 1)}
}

// each calls f for each extent that an event accesses.
func (x *touches) each(i int, e *trace.Event, f func(k extent, write bool)) {
	if e.Object == 0 {
		return
	}
	switch spec := ops.Of(e.Op); spec.Does {
	case ops.Free:
		k := x.key(e.Object, e.Size, i)
		if k.block >= 0 && k.block < len(x.allocs) {
			k.size = max(k.size, x.allocs[k.block].Size)
		}
		f(k, true)
	case ops.Read, ops.AtomicRead:
		f(x.key(e.Object, e.Size, i), false)
	case ops.Write, ops.AtomicWrite, ops.Exchange, ops.Compare:
		f(x.key(e.Object, e.Size, i), true)
	case ops.Start, ops.Finish, ops.Exit, ops.Create, ops.Allocate, ops.Observe, ops.Publish, ops.Merge, ops.Renew, ops.Selected:
	default: // synchronisation: the second thread sees the effect of the first
		f(x.key(e.Object, 1, i), true)
		if spec.Aux == ops.ObjectName && e.Aux != 0 {
			f(x.key(trace.Object(e.Aux), 1, i), true)
		}
	}
}

func (x *touches) add(k extent, t trace.ThreadID, write bool) {
	u := x.own[k]
	if u == nil {
		u = &users{}
		x.own[k] = u
	}
	if write {
		u.writers.add(t)
	} else {
		u.readers.add(t)
	}
}

// merge gives each extent the users of all extents that overlap it.
func (x *touches) merge() {
	keys := make([]extent, 0, len(x.own))
	for k := range x.own {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b extent) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.o, b.o), cmp.Compare(a.size, b.size))
	})
	x.all = make(map[extent]*users, len(keys))
	var open []extent // extents that may overlap the next one
	for _, k := range keys {
		u := *x.own[k]
		x.all[k] = &u
		open = slices.DeleteFunc(open, func(p extent) bool { return p.block != k.block || uint64(p.o)+p.size <= uint64(k.o) })
		for _, p := range open {
			x.all[p].readers.join(x.own[k].readers)
			x.all[p].writers.join(x.own[k].writers)
			u.readers.join(x.own[p].readers)
			u.writers.join(x.own[p].writers)
		}
		open = append(open, k)
	}
}

// others reports whether a thread other than t has an access to k that conflicts with t's.
func (x *touches) others(k extent, t trace.ThreadID, write bool) bool {
	u := x.all[k]
	return u.writers.besides(t) || write && u.readers.besides(t)
}
