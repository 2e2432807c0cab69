package depend

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Interpreter turns the events of one execution, in order, into effects. Its zero value is ready to
// use. If an event lacks information (a semaphore whose count was not recorded, an unknown
// operation), the effect orders more than is needed, never less.
//
// Modes alone determine whether two effects on one object commute. The table of operations is:
//
//	read, atomic load, lost compare-and-swap    Read
//	write, atomic store, malloc, free           Write
//	read-modify-write                           Read, Write
//	lock, unlock                                Acquire, Release
//	once, once done                             Acquire; Release, Write of the first byte
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
//	fd read from a signalfd                     the same, and Change of all signals there are
//	fd open, close, poll, connect, …            Change of the channel and of all descriptors
//	create, start, end, join                    Create, Begin, End, Join
//	join that failed, end                       Observe, Change of the thread's life
//	pthread_cancel                              Fence (8)
//	exit, abort, fatal signal                   Fence
//
// and of Go programs, where an operation that blocked continues with a resume (5):
//
//	go, and the goroutine's start               Create, Begin
//	chan send, receive, close; its resume       Change of the channel; Observe
//	a send or receive that took the default     Observe
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
//	test fails                                  Change of what tests reported
//
// (1) The thread's waker takes the token of the wait. (2) A signal that woke a thread may be
// reordered with waits of other threads, because POSIX lets a signal wake any waiter and a schedule
// names the one woken; a broadcast and a signal that woke no thread may not (Change). (3) Waits
// take tokens first in, first out, initial ones first. Any matching in which each wait has its own
// earlier post keeps the count from becoming negative. (4) The last to arrive takes a token from
// each of the others, makes one for each, and changes the barrier; that keeps the generations
// apart, and which thread learns that it was last. (5) The resume is ordered after every earlier
// operation on the object, and so after the one that woke the goroutine. (6) While a goroutine is
// in a select, they Change them. (7) A trace does not record which descriptors a poll examined, and
// descriptors are numbered in the order in which they are opened. (8) When a thread acts on a
// cancellation depends on its cancelability state and type, which are not recorded. The operation
// in which it acts has the result ECANCELED, and counts as a failed operation.
//
// Time orders nothing: a sleep may last as long as the scheduler chooses, and a wait that timed out
// could have done so at any moment at which its condition did not hold (Observe or Change). The
// values that a program reads from the clock are not recorded.
//
// Memory orders are ignored: executions are interleavings.
type Interpreter struct {
	state   ops.State
	tokens  uint64 // last token made
	sems    map[trace.Object]*semaphore
	waits   map[trace.ThreadID]uint64 // token of the thread's wait for a condition
	woken   map[trace.ThreadID]uint64 // token for the thread's wake
	arrived map[trace.ThreadID]uint64 // token of the thread's arrival at a barrier
	passing map[trace.ThreadID]uint64 // token for the thread's leave

	blocked   map[trace.ThreadID]blocked
	selecting map[trace.ThreadID]struct{} // goroutines in a select
	switched  map[trace.ThreadID]uint64   // token for the goroutine that a coroutine switched to
}

// lifeOf represents whether a thread has ended, as observed by a join that does not wait.
func lifeOf(t uint64) Effect { return Effect{Observe, Life, ^uint64(1) - t, 1} }

// signals represents the signals that are pending in the process and its threads.
const signals = ^uint64(0)

// descriptors represents the process's table of descriptors, and the state that a poll tests.
const descriptors = ^uint64(1)

func memory(m Mode, at trace.Object, size uint64) Effect {
	return Effect{m, Conflict, uint64(at), max(size, 1)}
}

func object(m Mode, at trace.Object) Effect { return Effect{m, Lock, uint64(at), 1} }

func thread(m Mode, t uint64) Effect { return Effect{m, Life, t, 1} }

// Effects appends the effects of the execution's next event to buf. An event without effects may
// move freely within its thread's order.
func (in *Interpreter) Effects(ev *trace.Event, buf []Effect) []Effect {
	at, size := ev.Object, ev.Bytes()
	if len(in.switched) > 0 {
		buf = in.arrive(ev, buf)
	}
	action := ops.Does(ev.Op)
	switch action {
	case ops.Read, ops.AtomicRead:
		return append(buf, memory(Read, at, size))
	case ops.Write, ops.AtomicWrite:
		return append(buf, memory(Write, at, size))
	case ops.Exchange:
		return append(buf, memory(Read, at, size), memory(Write, at, size))
	case ops.Compare:
		buf = append(buf, memory(Read, at, size))
		if ev.Result != 0 {
			buf = append(buf, memory(Write, at, size))
		}
		return buf
	case ops.Allocate, ops.Free:
		// The block's life: an access by another thread before the block was allocated, or
		// after it was freed, is an access to another block.
		if !at.Nowhere() {
			buf = append(buf, memory(Write, at, size))
		}
		return buf

	case ops.Start:
		return append(buf, thread(Begin, uint64(ev.Thread)))
	case ops.Finish:
		over := lifeOf(uint64(ev.Thread))
		over.Mode = Change
		return append(buf, thread(End, uint64(ev.Thread)), over)
	case ops.Create:
		if id, ok := ev.Child(); ok {
			buf = append(buf, thread(Create, uint64(id)))
		}
		return buf
	case ops.Join:
		if ev.Result == 0 {
			return append(buf, thread(Join, ev.Value))
		}
		return append(buf, lifeOf(ev.Value))
	case ops.Stop:
		return append(buf, Effect{Mode: Fence, Kind: Ending})
	case ops.None, ops.Exit, ops.Fence:
		return buf
	case ops.Cancel:
		return append(buf, Effect{Mode: Fence, Kind: Signal})
	}

	if ev.Op >= trace.OpGo {
		return in.goroutine(ev, buf)
	}
	switch spec := ops.Of(ev.Op); spec.Of {
	case ops.Signal, ops.Timer:
		buf = append(buf, Effect{Change, Signal, signals, 1})
		if spec.Blocks != ops.UntilSignal {
			// The effect of a signal depends on which threads block it, wait for it or
			// have ended by then, and not all of that is recorded.
			buf = append(buf, Effect{Mode: Fence, Kind: Signal})
		}
		return buf
	case ops.Descriptor:
		table := Change
		if action == ops.Receive || action == ops.Transmit {
			table = Observe
		}
		if kind, _, _ := ev.Object.Channel(); kind == trace.ChannelSignals {
			buf = append(buf, Effect{Change, Signal, signals, 1}) // which it takes from other waits
		}
		return append(buf, object(Change, at), Effect{table, Lock, descriptors, 1})
	default:
		return in.synchronise(spec, ev, buf)
	}
}

// synchronise returns the effects of an operation on a synchronisation object.
func (in *Interpreter) synchronise(spec *ops.Spec, ev *trace.Event, buf []Effect) []Effect {
	at := ev.Object
	// An object in a heap block must not be used before the block is allocated or after it is
	// freed.
	if at.Region() == trace.RegionHeap {
		buf = append(buf, memory(Read, at, 1))
	}
	switch spec.Of {
	case ops.Mutex, ops.RWLock, ops.Once:
		return in.lock(spec, ev, buf)
	case ops.Condition:
		return in.condition(ev, buf)
	case ops.Semaphore:
		if spec.Does != ops.Opaque {
			return in.semaphore(ev, buf)
		}
	case ops.Barrier:
		return in.barrier(ev, buf)
	case ops.Futex:
		if spec.Does == ops.Wait {
			buf = append(buf, memory(Read, at, 4))
		}
		return append(buf, object(Change, at))
	}
	return append(buf, Effect{Mode: Fence, Kind: Ending})
}

// lock returns the effects of an operation on a lock or once. The state follows reader-writer locks
// only: the effects on other locks do not depend on the holder.
func (in *Interpreter) lock(spec *ops.Spec, ev *trace.Event, buf []Effect) []Effect {
	if spec.Of == ops.RWLock {
		return in.rwlock(spec, ev, buf)
	}
	mode := Change
	switch spec.Does {
	case ops.Acquire:
		mode = Acquire
	case ops.Release, ops.Abandon:
		mode = Release
	case ops.Begin:
		if ev.Value != 1 {
			return append(buf, object(AcquireShared, ev.Object), object(ReleaseShared, ev.Object))
		}
		mode = Acquire
	}
	if mode != Change && !spec.Done(ev) {
		mode = Observe
	}
	if spec.Of == ops.Once && mode == Release {
		// Compiled code reads the first byte of a C++ guard to check whether it is done.
		buf = append(buf, memory(Write, ev.Object, 1))
	}
	return append(buf, object(mode, ev.Object))
}

func (in *Interpreter) rwlock(spec *ops.Spec, ev *trace.Event, buf []Effect) []Effect {
	mode := Observe // of a failed operation
	switch spec.Does {
	case ops.Init, ops.Destroy, ops.Announce, ops.Acquire:
		// A write lock may have failed because of readers: a reader's release changes its
		// result.
		mode = Change
	}
	for _, c := range in.state.Apply(ev) {
		switch c.Kind {
		case ops.Acquired:
			mode = Acquire
		case ops.AcquiredShared:
			mode = AcquireShared
		case ops.Released:
			mode = Release
		case ops.ReleasedShared:
			mode = ReleaseShared
		}
	}
	return append(buf, object(mode, ev.Object))
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
