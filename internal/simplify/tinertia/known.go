package tinertia

import (
	"slices"

	"github.com/heddle-dev/heddle/schedule"
)

// known is what executions have shown of states and of threads. It holds no pointers for each of them:
// there are hundreds for each execution.
type known struct {
	cheapest map[uint64]spent   // a cheapest way to a decision in a state
	more     map[uint64][]spent // the others, of which none is within another
	next     map[uint64]uint32  // index in steps: next operation of a thread with this local state (states.local)
	steps    []schedule.Step
	index    map[schedule.Step]uint32 // of steps
}

// Sizes in bytes, for frontier.size: of an entry of a map with the room that maps leave, of a step, and of a
// prefix.
const (
	knownEntry  = 32
	stepSize    = 48
	prefixEntry = 240
)

func newKnown() known {
	return known{cheapest: map[uint64]spent{}, more: map[uint64][]spent{}, next: map[uint64]uint32{}, index: map[schedule.Step]uint32{}}
}

// size returns about how many bytes k takes.
func (k *known) size() int64 {
	return knownEntry * (int64(len(k.cheapest)) + int64(len(k.next)) + 2*int64(len(k.more)))
}

// note records the cost of a way to a decision in a state, and reports whether none was known that costs
// no more. If full, it records only those to decisions that are known.
func (k *known) note(key uint64, c spent, full bool) bool {
	first, ok := k.cheapest[key]
	switch {
	case !ok:
		if !full {
			k.cheapest[key] = c
		}
		return true
	case first.within(c):
		return false
	}
	others := k.more[key]
	if slices.ContainsFunc(others, func(o spent) bool { return o.within(c) }) {
		return false
	}
	others = slices.DeleteFunc(others, func(o spent) bool { return c.within(o) })
	if c.within(first) {
		k.cheapest[key] = c
	} else {
		others = append(others, c)
	}
	if len(others) > 0 {
		k.more[key] = others
	} else {
		delete(k.more, key)
	}
	return true
}

// beaten reports whether a cheaper way than c to a decision in a state is known.
func (k *known) beaten(key uint64, c spent) bool {
	better := func(o spent) bool { return o != c && o.within(c) }
	first, ok := k.cheapest[key]
	return ok && better(first) || slices.ContainsFunc(k.more[key], better)
}

// follow records the next operation of a thread with a local state.
func (k *known) follow(local uint64, step schedule.Step) {
	step.Thread = 0 // the local state identifies the thread
	n, ok := k.index[step]
	if !ok {
		n = uint32(len(k.steps))
		k.index[step] = n
		k.steps = append(k.steps, step)
	}
	k.next[local] = n
}

// following returns the next operation of a thread with a local state, if an execution has shown it. The
// step has no thread.
func (k *known) following(local uint64) (step schedule.Step, ok bool) {
	if local == 0 {
		return step, false
	}
	n, ok := k.next[local]
	if !ok {
		return step, false
	}
	return k.steps[n], true
}
