package depend

import (
	"slices"
	"syscall"

	"github.com/heddle-dev/heddle/trace"
)

// Enabled works out which threads could have taken each of a trace's events instead: those
// that were there, and whose next operation, as the trace goes on, did not have to wait.
// It is for traces that were reordered or come from tools that do not record it. Events
// that were not choices, and threads of which no later event is recorded but which had not
// ended, are decided by what the trace's own sets and waiters say.
//
// When virtual time passes is not in a trace. So a thread that sleeps, or whose wait is about
// to time out, counts as blocked until its own event, unless a signal or a cancellation ends
// the wait: such a thread may be missing from a set, and is never there wrongly.
//
// A thread whose event came early (trace.Event.Early) is in its own event's set if it was
// ready, or if the trace's own set has it: a wait whose time had come does not overtake
// (trace.Event.Overtakes), and one that overtook still does.
func Enabled(t *trace.Trace) []trace.ThreadSet {
	s := newReplay(t)
	out := make([]trace.ThreadSet, len(t.Events))
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Flags&trace.FlagNoChoice == 0 {
			for u := range s.alive.All() {
				if s.ready(u) {
					out[i].Add(u)
				}
			}
			if !ev.Early() || ev.Enabled.Has(ev.Thread) {
				out[i].Add(ev.Thread)
			}
		}
		s.apply(i)
	}
	return out
}

// replay follows the state of threads and synchronisation objects.
type replay struct {
	t       *trace.Trace
	threads []replayThread
	alive   trace.ThreadSet // created, and not ended
	locks   map[trace.Object]*replayLock
	sems    map[trace.Object]int64
	queues  map[trace.Object][]trace.ThreadID
	bars    map[trace.Object]*replayBarrier
	once    map[trace.Object]bool   // running
	signals map[trace.Object]uint64 // pending, of threads that are known by their data, and (0) of the process
	at      int                     // the event to come
	wakes   map[int32]int32         // of each resume, the event that made it possible at the latest
	pending map[trace.Object]int64  // bytes, counts and connections that nobody has taken yet
	ended   map[trace.Object]bool   // channels that will bring no more
}

type replayThread struct {
	events  []int32 // choices
	done    int     // of events
	created bool
	ended   bool
	cancel  bool   // it was asked to end, or does
	queued  bool   // it asked for a lock before its readers
	granted bool   // what it waits for has come
	signals uint64 // pending for it alone
	// interrupted: a handler has run in its call, which will fail
	interrupted bool
	count       int  // of the mutex that its condition wait let go
	away        bool // a coroutine that switched to another one
	waiter      *trace.Waiter
	unknown     bool // enabled after its last event, as far as the trace says
}

type replayLock struct {
	writer         trace.ThreadID // + 1
	count, readers int
	queued         int // writers that readers wait for
}

type replayBarrier struct {
	count   uint64
	arrived []trace.ThreadID
}

func newReplay(t *trace.Trace) *replay {
	s := &replay{t: t, locks: map[trace.Object]*replayLock{}, sems: map[trace.Object]int64{}, queues: map[trace.Object][]trace.ThreadID{}, bars: map[trace.Object]*replayBarrier{}, once: map[trace.Object]bool{}, signals: map[trace.Object]uint64{}, pending: map[trace.Object]int64{}, ended: map[trace.Object]bool{}}
	n := len(t.Threads)
	for i := range t.Events {
		n = max(n, int(t.Events[i].Thread)+1)
	}
	s.threads = make([]replayThread, n)
	for u := range s.threads {
		s.threads[u].created = true
	}
	last := trace.ThreadSet{}
	for i := range t.Events {
		ev := &t.Events[i]
		if id, ok := ev.Child(); ok && int(id) < n {
			s.threads[id].created = false
		}
		if ev.Flags&trace.FlagNoChoice == 0 {
			u := &s.threads[ev.Thread]
			u.events = append(u.events, int32(i))
			last = ev.Enabled
		}
		s.firstCount(ev)
	}
	s.findWakes()
	for u := range s.threads {
		if s.threads[u].created {
			s.alive.Add(trace.ThreadID(u))
		}
		s.threads[u].unknown = last.Has(trace.ThreadID(u))
	}
	for i := range t.Ending.Waiters {
		if w := &t.Ending.Waiters[i]; w.Thread >= 0 && int(w.Thread) < n {
			s.threads[w.Thread].waiter = w
		}
	}
	return s
}

// firstCount notes what a semaphore's count was before the first event of it.
func (s *replay) firstCount(ev *trace.Event) {
	if _, ok := s.sems[ev.Object]; ok || ev.Result != 0 {
		return
	}
	switch ev.Op {
	case trace.OpSemInit, trace.OpSemGetvalue:
		s.sems[ev.Object] = int64(ev.Value)
	case trace.OpSemPost:
		s.sems[ev.Object] = int64(ev.Value) - 1
	case trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait:
		s.sems[ev.Object] = int64(ev.Value) + 1
	}
}

func (s *replay) lock(at trace.Object) *replayLock { return get(&s.locks, at) }

// ready reports whether a thread could take a step.
func (s *replay) ready(u trace.ThreadID) bool {
	th := &s.threads[u]
	if !th.created || th.ended {
		return false
	}
	if th.interrupted {
		return true
	}
	if th.done < len(th.events) {
		next := th.events[th.done]
		ev := &s.t.Events[next]
		switch {
		case ev.Op == trace.OpTimerFire || th.away:
			return false
		case ev.Op == trace.OpResume:
			return int(s.wakes[next]) < s.at
		case ev.Op == trace.OpThreadJoin && ev.Result == int32(syscall.EBUSY):
			return true // it does not wait
		case ev.Result == int32(syscall.EINVAL) && isTimed(ev.Op):
			return true // no deadline to wait for
		case ev.Flags&trace.FlagTimeout != 0 && isTransfer(ev.Op):
			return false // whether it could go on is not in the trace; it could not when it timed out
		case ev.Result == cancelled && th.cancel:
			return ev.Op != trace.OpCondWake || s.free(trace.Object(ev.Aux), u)
		}
		return s.can(u, ev.Op, ev.Object, ev.Aux, ev.Value)
	}
	// What it does next is not recorded, but may follow from what it did last, or from
	// what it was about to do when the execution ended.
	if n := len(th.events); n > 0 {
		switch ev := &s.t.Events[th.events[n-1]]; ev.Op {
		case trace.OpCondWait:
			return s.can(u, trace.OpCondWake, ev.Object, ev.Aux, 0)
		case trace.OpFutexWait, trace.OpBarrierWait:
			if ev.Result == 0 {
				return th.granted
			}
		}
	}
	if w := th.waiter; w != nil {
		if w.Op == trace.OpThreadJoin || w.Op >= trace.OpGo {
			return w.Ready
		}
		return s.can(u, w.Op, w.Object, 0, 1)
	}
	return th.unknown
}

// can reports whether thread u could do an operation now.
func (s *replay) can(u trace.ThreadID, op trace.Op, at trace.Object, aux, value uint64) bool {
	th := &s.threads[u]
	switch op {
	case trace.OpMutexLock, trace.OpMutexTimedlock, trace.OpSpinLock, trace.OpRwlockWrlock, trace.OpRwlockTimedwrlock:
		return s.free(at, u)
	case trace.OpRwlockRdlock, trace.OpRwlockTimedrdlock:
		l := s.lock(at)
		return l.writer == u+1 || l.writer == 0 && l.queued == 0
	case trace.OpCondWake:
		return th.granted && s.free(trace.Object(aux), u)
	case trace.OpFutexWakeup, trace.OpBarrierLeave:
		return th.granted
	case trace.OpSemWait, trace.OpSemTimedwait:
		return s.sems[at] > 0
	case trace.OpOnceBegin:
		return !s.once[at]
	case trace.OpSignalWait:
		return (s.signals[at]|s.signals[0]|th.signals)&aux != 0
	case trace.OpSignalDeliver, trace.OpSignalInterrupt:
		return value == 0 || (s.signals[0]|th.signals)&signalBit(value) != 0
	case trace.OpSignalResume:
		return false // unless interrupted
	case trace.OpCondTimeout, trace.OpSpuriousWake, trace.OpTimerExpire, trace.OpSleep:
		return false // when time passes is not recorded
	case trace.OpFdRead, trace.OpFdAccept:
		// An end and an error come with nothing; they can be had when the trace has them.
		// Nobody waits for a file.
		kind, _, _ := at.Channel()
		return value == 0 || s.pending[at] > 0 || s.ended[at] || kind == "file"
	case trace.OpThreadJoin:
		return value >= uint64(len(s.threads)) || s.threads[value].ended || s.over(value)
	}
	return true
}

// isTimed reports whether an operation has a deadline, which may be an invalid one.
func isTimed(op trace.Op) bool {
	switch op {
	case trace.OpMutexTimedlock, trace.OpRwlockTimedrdlock, trace.OpRwlockTimedwrlock, trace.OpSemTimedwait:
		return true
	}
	return false
}

// isTransfer reports whether an operation waits for a descriptor.
func isTransfer(op trace.Op) bool {
	switch op {
	case trace.OpFdRead, trace.OpFdWrite, trace.OpFdPoll, trace.OpFdConnect, trace.OpFdAccept:
		return true
	}
	return false
}

// free reports whether thread u could have a lock for itself.
func (s *replay) free(at trace.Object, u trace.ThreadID) bool {
	l := s.lock(at)
	return l.writer == 0 && l.readers == 0 || l.writer == u+1
}

// over reports whether a thread that has no end event has done all it does.
func (s *replay) over(u uint64) bool {
	th := &s.threads[u]
	return th.created && th.done == len(th.events) && (u >= uint64(len(s.t.Threads)) || !s.t.Threads[u].Ended) && th.waiter == nil
}

// apply does event i.
func (s *replay) apply(i int) {
	s.at = i + 1
	ev := &s.t.Events[i]
	u := ev.Thread
	th := &s.threads[u]
	if ev.Flags&trace.FlagNoChoice == 0 {
		th.done++
	}
	ok := ev.Result == 0
	switch ev.Op {
	case trace.OpThreadEnd:
		th.ended = true
		s.alive.Remove(ev.Thread)
	case trace.OpThreadCreate, trace.OpGo:
		if id, ok := ev.Child(); ok && int(id) < len(s.threads) {
			s.threads[id].created = true
			s.alive.Add(id)
		}
	case trace.OpCoroSwitch:
		th.away = true
		if ev.Value < uint64(len(s.threads)) {
			s.threads[ev.Value].away = false
		}
	case trace.OpMutexLock, trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpSpinLock, trace.OpSpinTrylock,
		trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock:
		if th.queued {
			s.lock(ev.Object).queued--
			th.queued = false
		}
		if ok || ev.Result == ownerDead {
			s.lock(ev.Object).take(u, 1)
		}
	case trace.OpRwlockQueue:
		s.lock(ev.Object).queued++
		th.queued = true
	case trace.OpMutexUnlock, trace.OpSpinUnlock:
		if ok {
			s.lock(ev.Object).release(1)
		}
	case trace.OpMutexAbandon:
		l := s.lock(ev.Object)
		l.release(l.count)
	case trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock:
		if ok {
			s.lock(ev.Object).readers++
		}
	case trace.OpRwlockUnlock:
		if l := s.lock(ev.Object); l.writer == u+1 {
			l.release(1)
		} else if l.readers > 0 {
			l.readers--
		}
	case trace.OpCondWait:
		l := s.lock(trace.Object(ev.Aux))
		th.count, th.granted = max(1, l.count), false
		l.release(l.count)
		s.queues[ev.Object] = append(s.queues[ev.Object], u)
	case trace.OpCondWake:
		if ev.Result != notRecoverable {
			s.lock(trace.Object(ev.Aux)).take(u, th.count)
		}
		s.unqueue(ev.Object, u)
	case trace.OpCondSignal:
		if ev.Value > 0 {
			s.grant(ev.Object, trace.ThreadID(ev.Value)-1)
		}
	case trace.OpCondBroadcast:
		for _, w := range slices.Clone(s.queues[ev.Object]) {
			s.grant(ev.Object, w)
		}
	case trace.OpFutexWait:
		if ok {
			th.granted = false
			s.queues[ev.Object] = append(s.queues[ev.Object], u)
		}
	case trace.OpFutexWakeup:
		s.unqueue(ev.Object, u)
	case trace.OpCondTimeout, trace.OpSpuriousWake:
		s.grant(ev.Object, u) // on its own
	case trace.OpFutexWake:
		n := ev.Value
		for _, w := range slices.Clone(s.queues[ev.Object]) {
			// The event does not say whom it woke: not one whose wait timed out or was spurious.
			if x := &s.threads[w]; n > 0 && (x.done == len(x.events) || !wakesItself(&s.t.Events[x.events[x.done]])) {
				s.grant(ev.Object, w)
				n--
			}
		}
	case trace.OpSemInit:
		s.sems[ev.Object] = int64(ev.Value)
	case trace.OpSemPost:
		if ok {
			s.sems[ev.Object]++
		}
	case trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait:
		if ok {
			s.sems[ev.Object]--
		}
	case trace.OpBarrierInit:
		get(&s.bars, ev.Object).count = ev.Value
	case trace.OpBarrierWait:
		b := get(&s.bars, ev.Object)
		b.arrived = append(b.arrived, u)
		th.granted = b.count == 0
		if b.count > 0 && uint64(len(b.arrived)) >= b.count {
			for _, w := range b.arrived {
				s.threads[w].granted = true
			}
			b.arrived = nil
		}
	case trace.OpOnceBegin:
		if ev.Value == 1 {
			s.once[ev.Object] = true
		}
	case trace.OpOnceEnd:
		s.once[ev.Object] = false
	case trace.OpThreadExit:
		th.cancel = true
	case trace.OpCancel:
		if ev.Value < uint64(len(s.threads)) {
			s.threads[ev.Value].cancel = true
		}
	case trace.OpFdOpen, trace.OpFdWrite:
		if ok {
			s.pending[ev.Object] += int64(ev.Value)
		}
	case trace.OpFdConnect:
		s.pending[ev.Object]++ // also one that is in progress
	case trace.OpFdRead:
		if ok {
			s.pending[ev.Object] -= int64(ev.Value)
		}
	case trace.OpFdAccept:
		if ok {
			s.pending[ev.Object]--
		}
	case trace.OpFdClose, trace.OpFdShutdown:
		s.ended[ev.Object] = true
	case trace.OpSignalSend, trace.OpTimerExpire:
		if to := ev.Aux - 1; ok && to < uint64(len(s.threads)) {
			s.threads[to].signals |= signalBit(ev.Value)
		} else if ok {
			s.signals[ev.Object] |= signalBit(ev.Value)
		}
	case trace.OpSignalWait, trace.OpSignalDeliver, trace.OpSignalInterrupt:
		if ev.Flags&trace.FlagNoChoice != 0 {
			break // a fault
		}
		switch bit := signalBit(ev.Value); {
		case ev.Op == trace.OpSignalWait && !ok:
		case th.signals&bit != 0:
			th.signals &^= bit
		case s.signals[ev.Object]&bit != 0:
			s.signals[ev.Object] &^= bit
		default:
			s.signals[0] &^= bit
		}
	}
	if ev.Op == trace.OpSignalInterrupt {
		th.interrupted = true
	} else if ev.Result == interrupted || ev.Result == cancelled {
		th.interrupted = false
	}
}

// interrupted is what a call fails with in which a signal handler has run.
const interrupted = int32(syscall.EINTR)

// signalBit is the bit of a signal in a set, 0 for a number that is none's.
func signalBit(number uint64) uint64 { return 1 << (number - 1) }

// wakesItself reports whether the event that a thread goes on with after a wait says that
// nobody woke it.
func wakesItself(ev *trace.Event) bool { return ev.Result != 0 || ev.Op == trace.OpSpuriousWake }

func (l *replayLock) take(u trace.ThreadID, n int) { l.writer, l.count = u+1, l.count+n }

func (l *replayLock) release(n int) {
	if l.count -= n; l.count <= 0 {
		*l = replayLock{readers: l.readers, queued: l.queued}
	}
}

func (s *replay) grant(at trace.Object, u trace.ThreadID) {
	if u >= 0 && int(u) < len(s.threads) {
		s.threads[u].granted = true
		s.unqueue(at, u)
	}
}

func (s *replay) unqueue(at trace.Object, u trace.ThreadID) {
	s.queues[at] = slices.DeleteFunc(s.queues[at], func(w trace.ThreadID) bool { return w == u })
}
