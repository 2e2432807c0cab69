package hb

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// oracle computes happens-before by its definition: an edge for every pair in the table, found by
// searching earlier events, then the transitive closure.
func oracle(events []trace.Event) [][]bool {
	n := len(events)
	hb := make([][]bool, n)
	for i := range hb {
		hb[i] = make([]bool, n)
	}
	for j := range events {
		for i := range j {
			if events[i].Thread == events[j].Thread || synchronizes(events, i, j) {
				hb[i][j] = true
			}
		}
		for _, e := range atomicEdges(events, j) {
			hb[e][j] = true
		}
	}
	for k := range n {
		for i := range n {
			if hb[i][k] {
				for j := range n {
					hb[i][j] = hb[i][j] || hb[k][j]
				}
			}
		}
	}
	return hb
}

// renewed reports whether an init or destroy of b's object lies between a and b.
func renewed(events []trace.Event, i, j int, object trace.Object, ops ...trace.Op) bool {
	for k := i + 1; k < j; k++ {
		for _, op := range ops {
			if events[k].Op == op && events[k].Object == object && events[k].Result == 0 {
				return true
			}
		}
	}
	return false
}

// lastBefore returns the last event before j of j's thread with that operation, or -1.
func lastBefore(events []trace.Event, j int, op trace.Op) int {
	for i := j - 1; i >= 0; i-- {
		if events[i].Thread == events[j].Thread && events[i].Op == op {
			return i
		}
	}
	return -1
}

// synchronizes reports whether there is an edge from i to j, other than from atomics.
func synchronizes(events []trace.Event, i, j int) bool {
	a, b := &events[i], &events[j]
	is := func(op trace.Op, ops ...trace.Op) bool {
		for _, o := range ops {
			if op == o {
				return true
			}
		}
		return false
	}
	same := a.Object == b.Object && a.Object != 0

	// Mutexes, among them those of condition variables.
	released := trace.Object(0)
	switch {
	case is(a.Op, trace.OpMutexUnlock, trace.OpMutexAbandon, trace.OpSpinUnlock) && a.Result == 0:
		released = a.Object
	case a.Op == trace.OpCondWait:
		released = trace.Object(a.Aux)
	}
	taken := trace.Object(0)
	switch {
	case is(b.Op, trace.OpMutexLock, trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpSpinLock, trace.OpSpinTrylock) && (b.Result == 0 || b.Result == 130):
		taken = b.Object
	case b.Op == trace.OpCondWake:
		taken = trace.Object(b.Aux)
	}
	if released != 0 && released == taken && !renewed(events, i, j, taken, trace.OpMutexInit) {
		return true
	}

	switch {
	case is(a.Op, trace.OpThreadCreate, trace.OpGo) && a.Result == 0 && trace.ThreadID(a.Value) == b.Thread:
		return true
	case b.Op == trace.OpThreadJoin && b.Result == 0 && trace.ThreadID(b.Value) == a.Thread:
		return true
	case a.Op == trace.OpRwlockUnlock && a.Result == 0 && same && b.Result == 0 && !renewed(events, i, j, b.Object, trace.OpRwlockDestroy):
		wrote := false
		for k := i - 1; k >= 0; k-- {
			if e := &events[k]; e.Thread == a.Thread && e.Object == a.Object && e.Result == 0 &&
				is(e.Op, trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock, trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock) {
				wrote = is(e.Op, trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock)
				break
			}
		}
		return is(b.Op, trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock) ||
			wrote && is(b.Op, trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock)
	case a.Op == trace.OpCancel:
		return trace.ThreadID(a.Value) == b.Thread && b.Result == ops.Cancelled
	case is(a.Op, trace.OpCondSignal, trace.OpCondBroadcast) && b.Op == trace.OpCondWake && b.Result == 0 && same:
		// The first after the wait that woke this thread.
		return firstWaker(events, lastBefore(events, j, trace.OpCondWait), j) == i
	case a.Op == trace.OpFutexWake && b.Op == trace.OpFutexWakeup && b.Result == 0 && same:
		return firstWaker(events, lastBefore(events, j, trace.OpFutexWait), j) == i
	case a.Op == trace.OpSemPost && is(b.Op, trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait) && b.Result == 0 && same:
		return !renewed(events, i, j, b.Object, trace.OpSemInit, trace.OpSemDestroy)
	case a.Op == trace.OpBarrierWait && b.Op == trace.OpBarrierLeave && same:
		return phaseOf(events, i) == phaseOf(events, lastBefore(events, j, trace.OpBarrierWait))
	case a.Op == trace.OpOnceEnd && b.Op == trace.OpOnceBegin && same:
		return true
	}
	return false
}

func firstWaker(events []trace.Event, wait, wake int) int {
	for k := wait + 1; k < wake; k++ {
		e := &events[k]
		if e.Object != events[wake].Object {
			continue
		}
		if e.Op == trace.OpCondBroadcast || e.Op == trace.OpFutexWake && (e.Value > 1 || e.Aux == uint64(events[wake].Thread)+1) ||
			e.Op == trace.OpCondSignal && e.Value == uint64(events[wake].Thread)+1 {
			return k
		}
	}
	return -1
}

// phaseOf returns the number of the barrier's phase: each has barrierSize arrivals.
func phaseOf(events []trace.Event, i int) int {
	n := 0
	for k := range i {
		if events[k].Op == trace.OpBarrierWait && events[k].Object == events[i].Object {
			n++
		}
	}
	return n / barrierSize
}

// atomicEdges returns the events that synchronize with j because of atomics.
func atomicEdges(events []trace.Event, j int) (from []int) {
	acquires := func(e *trace.Event) bool {
		o := e.Flags >> orderShift & 7
		return o == orderConsume || o == orderAcquire || o == orderAcqRel || o == orderSeqCst
	}
	releases := func(e *trace.Event) bool {
		o := e.Flags >> orderShift & 7
		return o == orderRelease || o == orderAcqRel || o == orderSeqCst
	}
	// The events of Go's race detector form a separate class of atomics.
	goAcquires := func(e *trace.Event) bool { return e.Op == trace.OpAcquire || e.Op == trace.OpReleaseAcquire }
	goReleases := func(e *trace.Event) bool {
		return e.Op == trace.OpRelease || e.Op == trace.OpReleaseMerge || e.Op == trace.OpReleaseAcquire
	}
	modifies := func(e *trace.Event) bool {
		return goReleases(e) || e.Op == trace.OpAtomicStore || e.Op == trace.OpAtomicRmw || e.Op == trace.OpAtomicCas && e.Result == 1
	}
	reads := func(e *trace.Event) bool {
		return e.Op == trace.OpAtomicLoad || e.Op == trace.OpAtomicRmw || e.Op == trace.OpAtomicCas
	}
	// heads returns the releases in the sequences that the read at k reads from. Each byte is read from
	// the latest write of it, and a read-modify-write continues the sequences of all that it reads.
	seen := map[int]bool{}
	var heads func(k int) []int
	heads = func(k int) (out []int) {
		lo, size := events[k].Object.Bytes(uint64(max(events[k].Size, 1)))
		for at := lo; at < lo+size; at++ {
			for i := k - 1; i >= 0; i-- {
				e := &events[i]
				if from, n := e.Object.Bytes(uint64(max(e.Size, 1))); at < from || at >= from+n || !modifies(e) {
					continue
				}
				if seen[i] {
					break
				}
				seen[i] = true
				if goReleases(e) || releases(e) {
					out = append(out, i)
				} else {
					for f := i - 1; f >= 0; f-- {
						if events[f].Thread == e.Thread && events[f].Op == trace.OpAtomicFence && releases(&events[f]) {
							out = append(out, f)
							break
						}
					}
				}
				if e.Op != trace.OpAtomicStore && e.Op != trace.OpRelease {
					out = append(out, heads(i)...)
				}
				break
			}
		}
		return out
	}
	switch b := &events[j]; {
	case goAcquires(b), reads(b) && acquires(b):
		from = heads(j)
	case b.Op == trace.OpAtomicFence && acquires(b):
		for k := range j {
			if events[k].Thread == b.Thread && reads(&events[k]) {
				from = append(from, heads(k)...)
			}
		}
	}
	return from
}
