package stmt

import (
	"fmt"
	"iter"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// FromTrace converts a recorded trace to statements. A unit is a node of its dependence graph
// (package depend), and its statements are the node's effects:
//
//	Read, Observe, AcquireShared, ReleaseShared    localize
//	Write, Change                                  Share
//	Acquire, Release                               Require, Release
//	Post, Take                                     Set1, Set0
//	Create, Begin, End, Join                       Duplicate, Ready, End, Initiate
//	Fence                                          localize of what every other thread
//	                                               shared last, and a Share that each
//	                                               localizes next
//
// The globals are the ranges of memory that are always accessed as a whole, the synchronisation
// objects, and one flag for each signal. Every access has its own local, and every local its own
// initial value, so the final locals show which write each read saw.
func FromTrace(t *trace.Trace) *Trace {
	return record(func() iter.Seq[depend.Step] { return depend.Steps(t) })
}

// FromSeq is FromTrace for events that need not be in memory at once. It iterates over them twice.
func FromSeq(events iter.Seq[*trace.Event]) *Trace {
	return record(func() iter.Seq[depend.Step] { return depend.StepsSeq(events) })
}

// survey collects what is needed before the statements of a trace can be written.
type survey struct {
	bounds  depend.Table // where accesses begin and end → number
	rank    []int32      // of each number, how many are lower
	objects depend.Table
	tokens  uint64
	units   int
	threads depend.Table
	fences  []fence
}

// fence is a unit ordered with all others.
type fence struct {
	unit   int32
	before []int32 // the last units of other threads since the previous fence
}

func record(steps func() iter.Seq[depend.Step]) *Trace {
	v := &survey{}
	v.look(steps())
	r := &recorder{
		survey: v,
		t:      &Trace{Globals: len(v.rank) + v.objects.Len() + int(v.tokens)},
		marks:  map[int32]int32{},
	}
	r.fences()
	r.t.Start = make([]int32, 0, v.units+1)
	r.t.Of = make([]int32, 0, v.units)
	r.write(steps())
	return r.t
}

// look is the first pass.
func (v *survey) look(steps iter.Seq[depend.Step]) {
	var keys []uint64
	note := func(at uint64) {
		if n := v.bounds.Len(); v.bounds.Number(at) == uint32(n) {
			keys = append(keys, at)
		}
	}
	var last []int32 // of each thread, its last unit
	since := int32(-1)
	for s := range steps {
		if !s.Joined {
			v.units++
		}
		unit := int32(v.units - 1)
		th := v.threads.Number(uint64(s.Event.Thread))
		for int(th) >= len(last) {
			last = append(last, -1)
		}
		last[th] = unit
		for _, e := range s.Effects {
			switch e.Mode {
			case depend.Read, depend.Write:
				note(e.Addr)
				note(end(e))
			case depend.Acquire, depend.Release, depend.AcquireShared, depend.ReleaseShared, depend.Observe, depend.Change:
				v.objects.Number(e.Addr)
			case depend.Post, depend.Take:
				v.tokens = max(v.tokens, e.Addr)
			case depend.Create, depend.Join:
				v.threads.Number(e.Addr)
			case depend.Fence:
				f := fence{unit: unit}
				for u, n := range last {
					if u != int(th) && n > since {
						f.before = append(f.before, n)
					}
				}
				since = unit
				v.fences = append(v.fences, f)
			}
		}
	}
	sorted := slices.Clone(keys)
	slices.Sort(sorted)
	v.rank = make([]int32, len(keys))
	for i, k := range sorted {
		n, _ := v.bounds.Get(k)
		v.rank[n] = int32(i)
	}
}

func end(e depend.Effect) uint64 {
	if e.Addr+e.Size < e.Addr {
		return ^uint64(0)
	}
	return e.Addr + e.Size
}

// recorder writes the statements.
type recorder struct {
	*survey
	t     *Trace
	marks map[int32]int32 // for each last unit of a thread before a fence, the global to share
	fence []int32         // the global that each fence shares
	state ops.State
}

// fences allocates the globals for fences.
func (r *recorder) fences() {
	fresh := func() int32 {
		r.t.Globals++
		return int32(r.t.Globals - 1)
	}
	for _, f := range r.survey.fences {
		for _, u := range f.before {
			r.marks[u] = fresh() // at most one: later fences look at later units
		}
		r.fence = append(r.fence, fresh())
	}
}

func (r *recorder) local() int32 {
	r.t.Locals++
	return int32(r.t.Locals - 1)
}

// locks reports whether an event acquires or releases a lock, or fails to.
func locks(ev *trace.Event) bool {
	switch f := ops.Of(ev.Op).Of; f {
	case ops.Mutex, ops.RWLock, ops.Once, ops.Condition:
		return ev.Op < trace.OpGo
	}
	return false
}

// times returns how many times an event acquired or released its lock.
func times(changes []ops.Change, kind ops.ChangeKind) int32 {
	for i := range changes {
		if changes[i].Kind == kind {
			return changes[i].N
		}
	}
	return 1
}

// write is the second pass.
func (r *recorder) write(steps iter.Seq[depend.Step]) {
	t := r.t
	for i := range r.threads.Len() {
		t.Threads = append(t.Threads, fmt.Sprintf("thread%d", i))
	}
	begun := make([]bool, len(t.Threads))
	passed := make([]int, len(t.Threads)) // fences that the thread has synchronised with
	next := 0                             // fence to come
	unit := int32(-1)
	finish := func() {
		if g, ok := r.marks[unit]; ok {
			r.add(Share, g, g+1)
		}
	}
	for s := range steps {
		th, _ := r.threads.Get(uint64(s.Event.Thread))
		if !s.Joined {
			if unit >= 0 {
				finish()
			}
			unit++
			t.Start = append(t.Start, int32(len(t.Stmts)))
			t.Of = append(t.Of, int32(th))
			t.Threads[th] = fmt.Sprintf("T%d", s.Event.Thread)
			begun[th] = true
			if passed[th] < next {
				passed[th] = next
				g := r.fence[next-1]
				r.add(Localize, g, g+1)
			}
		}
		var changes []ops.Change
		if locks(s.Event) {
			changes = r.state.Apply(s.Event)
		}
		for _, e := range s.Effects {
			switch e.Mode {
			case depend.Read:
				r.access(Localize, e)
			case depend.Write:
				r.access(Share, e)
			case depend.Observe, depend.AcquireShared, depend.ReleaseShared:
				g := r.object(e)
				r.add(Localize, g, g+1)
			case depend.Change:
				g := r.object(e)
				r.add(Share, g, g+1)
			case depend.Acquire:
				for range times(changes, ops.Acquired) {
					r.add(Require, r.object(e), r.object(e)+1)
				}
			case depend.Release:
				// A wait releases the mutex completely, even if held recursively.
				for range times(changes, ops.Released) {
					r.add(Release, r.object(e), r.object(e)+1)
				}
			case depend.Post:
				g := r.token(e)
				r.add(Set1, g, g+1)
			case depend.Take:
				g := r.token(e)
				r.add(Set0, g, g+1)
			case depend.Create, depend.Join:
				other, _ := r.threads.Get(e.Addr)
				if t.Threads[other] == fmt.Sprintf("thread%d", other) {
					t.Threads[other] = fmt.Sprintf("T%d", e.Addr)
				}
				if e.Mode == depend.Join {
					r.add(Initiate, int32(other), 0)
				} else if !begun[other] {
					r.add(Duplicate, int32(other), 0)
				}
			case depend.Begin:
				r.add(Ready, 0, 0)
			case depend.End:
				r.add(End, 0, 0)
			case depend.Fence:
				f := r.survey.fences[next]
				for _, u := range f.before {
					r.add(Localize, r.marks[u], r.marks[u]+1)
				}
				r.add(Share, r.fence[next], r.fence[next]+1)
				next++
				passed[th] = next
			}
		}
	}
	if unit >= 0 {
		finish()
	}
	t.Start = append(t.Start, int32(len(t.Stmts)))
}

func (r *recorder) access(k Kind, e depend.Effect) {
	lo, _ := r.bounds.Get(e.Addr)
	hi, _ := r.bounds.Get(end(e))
	r.add(k, r.rank[lo], r.rank[hi])
}

func (r *recorder) object(e depend.Effect) int32 {
	n, _ := r.objects.Get(e.Addr)
	return int32(len(r.rank)) + int32(n)
}

func (r *recorder) token(e depend.Effect) int32 {
	return int32(len(r.rank)) + int32(r.objects.Len()) + int32(e.Addr) - 1
}

func (r *recorder) add(k Kind, lo, hi int32) {
	s := Stmt{Kind: k, Thread: r.t.Of[len(r.t.Of)-1], Local: -1, Lo: lo, Hi: hi}
	if k == Localize || k == Share {
		s.Local = r.local()
	}
	r.t.Stmts = append(r.t.Stmts, s)
}
