package pattern

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// interleaving returns accesses p, r and c of one object that the ordering is of, or the critical sections that it is of: p and c of one
// thread and r of another between them, so that no order of the two threads without an interruption gives the same values; nil for none.
func (x *Execution) interleaving() []int {
	if x.triple == nil {
		var found []int
		if first, second, ok := x.pair(); ok {
			found = x.interleavingOf(first, second)
		}
		x.triple = &found
	}
	return *x.triple
}

func (x *Execution) interleavingOf(first, second *trace.Event) []int {
	f, s := x.Order.First, x.Order.Second
	if !isAccess(first) || !isAccess(second) {
		var ok bool
		if f, s, ok = x.inside(f, s); !ok {
			return x.across(x.Order.First, x.Order.Second)
		}
	}
	return x.broken(f, s)
}

// broken returns accesses p and c of one thread, one after the other, and r of another on one object, r between the others, so
// that no order of the two threads without an interruption gives the same values (CTrigger, ASPLOS'09, §2); nil for none.
// The first of the pair is p, or the second is c. The other one is r, if it is such an access, and otherwise one of r's thread
// that also comes between p and c.
func (x *Execution) broken(first, second int) (found []int) {
	object := x.event(second).Object
	if x.event(first).Object != object {
		return nil
	}
	at := func(from, to, step int, th trace.ThreadID) int {
		for i := from; i != to; i += step {
			if ev := x.event(i); ev.Thread == th && ev.Object == object && isAccess(ev) && !x.reused(first, i) && !x.reused(second, i) {
				return i
			}
		}
		return -1
	}
	n := len(x.Trace.Events)
	one, two := x.event(first).Thread, x.event(second).Thread
	candidates := []struct {
		p, r, c int
		other   trace.ThreadID // r's
	}{{first, second, at(second+1, n, 1, one), two}, {at(first-1, -1, -1, two), first, second, one}}
	for _, k := range candidates {
		if k.p < 0 || k.c < 0 || x.begins(k.other) > k.p {
			continue
		}
		own := at(k.p+1, k.c, 1, x.event(k.p).Thread)
		if k.p == first { // it is p that the failure depends on, though the thread may read the same again before r
			for own >= 0 && own < k.r && !ops.Changes(x.event(k.p)) && !ops.Changes(x.event(own)) {
				own = at(own+1, k.c, 1, x.event(k.p).Thread)
			}
		}
		if own >= 0 {
			continue
		}
		between := []int{k.r}
		for i := k.p + 1; i < k.c; i++ {
			if i != k.r && at(i, i+1, 1, k.other) == i {
				between = append(between, i)
			}
		}
		for _, r := range between {
			w := [3]bool{ops.Changes(x.event(k.p)), ops.Changes(x.event(r)), ops.Changes(x.event(k.c))}
			if !w[0] && w[2] && ops.Does(x.event(k.c).Op) == ops.Compare {
				continue // it found the value that its thread expected: nothing is lost
			}
			switch w {
			case [3]bool{false, true, false}, [3]bool{true, true, false}, [3]bool{false, true, true}, [3]bool{true, false, true}:
				if !w[0] {
					return []int{k.p, r, k.c}
				}
				if found == nil { // what was read and is no longer true says more
					found = []int{k.p, r, k.c}
				}
			}
		}
	}
	return found
}

// inside returns accesses of one object in the critical sections that begin with two acquisitions of one lock, one
// of them a write.
func (x *Execution) inside(first, second int) (f0, s0 int, found bool) {
	if ops.Does(x.event(first).Op) != ops.Acquire || !x.SameLock(first, second) {
		return 0, 0, false
	}
	a, _ := section(x.Trace, first)
	b, _ := section(x.Trace, second)
	a, b = x.outermost(a), x.outermost(b)
	theirs := map[trace.Object][]int{}
	for _, s := range b {
		o := x.event(s).Object
		theirs[o] = append(theirs[o], s)
	}
	tried, least := 0, 4
	for _, f := range a {
		for _, s := range theirs[x.event(f).Object] {
			if !ops.Changes(x.event(f)) && !ops.Changes(x.event(s)) {
				continue
			}
			if tried++; tried > mostInside {
				return f0, s0, found
			}
			triple := x.broken(f, s)
			if triple == nil {
				continue
			}
			n := 0
			if ops.Changes(x.event(triple[0])) { // what was read and is no longer true says more
				n += 2
			}
			if !x.own(f) || !x.own(s) { // and so does an access of the program's code than one of a library that it calls
				n++
			}
			if n < least {
				f0, s0, found, least = f, s, true, n
			}
			if n == 0 {
				return f0, s0, found
			}
		}
	}
	return f0, s0, found
}

// own reports whether an event is in the program's own code, as far as that is known.
func (x *Execution) own(e int) bool { return x.Own == nil || x.Own(x.Trace, x.event(e).Site) }

// mostInside is how many pairs of accesses in two critical sections are looked at, each in time that grows with the execution.
const mostInside = 200

// outermost returns the first and the last of the accesses that an instruction makes to an object, of each.
func (x *Execution) outermost(accesses []int) []int {
	type access struct {
		site   trace.Site
		object trace.Object
	}
	of := func(e int) access { return access{x.event(e).Site, x.event(e).Object} }
	first, last := map[access]int{}, map[access]int{}
	for _, e := range accesses {
		if _, ok := first[of(e)]; !ok {
			first[of(e)] = e
		}
		last[of(e)] = e
	}
	return slices.DeleteFunc(accesses, func(e int) bool { return e != first[of(e)] && e != last[of(e)] })
}

// across returns unserializable accesses p, r and c of one object where p is in the critical section that begins with one
// acquisition of a lock, c in a later one of the same thread, and r, of the other acquisition's thread, after that acquisition.
func (x *Execution) across(first, second int) []int {
	if !x.SameLock(first, second) {
		return nil
	}
	one, two := x.event(first).Thread, x.event(second).Thread
	accesses, _ := section(x.Trace, first)
	for _, p := range accesses {
		for r := second + 1; r < len(x.Trace.Events); r++ {
			ev := x.event(r)
			if ev.Object != x.event(p).Object || !isAccess(ev) {
				continue
			}
			if ev.Thread == one {
				break // c of an interleaving without r
			}
			if ev.Thread != two || !ops.Changes(ev) {
				continue
			}
			if triple := x.broken(p, r); triple != nil && x.event(triple[0]).Thread == one {
				return triple
			}
		}
	}
	return nil
}

// Reads reports whether an event is an access to memory that only reads.
func (x *Execution) Reads(i int) bool { return isAccess(x.event(i)) && !ops.Changes(x.event(i)) }
