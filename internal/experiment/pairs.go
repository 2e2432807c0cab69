package experiment

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// mostShared is how many memory instructions SharedSites returns at most.
	mostShared = 64
	// mostSame is how many pairs of the same two instructions are worth turning.
	mostSame = 4
)

// SharedSites returns the instructions of accesses to memory that another thread accesses, too, one of the two
// writing: the last before the failure first, at most mostShared.
func SharedSites(t *trace.Trace) []trace.Site {
	var sites []trace.Site
	pairs := Conflicts(t, func(ev *trace.Event) bool { return ev.Op.IsAccess() || ev.Op == trace.OpFree })
	for _, p := range slices.Backward(pairs) {
		for _, e := range p {
			if s := t.Events[e].Site; s != 0 && len(sites) < mostShared && !slices.Contains(sites, s) {
				sites = append(sites, s)
			}
		}
	}
	return sites
}

// Dependent returns the pairs to turn, the nearest to the failure first, and whether these are all.
func Dependent(t *trace.Trace) (out [][2]int, complete bool) {
	all := Conflicts(t, func(ev *trace.Event) bool {
		return ev.Flags&trace.FlagNoDecision == 0 && ops.Of(ev.Op).Of != ops.Thread && ops.Of(ev.Op).Of != ops.Execution
	})
	type places struct{ a, b trace.Site }
	seen := map[places]int{}
	all = append(all, lifted(t, all)...)
	slices.SortStableFunc(all, func(a, b [2]int) int { return cmp.Compare(a[1], b[1]) })
	for _, p := range slices.Backward(all) {
		k := places{t.Events[p[0]].Site, t.Events[p[1]].Site}
		if seen[k]++; seen[k] <= mostSame {
			out = append(out, p)
		}
	}
	return out, len(out) == len(all)
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
		if lock := ops.Releases(ev); lock != 0 {
			now[ev.Thread] = slices.DeleteFunc(now[ev.Thread], func(h held) bool { return h.lock == lock })
		}
		if lock := ops.Acquires(ev); lock != 0 && ops.Of(ev.Op).Done(ev) && ev.Flags&trace.FlagNoDecision == 0 {
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
	type places struct{ a, b trace.Site }
	seen := map[places]int{}
	return slices.DeleteFunc(out, func(p [2]int) bool {
		k := places{t.Events[p[0]].Site, t.Events[p[1]].Site}
		seen[k]++
		return seen[k] > mostSame
	})
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
	type last struct {
		write int // the last event that changed the object, -1 for none
		reads map[trace.ThreadID]int
	}
	objects := map[uint64]*last{}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Object == 0 || !counts(ev) {
			continue
		}
		changes, object, does := true, ev.Object, ops.Does(ev.Op)
		if lock := ops.Acquires(ev); lock != 0 && lock != object { // a wait on a condition that returns
			object, does = lock, ops.Acquire
		}
		switch does {
		case ops.None, ops.Announce, ops.Resume, ops.Leave, ops.Depart, ops.Release, ops.ReleaseShared, ops.Allocate:
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
		for b := uint64(0); b < size; b += 8 {
			at := uint64(object) + b
			if memory {
				at &^= 7
			}
			l := objects[at]
			if l == nil {
				l = &last{write: -1, reads: map[trace.ThreadID]int{}}
				objects[at] = l
			}
			if l.write >= 0 && t.Events[l.write].Thread != ev.Thread {
				met[l.write] = true
			}
			if changes {
				for th, r := range l.reads {
					if th != ev.Thread {
						met[r] = true
					}
				}
				l.write = i
				clear(l.reads)
			} else {
				l.reads[ev.Thread] = i
			}
		}
		for _, first := range slices.Sorted(maps.Keys(met)) {
			if !memory || race.Overlap(&t.Events[first], ev) {
				out = append(out, [2]int{first, i})
			}
		}
	}
	return out
}
