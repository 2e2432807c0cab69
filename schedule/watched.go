package schedule

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/heddle-dev/heddle/trace"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

// Watched is what a target found out about an execution's accesses to memory while the program ran
// (Plan.Watch).
type Watched struct {
	// Races are the pairs of instructions that raced, each once, in the order in which their later
	// accesses happened.
	Races []Race
	// Counts says how often each memory instruction was executed while more than one thread could
	// run.
	Counts map[trace.Site]int
	// Accesses is the number of accesses that were checked for races.
	Accesses int
	// Full means that the memory for remembered accesses was used up: accesses after the first
	// Accesses were not checked.
	Full bool
}

// Race is a pair of instructions that raced. Index 0 of a pair is the earlier access.
type Race struct {
	Sites   [2]trace.Site
	Ops     [2]trace.Op
	Threads [2]trace.ThreadID
	// Object and Size are bytes that both accessed.
	Object trace.Object
	Size   uint32
	// Order ascends with the later access, and is the same for all races of one access.
	Order int
	// Event is the number of the trace's events that precede the later access; 0 without a trace.
	Event int
	// Stack is the call stack of the later access, an index into the trace's Stacks; 0 if unknown.
	Stack uint32
	// Handler means that this is not a race: a signal handler performed one access, and what it
	// interrupted in the same thread, or could have interrupted, the other; or inline assembly performed one, and a volatile
	// access the other (race.Detector).
	Handler bool
}

// encodeWatched returns the message of w, nil for nil.
func encodeWatched(w *Watched) (*tracepb.Watched, error) {
	if w == nil {
		return nil, nil
	}
	m := &tracepb.Watched{Accesses: uint64(w.Accesses), Full: w.Full}
	for i := range w.Races {
		r := &w.Races[i]
		if r.Order < 0 || r.Event < 0 {
			return nil, errors.New("a race before the first access cannot leave its process: a bug in heddle")
		}
		m.Races = append(m.Races, &tracepb.WatchedRace{
			First: side(r, 0), Second: side(r, 1), Object: uint64(r.Object), Size: r.Size,
			Order: uint64(r.Order), Event: uint64(r.Event), Stack: r.Stack, Handler: r.Handler,
		})
	}
	for _, s := range slices.Sorted(maps.Keys(w.Counts)) {
		m.Sites = append(m.Sites, uint64(s))
		m.Counts = append(m.Counts, uint64(w.Counts[s]))
	}
	return m, nil
}

func side(r *Race, i int) *tracepb.WatchedAccess {
	return &tracepb.WatchedAccess{Site: uint64(r.Sites[i]), Op: uint32(r.Ops[i]), Thread: int32(r.Threads[i])}
}

// decodeWatched is the inverse of encodeWatched.
func decodeWatched(m *tracepb.Watched) (*Watched, error) {
	if m == nil {
		return nil, nil
	}
	if len(m.Sites) != len(m.Counts) {
		return nil, fmt.Errorf("it counts the accesses of %d instructions with %d numbers", len(m.Sites), len(m.Counts))
	}
	if m.Accesses > math.MaxInt64 {
		return nil, fmt.Errorf("%d is more than can be counted", m.Accesses)
	}
	w := &Watched{Accesses: int(m.Accesses), Full: m.Full}
	for _, r := range m.Races {
		race := Race{
			Object: trace.Object(r.Object), Size: r.Size, Order: int(r.Order), Event: int(r.Event), Stack: r.Stack, Handler: r.Handler,
		}
		for i, a := range []*tracepb.WatchedAccess{r.First, r.Second} {
			if a == nil || a.Op > math.MaxUint16 || r.Order > math.MaxInt64 || r.Event > maxCount {
				return nil, errors.New("it has an impossible race")
			}
			race.Sites[i], race.Ops[i], race.Threads[i] = trace.Site(a.Site), trace.Op(a.Op), trace.ThreadID(a.Thread)
		}
		w.Races = append(w.Races, race)
	}
	for i, s := range m.Sites {
		if m.Counts[i] > math.MaxInt64 {
			return nil, fmt.Errorf("%d is more than can be counted", m.Counts[i])
		}
		if w.Counts == nil {
			w.Counts = make(map[trace.Site]int, len(m.Sites))
		}
		w.Counts[trace.Site(s)] = int(m.Counts[i])
	}
	return w, nil
}
