package depend

import (
	"syscall"

	"github.com/heddle-dev/heddle/trace"
)

// Interpreter turns the events of one execution, in order, into effects. Its zero value
// is ready. Where an event does not say enough (a semaphore whose count was not recorded,
// an operation it does not know), the effect orders more than is needed, never less.
//
// What two effects on one object mean to each other is fixed by their modes, and the
// table of operations is:
//
//	read, atomic load, lost compare-and-swap    Read
//	write, atomic store, malloc, free           Write
//	read-modify-write                           Read, Write
//	lock, unlock; once, once done               Acquire, Release
//	owner died (of a robust mutex)              Release
//	mutex consistent, write lock queue          Change
//	read lock, its unlock; once that was done   AcquireShared, ReleaseShared
//	a try or timed lock that failed             Observe (write lock: Change)
//	init, destroy                               Change
//	cond wait                                   Observe, Post (1), Release of the mutex
//	cond signal, broadcast                      Take, Post for each it woke (2)
//	cond wake                                   Take, Acquire of the mutex
//	cond timeout, spurious wake-up              Change
//	sem post, wait                              Observe, Post; Observe, Take (3)
//	barrier wait, leave                         Observe, Post; Take (4)
//	futex                                       Change
//	signal wait                                 Change of all signals there are
//	signal send, delivery, mask, …; timers      the same, and Fence
//	fd read, write                              Change of the channel, Observe of all descriptors (7)
//	fd open, close, poll, connect, …            Change of the channel and of all descriptors
//	create, start, end, join                    Create, Begin, End, Join
//	join that failed, end                       Observe, Change of the thread's life
//	pthread_cancel                              Fence (8)
//	exit, abort, fatal signal                   Fence
//
// and of Go programs, where an operation that waited goes on with a resume (5):
//
//	go, and the goroutine's start               Create, Begin
//	chan send, receive, close; its resume       Change of the channel; Observe
//	select, its resume                          Change of all channels; other operations
//	                                            on channels Observe them (6)
//	mutex, cond, once, pool, map; its resume    Change
//	read lock, its unlock; its resume           Observe
//	WaitGroup.Done                              Observe
//	WaitGroup.Add, Wait; its resume             Change
//	sleep, timer start and stop                 Change of all timers
//	coroutine switch                            Post, for the next event of the other one
//	acquire; release, with merge or acquire     Observe; Change of the sync variable
//	timer fires, outside world, test end        Fence
//	test fails                                  Change of what tests said
//
// (1) The token of the wait is taken by whoever wakes the thread. (2) A signal that woke
// somebody may change places with waits of others, because POSIX lets a signal wake any
// waiter and a schedule says which; a broadcast and a signal that woke nobody may not
// (Change). (3) Waits take tokens first in, first out, initial ones first. Any matching in
// which each wait has its own earlier post keeps the count from going below zero. (4) The
// last to arrive takes a token from each of the others, leaves one for each, and changes
// the barrier; that keeps the rounds apart and the thread that is told it was last. (5) The
// resume is ordered after everything that was done to the object before it, and so after
// what woke the goroutine. (6) While a goroutine is in a select they Change them. (7) Which
// descriptors a poll looked at is not recorded, and descriptors are numbered in the order in
// which they are opened. (8) When a thread acts on it depends on what it disabled and
// deferred, which is not recorded. What it then does has the result ECANCELED, and is an
// operation that failed.
//
// Time orders nothing: a sleep may last as long as the scheduler likes, and a wait that
// timed out could have done so at any moment at which what it waited for was not there
// (Observe or Change). What a program reads from the clock is not recorded.
//
// Memory order is not looked at: executions are interleavings.
type Interpreter struct {
	tokens  uint64 // last token made
	writers map[trace.Object]trace.ThreadID
	sems    map[trace.Object]*semaphore
	conds   map[trace.Object]*condition
	bars    map[trace.Object]*barrier
	woken   map[trace.ThreadID]uint64 // token for the thread's wake
	passing map[trace.ThreadID]uint64 // token for the thread's leave

	blocked   map[trace.ThreadID]blocked
	selecting map[trace.ThreadID]struct{} // those in a select
	switched  map[trace.ThreadID]uint64   // token for the goroutine that a coroutine switched to
}

// ownerDead is what locking a robust mutex returns when its last owner died with it: the
// caller has it now.
const ownerDead = int32(syscall.EOWNERDEAD)

// notRecoverable is what it returns when that owner's successor did not put it right: the
// caller does not have it.
const notRecoverable = int32(syscall.ENOTRECOVERABLE)

// cancelled is the result of an operation that a cancellation took the place of.
const cancelled = int32(syscall.ECANCELED)

// lifeOf stands for whether a thread has ended, as a join that does not wait sees it.
func lifeOf(t uint64) Effect { return Effect{Observe, Life, ^uint64(1) - t, 1} }

// signals stands for the signals that are pending in the process and its threads.
const signals = ^uint64(0)

// descriptors stands for the process's table of descriptors, and for what a poll looks at.
const descriptors = ^uint64(1)

func memory(m Mode, at trace.Object, size uint64) Effect {
	return Effect{m, Conflict, uint64(at), max(size, 1)}
}

func object(m Mode, at trace.Object) Effect { return Effect{m, Lock, uint64(at), 1} }

func thread(m Mode, t uint64) Effect { return Effect{m, Life, t, 1} }

// Effects appends the effects of the execution's next event to buf. An event without
// effects is free to move within its thread's order.
func (in *Interpreter) Effects(ev *trace.Event, buf []Effect) []Effect {
	at, size := ev.Object, uint64(ev.Size)
	if len(in.switched) > 0 {
		buf = in.arrive(ev, buf)
	}
	switch ev.Op {
	case trace.OpRead, trace.OpReadRange, trace.OpAtomicLoad:
		return append(buf, memory(Read, at, size))
	case trace.OpWrite, trace.OpWriteRange, trace.OpAtomicStore:
		return append(buf, memory(Write, at, size))
	case trace.OpAtomicRmw:
		return append(buf, memory(Read, at, size), memory(Write, at, size))
	case trace.OpAtomicCas:
		buf = append(buf, memory(Read, at, size))
		if ev.Result != 0 {
			buf = append(buf, memory(Write, at, size))
		}
		return buf
	case trace.OpMalloc, trace.OpFree:
		// The block's life: what another thread did with the memory before it was
		// allocated, or does after it was freed, is of another block.
		if at != 0 {
			buf = append(buf, memory(Write, at, size))
		}
		return buf

	case trace.OpThreadStart:
		return append(buf, thread(Begin, uint64(ev.Thread)))
	case trace.OpThreadEnd:
		over := lifeOf(uint64(ev.Thread))
		over.Mode = Change
		return append(buf, thread(End, uint64(ev.Thread)), over)
	case trace.OpThreadCreate:
		if ev.Result == 0 {
			buf = append(buf, thread(Create, ev.Value))
		}
		return buf
	case trace.OpThreadJoin:
		if ev.Result == 0 {
			return append(buf, thread(Join, ev.Value))
		}
		return append(buf, lifeOf(ev.Value))
	case trace.OpProcessExit, trace.OpAbort, trace.OpSignal:
		return append(buf, Effect{Mode: Fence, Kind: Ending})
	case trace.OpThreadCreated, trace.OpThreadDetach, trace.OpThreadExit, trace.OpYield, trace.OpSleep, trace.OpAtomicFence, trace.OpCancelTest, trace.OpNone:
		return buf
	case trace.OpCancel:
		return append(buf, Effect{Mode: Fence, Kind: Signal})
	}

	if ev.Op >= trace.OpGo {
		return in.goroutine(ev, buf)
	}
	switch ev.Op {
	case trace.OpSignalSend:
		// What a signal does depends on which threads block it, wait for it or have
		// ended by then, and not all of that is recorded.
		return append(buf, Effect{Change, Signal, signals, 1}, Effect{Mode: Fence, Kind: Signal})
	case trace.OpSignalWait:
		return append(buf, Effect{Change, Signal, signals, 1})
	case trace.OpFdRead, trace.OpFdWrite:
		return append(buf, object(Change, at), Effect{Observe, Lock, descriptors, 1})
	case trace.OpFdOpen, trace.OpFdPoll, trace.OpFdClose, trace.OpFdShutdown, trace.OpFdListen, trace.OpFdConnect, trace.OpFdAccept, trace.OpFdCtl:
		return append(buf, object(Change, at), Effect{Change, Lock, descriptors, 1})
	case trace.OpSignalDeliver, trace.OpSignalInterrupt, trace.OpSignalReturn, trace.OpSignalSuspend, trace.OpSignalResume,
		trace.OpSignalMask, trace.OpSignalAction, trace.OpSignalPending, trace.OpTimerSet, trace.OpTimerExpire, trace.OpTimerDelete:
		return append(buf, Effect{Change, Signal, signals, 1}, Effect{Mode: Fence, Kind: Signal})
	}
	// What is left are synchronisation objects. One that lies in a heap block must not
	// be used before the block is there or after it is gone.
	if at.Region() == trace.RegionHeap {
		buf = append(buf, memory(Read, at, 1))
	}
	switch ev.Op {
	case trace.OpMutexLock, trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpSpinLock, trace.OpSpinTrylock:
		if ev.Result == 0 || ev.Result == ownerDead {
			buf = append(buf, object(Acquire, at))
		} else {
			buf = append(buf, object(Observe, at))
		}
	case trace.OpMutexUnlock, trace.OpMutexAbandon, trace.OpSpinUnlock, trace.OpOnceEnd:
		if ev.Result != 0 {
			return append(buf, object(Observe, at))
		}
		buf = append(buf, object(Release, at))
	case trace.OpOnceBegin:
		if ev.Value == 1 {
			buf = append(buf, object(Acquire, at))
		} else {
			buf = append(buf, object(AcquireShared, at), object(ReleaseShared, at))
		}
	case trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock:
		if ev.Result == 0 {
			buf = append(buf, object(AcquireShared, at))
		} else {
			buf = append(buf, object(Observe, at))
		}
	case trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock:
		if ev.Result == 0 {
			set(&in.writers, at, ev.Thread)
			buf = append(buf, object(Acquire, at))
		} else {
			// It may have failed because of readers: one that leaves is a change to it.
			buf = append(buf, object(Change, at))
		}
	case trace.OpRwlockUnlock:
		if w, ok := in.writers[at]; ok && w == ev.Thread {
			delete(in.writers, at)
			buf = append(buf, object(Release, at))
		} else {
			buf = append(buf, object(ReleaseShared, at))
		}
	case trace.OpMutexInit, trace.OpMutexDestroy, trace.OpMutexConsistent, trace.OpRwlockQueue, trace.OpRwlockInit, trace.OpRwlockDestroy, trace.OpSpinInit, trace.OpSpinDestroy:
		buf = append(buf, object(Change, at))
	case trace.OpCondInit, trace.OpCondDestroy, trace.OpCondWait, trace.OpCondWake, trace.OpCondSignal, trace.OpCondBroadcast, trace.OpCondTimeout, trace.OpSpuriousWake:
		return in.condition(ev, buf)
	case trace.OpSemInit, trace.OpSemDestroy, trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait, trace.OpSemPost, trace.OpSemGetvalue:
		return in.semaphore(ev, buf)
	case trace.OpBarrierInit, trace.OpBarrierDestroy, trace.OpBarrierWait, trace.OpBarrierLeave:
		return in.barrier(ev, buf)
	case trace.OpFutexWait:
		buf = append(buf, memory(Read, at, 4), object(Change, at))
	case trace.OpFutexWakeup, trace.OpFutexWake:
		buf = append(buf, object(Change, at))
	default: // of OpSemOpen and its kin, too: which semaphore has a name is not told by the object
		buf = append(buf, Effect{Mode: Fence, Kind: Ending})
	}
	return buf
}

func (in *Interpreter) token() uint64 {
	in.tokens++
	return in.tokens
}

func set[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

func get[K comparable, V any](m *map[K]*V, k K) *V {
	v := (*m)[k]
	if v == nil {
		v = new(V)
		set(m, k, v)
	}
	return v
}
