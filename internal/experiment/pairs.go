package experiment

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// mostShared is how many memory instructions SharedSites returns at most.
	mostShared = 64
	// mostThreads is how many other threads' events Extents looks at for one.
	mostThreads = 16
	// mostSame is how many pairs of the same two instructions are worth turning.
	mostSame = 4
)

// Parts returns the instructions of operations on channels. What Go's runtime tells the race detector there are not accesses of
// the program: a thread that stopped at one would be in the middle of its operation.
func Parts(t *trace.Trace) map[trace.Site]bool {
	parts := map[trace.Site]bool{}
	for i := range t.Events {
		if ev := &t.Events[i]; ops.Of(ev.Op).Of == ops.Channel {
			parts[ev.Site] = true
		}
	}
	return parts
}

// Halfway returns, for each operation on a channel in whose middle another thread closes that, the close and what follows of the operation: a send or
// receive that does not wait first looks at the channel.
func Halfway(t *trace.Trace) (out [][2]int) {
	begun := map[trace.ThreadID]int{} // the last operation of each thread
	closed := map[trace.Object]int{}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		if b, ok := begun[ev.Thread]; ok && ev.Op.IsAccess() && t.Events[b].Site == ev.Site {
			channel := t.Events[b].Object
			if c, ok := closed[channel]; ok && c > b && t.Events[c].Thread != ev.Thread && ev.Object-trace.Object(ev.Object.Offset()) == channel-trace.Object(channel.Offset()) {
				out = append(out, [2]int{c, i})
			}
			continue
		}
		delete(begun, ev.Thread)
		if ops.Of(ev.Op).Of == ops.Channel {
			begun[ev.Thread] = i
			if ev.Op == trace.OpChanClose {
				closed[ev.Object] = i
			}
		}
	}
	slices.Reverse(out)
	return out
}

// SharedSites returns the instructions of accesses to memory that another thread accesses, too, one of the two
// writing: the last before the failure first, at most mostShared.
func SharedSites(t *trace.Trace) []trace.Site {
	return sharedSites(t, func(int) report.Origin { return report.OwnEvent })
}

// sharedSites is SharedSites, but those of lower origin come first.
func sharedSites(t *trace.Trace, origin func(event int) report.Origin) (sites []trace.Site) {
	parts := Parts(t)
	pairs := Conflicts(t, func(ev *trace.Event) bool { return (ev.Op.IsAccess() || ev.Op == trace.OpFree) && !parts[ev.Site] })
	origins := map[trace.Site]report.Origin{}
	for _, p := range slices.Backward(pairs) {
		for _, e := range p {
			if s := t.Events[e].Site; s != 0 {
				if _, known := origins[s]; !known {
					sites = append(sites, s)
					origins[s] = origin(e)
				}
			}
		}
	}
	slices.SortStableFunc(sites, func(a, b trace.Site) int { return cmp.Compare(origins[a], origins[b]) })
	return sites[:min(len(sites), mostShared)]
}

// Dependent returns the pairs to turn, the nearest to the failure first, and whether these are all.
func Dependent(t *trace.Trace) (out [][2]int, complete bool) {
	all := Conflicts(t, func(ev *trace.Event) bool {
		return ev.Flags&trace.FlagNoDecision == 0 && ops.Of(ev.Op).Of != ops.Execution && (ops.Of(ev.Op).Of != ops.Thread || ev.Op == trace.OpResume)
	})
	seen := places{}
	all = append(all, lifted(t, all)...)
	slices.SortStableFunc(all, func(a, b [2]int) int { return cmp.Compare(a[1], b[1]) })
	for _, p := range slices.Backward(all) {
		if seen.few(t, p) {
			out = append(out, p)
		}
	}
	return out, len(out) == len(all)
}

// places counts pairs of the same two instructions.
type places map[[2]trace.Site]int

// few counts a pair, and reports whether it is among the first mostSame of its two instructions.
func (n places) few(t *trace.Trace, p [2]int) bool {
	k := [2]trace.Site{t.Events[p[0]].Site, t.Events[p[1]].Site}
	n[k]++
	return n[k] <= mostSame
}

// lifted returns, for the pairs of accesses that are in critical sections of one lock, the acquisitions: only the sections
// can be turned as a whole. Those that are among the pairs already are left out.
func lifted(t *trace.Trace, pairs [][2]int) (out [][2]int) {
	known := map[[2]int]bool{}
	wanted := map[int][]held{}
	for _, p := range pairs {
		known[p] = true
		wanted[p[0]], wanted[p[1]] = nil, nil
	}
	now := map[trace.ThreadID][]held{}
	for i := range t.Events {
		ev := &t.Events[i]
		if lock := ops.ReleasesAt(t, i); lock != 0 {
			now[ev.Thread] = slices.DeleteFunc(now[ev.Thread], func(h held) bool { return h.lock == lock })
		}
		if lock := ops.AcquiresAt(t, i); lock != 0 && ops.Of(ev.Op).Done(ev) && ev.Flags&trace.FlagNoDecision == 0 {
			now[ev.Thread] = append(now[ev.Thread], held{lock, i})
		}
		if _, ok := wanted[i]; ok && ev.Op.IsAccess() {
			wanted[i] = slices.Clone(now[ev.Thread])
		}
	}
	for _, p := range pairs {
		for _, a := range wanted[p[0]] {
			for _, b := range wanted[p[1]] {
				if q := [2]int{a.at, b.at}; a.lock == b.lock && a.at < b.at && !known[q] {
					known[q] = true
					out = append(out, q)
				}
			}
		}
	}
	return out
}

// held is a lock that a thread has, and the event by which it acquired it.
type held struct {
	lock trace.Object
	at   int
}

// Interruptions returns pairs for accesses p and c of one thread to one object, between which other threads access it
// more than once: p and the last of the others, and the first of them and c, the nearest to the failure first. Turning two
// neighbours leaves an access in between.
func Interruptions(t *trace.Trace) (out [][2]int) {
	type own struct{ thread, object uint64 }
	last := map[own]int{}
	words := map[uint64][]int{} // the accesses to each word of memory
	for i := range t.Events {
		ev := &t.Events[i]
		if !ev.Op.IsAccess() || ev.Flags&trace.FlagNoDecision != 0 || ev.Object.Region() == trace.RegionStack {
			continue
		}
		first, end := uint64(ev.Object)/8, (uint64(ev.Object)+uint64(min(max(ev.Size, 1), interruptedMost))-1)/8+1
		k := own{uint64(ev.Thread), uint64(ev.Object)}
		if p, ok := last[k]; ok {
			from, to := i, p // the first and the last of the others
			for word := first; word < end; word++ {
				for _, n := range slices.Backward(words[word]) {
					if n <= p {
						break
					}
					if r := &t.Events[n]; r.Thread != ev.Thread && race.Overlap(r, ev) && !(readsOnly(r) && readsOnly(ev) && readsOnly(&t.Events[p])) {
						from, to = min(from, n), max(to, n)
					}
				}
			}
			if from < to {
				out = append(out, [2]int{from, i}, [2]int{p, to}) // reversed below
			}
		}
		last[k] = i
		for word := first; word < end; word++ {
			words[word] = append(words[word], i)
		}
	}
	slices.Reverse(out)
	seen := places{}
	return slices.DeleteFunc(out, func(p [2]int) bool { return !seen.few(t, p) })
}

// Broken returns, for accesses p and c of one thread to the same memory, one after the other, with accesses of another thread in
// between that no serial order of the two allows (CTrigger, ASPLOS'09, section 2), p with the last of those and the first of them with
// c. Updates that are lost come first, then checks that no longer hold; among each, the nearest to the failure. Most failures of programs
// that access a variable in thousands of places depend on one of these few.
func Broken(t *trace.Trace) (out [][2]int) {
	type own struct {
		thread trace.ThreadID
		object trace.Object
	}
	last := map[own]int{}
	since := map[own][]int{} // the reads since the thread's last write
	accesses := map[trace.Object][]int{}
	var kinds [3][][2]int
	for i := range t.Events {
		ev := &t.Events[i]
		if !ev.Op.IsAccess() || ev.Object == 0 || ev.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		k := own{ev.Thread, ev.Object}
		if p, ok := last[k]; ok {
			one, three := readsOnly(&t.Events[p]), readsOnly(ev)
			from, to := -1, -1
			for _, r := range slices.Backward(accesses[ev.Object]) {
				if r <= p {
					break
				}
				if two := readsOnly(&t.Events[r]); !two && (one || three) || two && !one && !three {
					if from = r; to < 0 {
						to = r
					}
				}
			}
			if from >= 0 {
				kind := 2
				switch {
				case one && !three:
					kind = 0
				case one:
					kind = 1
				}
				kinds[kind] = append(kinds[kind], [2]int{from, i}) // reversed below
				for _, read := range since[k][max(0, len(since[k])-mostSame):] {
					if read != p && kind == 0 { // what is written may come from an earlier read
						kinds[kind] = append(kinds[kind], [2]int{read, to})
					}
				}
				kinds[kind] = append(kinds[kind], [2]int{p, to})
			}
		}
		last[k] = i
		if since[k] = append(since[k], i); !readsOnly(ev) {
			since[k] = nil
		}
		accesses[ev.Object] = append(accesses[ev.Object], i)
	}
	for _, pairs := range kinds {
		slices.Reverse(pairs)
		out = append(out, pairs[:min(len(pairs), mostShared/2)]...)
	}
	return out
}

// Extents returns pairs of an event and the last, or the first, one of another thread that depends on it, where that thread has several:
// turning neighbours moves only one of them. Acquisitions stand for their critical sections. The nearest to the failure come first.
func Extents(t *trace.Trace) (out [][2]int) {
	n := len(t.Events)
	out = extents(t, n, func(i int) int { return n - 1 - i })
	out = append(out, extents(t, n, func(i int) int { return i })...)
	slices.SortStableFunc(out, func(a, b [2]int) int { return cmp.Compare(b[1], a[1]) })
	return out
}

// extents looks at n events, the ith of which is at(i). It returns pairs of an event and the one of another thread that depends on it and
// is the farthest of several before it, in that order.
func extents(t *trace.Trace, n int, at func(int) int) (out [][2]int) {
	type of struct {
		object trace.Object
		thread trace.ThreadID
	}
	type theirs struct {
		farthest, n int
		writes      bool // one of them does more than read
	}
	met := map[of]*theirs{} // before the event that is looked at
	threads := map[trace.Object][]trace.ThreadID{}
	for i := range n {
		e := at(i)
		ev := &t.Events[e]
		object, kind := ev.Object, ops.Of(ev.Op)
		if lock := ops.AcquiresAt(t, e); lock != 0 {
			object = lock
		} else if kind.Of != ops.Memory {
			continue
		}
		if object == 0 || ev.Flags&trace.FlagNoDecision != 0 || object.Region() == trace.RegionStack {
			continue
		}
		for _, th := range threads[object][max(0, len(threads[object])-mostThreads):] {
			other := met[of{object, th}]
			if th == ev.Thread || other.n < 2 || readsOnly(ev) && !other.writes {
				continue
			}
			out = append(out, [2]int{min(e, other.farthest), max(e, other.farthest)})
		}
		own := met[of{object, ev.Thread}]
		if own == nil {
			own = &theirs{farthest: e}
			met[of{object, ev.Thread}] = own
			threads[object] = append(threads[object], ev.Thread)
		}
		own.n++
		own.writes = own.writes || !readsOnly(ev)
	}
	slices.SortStableFunc(out, func(a, b [2]int) int { return cmp.Compare(b[1], a[1]) })
	seen := places{}
	out = slices.DeleteFunc(out, func(p [2]int) bool { return !seen.few(t, p) })
	return out[:min(len(out), mostShared)]
}

// Selects returns pairs of a select with what other threads do with channels, since its event does not say which channels it waits
// for: each thread's last operation on a channel before it, and the last close, what follows it up to the next select, and the first
// operation of a thread that has used no channel so far, such as one that cancels a context.
func Selects(t *trace.Trace) (out [][2]int) {
	talks := func(ev *trace.Event) bool {
		return ev.Op == trace.OpSelect || ops.Does(ev.Op) == ops.Communicate
	}
	begun := map[trace.ThreadID]int{} // a thread's first operation
	last := map[trace.ThreadID]int{}  // on a channel
	closed := map[trace.ThreadID]int{}
	chosen := -1 // the last select
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Flags&trace.FlagNoDecision != 0 || ops.Does(ev.Op) == ops.Start || ops.Does(ev.Op) == ops.Finish {
			continue
		}
		if _, ok := begun[ev.Thread]; !ok {
			begun[ev.Thread] = i
		}
		if !talks(ev) {
			continue
		}
		if chosen >= 0 && t.Events[chosen].Thread != ev.Thread {
			out = append(out, [2]int{chosen, i})
		}
		if ev.Op == trace.OpSelect {
			for _, th := range slices.Sorted(maps.Keys(begun)) {
				if th == ev.Thread {
					continue
				}
				n, ok := last[th]
				if c, has := closed[th]; has && c != n {
					out = append(out, [2]int{c, i})
				}
				if ok {
					out = append(out, [2]int{n, i})
				} else if th != 0 {
					out = append(out, [2]int{begun[th], i})
				}
			}
			chosen = i
		}
		last[ev.Thread] = i
		if ev.Op == trace.OpChanClose {
			closed[ev.Thread] = i
		}
	}
	slices.Reverse(out)
	return out[:min(len(out), mostShared)]
}

// interruptedMost is how many bytes of an access Interruptions looks at.
const interruptedMost = 4096

func readsOnly(ev *trace.Event) bool {
	does := ops.Does(ev.Op)
	return does == ops.Read || does == ops.AtomicRead
}

// Conflicts returns the pairs of events of different threads that depend on each other and have no event in
// between that depends on both, in the order of the second.
func Conflicts(t *trace.Trace, counts func(*trace.Event) bool) (out [][2]int) {
	objects := map[uint64]*word{}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Object == 0 || !counts(ev) {
			continue
		}
		changes, object, does := true, ev.Object, ops.Does(ev.Op)
		if lock := ops.AcquiresAt(t, i); lock != 0 && lock != object { // a wait on a condition that returns
			object, does = lock, ops.Acquire
		}
		switch does {
		case ops.None, ops.Announce, ops.Resume, ops.Continue, ops.Leave, ops.Depart, ops.Release, ops.ReleaseShared, ops.Allocate:
			continue // an acquisition stands for its critical section
		case ops.Read, ops.AtomicRead, ops.Inspect:
			changes = false
		}
		met := map[int]bool{}
		memory := ops.Of(ev.Op).Of == ops.Memory || ops.Of(ev.Op).Of == ops.Block
		size := uint64(1)
		if memory {
			size = min(max(uint64(ev.Size), 1), 256)
		}
		from, end := uint64(object), uint64(object)+size
		for at := from; at < end; {
			key, bytes, next := at, byte(1), at+1
			if memory {
				key, next = at&^7, at&^7+8
				bytes = 0xff << (at - key)
				if next > end {
					bytes &= 0xff >> (next - end)
				}
			}
			w := objects[key]
			if w == nil {
				w = &word{}
				objects[key] = w
			}
			for _, first := range w.meets(t, i, bytes, changes) {
				met[first] = true
			}
			at = next
		}
		for _, first := range slices.Sorted(maps.Keys(met)) {
			if !memory || race.Overlap(&t.Events[first], ev) {
				out = append(out, [2]int{first, i})
			}
		}
	}
	return out
}

// word has the accesses to a word of memory that a later one depends on. Another object has only the first byte.
type word struct {
	writes, reads []part
}

// part is some of the bytes of a word and the last event that accessed them.
type part struct {
	event int
	bytes byte
}

// meets adds event i, which accesses some of the bytes, and returns the events of other threads that it depends on.
func (w *word) meets(t *trace.Trace, i int, bytes byte, changes bool) (out []int) {
	others := func(parts []part) {
		for _, p := range parts {
			if p.bytes&bytes != 0 && t.Events[p.event].Thread != t.Events[i].Thread {
				out = append(out, p.event)
			}
		}
	}
	less := func(parts []part, is func(e int) bool) []part {
		for k := range parts {
			if is(parts[k].event) {
				parts[k].bytes &^= bytes
			}
		}
		return slices.DeleteFunc(parts, func(p part) bool { return p.bytes == 0 })
	}
	others(w.writes)
	if changes {
		others(w.reads)
		all := func(int) bool { return true }
		w.writes, w.reads = append(less(w.writes, all), part{i, bytes}), less(w.reads, all)
		return out
	}
	own := func(e int) bool { return t.Events[e].Thread == t.Events[i].Thread }
	w.reads = append(less(w.reads, own), part{i, bytes})
	return out
}
