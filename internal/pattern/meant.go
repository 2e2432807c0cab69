package pattern

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// told is what is known of whether a signal of a condition tells a thread of a change for which it waits.
type told uint8

const (
	unclear  told = iota // what they read and write is not known
	relevant             // the signalling thread has changed what the other has looked at before its wait
	useless              // it has changed other memory, or what the other has found there is there again
)

// tells compares what the thread of a signal changed in its critical section with what a thread that waits then has looked at.
func (x *Execution) tells(signal int, th trace.ThreadID) told {
	changes, looks := x.changedFor(signal), x.lookedAt(th, x.event(signal).Object, signal)
	if len(changes) == 0 || len(looks) == 0 {
		return unclear
	}
	for _, w := range changes {
		for _, r := range looks {
			if !Overlaps(x.event(w), x.event(r)) {
				continue
			}
			wrote, known := x.value(w)
			read, knownToo := x.value(r)
			if !known || !knownToo || x.event(w).Size != x.event(r).Size || wrote != read {
				return relevant
			}
		}
	}
	return useless
}

// changedFor returns the last writes to each place in the critical section that a signal is in, or follows.
func (x *Execution) changedFor(signal int) (writes []int) {
	own := x.event(signal).Thread
	for i := signal - 1; i >= 0; i-- {
		ev := x.event(i)
		if ev.Thread != own {
			continue
		}
		if ops.AcquiresAt(x.Trace, i) != 0 || !isStep(ev) {
			break
		}
		if isAccess(ev) && ops.Changes(ev) && ev.Object.Region() != trace.RegionStack &&
			!slices.ContainsFunc(writes, func(w int) bool { return x.event(w).Object == ev.Object }) {
			writes = append(writes, i)
		}
	}
	return writes
}

// lookedAt returns what a thread has read in its critical section before it began to wait on a condition for the last time before an
// event.
func (x *Execution) lookedAt(th trace.ThreadID, condition trace.Object, before int) (reads []int) {
	wait := x.waitOn(th, condition, before)
	for i := wait - 1; i >= 0; i-- {
		ev := x.event(i)
		if ev.Thread != th {
			continue
		}
		if ops.AcquiresAt(x.Trace, i) != 0 || !isStep(ev) {
			break
		}
		if x.Reads(i) && ev.Object.Region() != trace.RegionStack {
			reads = append(reads, i)
		}
	}
	return reads
}

// waitOn returns the event by which a thread has begun to wait on a condition where it still does at another event; -1 for none.
func (x *Execution) waitOn(th trace.ThreadID, condition trace.Object, at int) int {
	for i := at - 1; i >= 0; i-- {
		ev := x.event(i)
		if ev.Thread != th || ev.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		if ops.Does(ev.Op) == ops.Wait && ev.Object == condition {
			return i
		}
		return -1
	}
	return -1
}

// waitsAgain returns the event by which a thread that a signal has woken waits on the condition again, before it does anything else with
// conditions; -1 if it does not.
func (x *Execution) waitsAgain(th trace.ThreadID, signal int) int {
	for i := signal + 1; i < len(x.Trace.Events); i++ {
		ev := x.event(i)
		switch {
		case ev.Thread != th:
		case ops.Does(ev.Op) == ops.Wait && ev.Object == x.event(signal).Object:
			return i
		case isWake(ev), ops.Does(ev.Op) == ops.Finish:
			return -1
		}
	}
	return -1
}
