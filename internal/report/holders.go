package report

import (
	"maps"
	"syscall"

	"github.com/heddle-dev/heddle/trace"
)

// holders follows who holds which lock, and who is in a condition's queue, from event to
// event.
type holders struct {
	locks  map[trace.Object]*lockState
	queued map[trace.ThreadID]trace.Object // the condition that a thread waits on, until it is woken
}

type lockState struct {
	owners []hold // one, or the readers of a reader-writer lock
}

// hold is a lock held: by whom, and since which event.
type hold struct {
	thread trace.ThreadID
	event  int
	depth  int // recursive locks
}

func newHolders() *holders {
	return &holders{locks: map[trace.Object]*lockState{}, queued: map[trace.ThreadID]trace.Object{}}
}

// step takes in event number i.
func (h *holders) step(i int, e *trace.Event) {
	switch e.Op {
	case trace.OpMutexLock, trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpSpinLock, trace.OpSpinTrylock,
		trace.OpRwlockRdlock, trace.OpRwlockWrlock, trace.OpRwlockTryrdlock, trace.OpRwlockTrywrlock,
		trace.OpRwlockTimedrdlock, trace.OpRwlockTimedwrlock:
		if e.Result == 0 || e.Result == int32(syscall.EOWNERDEAD) {
			h.take(e.Object, e.Thread, i)
		}
	case trace.OpOnceBegin:
		if e.Value == 1 {
			h.take(e.Object, e.Thread, i)
		}
	case trace.OpMutexAbandon:
		delete(h.locks, e.Object)
	case trace.OpMutexUnlock, trace.OpSpinUnlock, trace.OpRwlockUnlock, trace.OpOnceEnd:
		if e.Result == 0 {
			h.drop(e.Object, e.Thread)
		}
	case trace.OpCondWait:
		if e.Result == 0 {
			h.drop(trace.Object(e.Aux), e.Thread)
			h.queued[e.Thread] = e.Object
		}
	case trace.OpCondSignal:
		if e.Value > 0 {
			delete(h.queued, trace.ThreadID(e.Value)-1)
		}
	case trace.OpCondBroadcast:
		maps.DeleteFunc(h.queued, func(_ trace.ThreadID, o trace.Object) bool { return o == e.Object })
	case trace.OpCondTimeout, trace.OpSpuriousWake:
		delete(h.queued, e.Thread)
	case trace.OpCondWake:
		delete(h.queued, e.Thread)
		if e.Result != int32(syscall.ENOTRECOVERABLE) {
			h.take(trace.Object(e.Aux), e.Thread, i)
		}
	case trace.OpMutexInit, trace.OpMutexDestroy, trace.OpRwlockInit, trace.OpRwlockDestroy, trace.OpSpinInit, trace.OpSpinDestroy:
		delete(h.locks, e.Object)
	}
}

func (h *holders) take(o trace.Object, t trace.ThreadID, event int) {
	l := h.locks[o]
	if l == nil {
		l = &lockState{}
		h.locks[o] = l
	}
	for i := range l.owners {
		if l.owners[i].thread == t {
			l.owners[i].depth++
			return
		}
	}
	l.owners = append(l.owners, hold{t, event, 1})
}

func (h *holders) drop(o trace.Object, t trace.ThreadID) {
	l := h.locks[o]
	if l == nil {
		return
	}
	for i := range l.owners {
		if l.owners[i].thread == t {
			if l.owners[i].depth--; l.owners[i].depth == 0 {
				l.owners = append(l.owners[:i], l.owners[i+1:]...)
			}
			return
		}
	}
}

// of are the threads that hold o, besides t.
func (h *holders) of(o trace.Object, t trace.ThreadID) []hold {
	l := h.locks[o]
	if l == nil {
		return nil
	}
	var out []hold
	for _, x := range l.owners {
		if x.thread != t {
			out = append(out, x)
		}
	}
	return out
}

// by is how t holds o.
func (h *holders) by(t trace.ThreadID, o trace.Object) (hold, bool) {
	if l := h.locks[o]; l != nil {
		for _, x := range l.owners {
			if x.thread == t {
				return x, true
			}
		}
	}
	return hold{}, false
}
