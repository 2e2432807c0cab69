package rapid

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"syscall"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/trace"
)

// Options say how to write.
type Options struct {
	Gzip bool
	// Names are those of the trace if it was read from STD; nil otherwise, or if they
	// are all a letter and a number.
	Names *Names
}

// Written is the result of Write.
type Written struct {
	Lines int
	// Lost is what STD could not say.
	Lost []Loss
	// Places are what the numbers in the third field stand for, of a trace that does not
	// come from STD: number i+1 is Places[i], 0 an unknown place.
	Places []trace.Site
}

// Write writes a trace as STD. A trace that was read from STD comes out as it was, but for
// what Read lost. Of others,
//
//   - a variable is a piece of memory that is always accessed as a whole; an access of
//     several is several lines;
//   - an atomic access is a critical section of a lock of its own, so that atomics make
//     no races;
//   - conditions, semaphores, barriers, once, futexes and signals, and both kinds of locking a
//     read-write lock for reading, are empty critical sections of a lock of their own:
//     who comes later is ordered after who came before, which is no less than the truth;
//   - starts and ends of threads, heap blocks, what ends the execution, operations that
//     failed, and those that order nothing are left out.
//
// All of it is in Written.Lost.
func Write(w io.Writer, t *trace.Trace, o Options) (*Written, error) {
	label := func(id trace.ThreadID) string {
		if t.Header.Target == Target && int(id) < len(t.Threads) && t.Threads[id].Label != "" && badName([]byte(t.Threads[id].Label)) == "" {
			return t.Threads[id].Label
		}
		return "T" + strconv.Itoa(int(id))
	}
	events := func(yield func(*trace.Event) bool) {
		for i := range t.Events {
			if !yield(&t.Events[i]) {
				return
			}
		}
	}
	return write(w, events, label, t.Header.Target == Target, o)
}

// write writes events, which it goes through twice. Label names the threads.
func write(w io.Writer, events iter.Seq[*trace.Event], label func(trace.ThreadID) string, own bool, o Options) (*Written, error) {
	out := &writer{own: own, label: label, names: o.Names, sites: map[trace.Site]int{}, held: map[hold]int{}, let: map[trace.ThreadID]int{}, writers: map[trace.Object]trace.ThreadID{}}
	out.survey(events)
	buf := bufio.NewWriterSize(w, 1<<16)
	var z *gzip.Writer
	if o.Gzip {
		z = gzip.NewWriter(buf)
		out.w = bufio.NewWriterSize(z, 1<<16)
	} else {
		out.w = buf
	}
	i := 0
	for ev := range events {
		out.event(i, ev)
		i++
	}
	if err := out.w.Flush(); err != nil {
		return nil, fmt.Errorf("write STD: %w", err)
	}
	if z != nil {
		if err := z.Close(); err != nil {
			return nil, fmt.Errorf("write STD: %w", err)
		}
		if err := buf.Flush(); err != nil {
			return nil, fmt.Errorf("write STD: %w", err)
		}
	}
	return &Written{out.lines, out.lost.list, out.places}, nil
}

// hold is a lock held by a thread.
type hold struct {
	thread trace.ThreadID
	lock   trace.Object
}

type writer struct {
	w       *bufio.Writer
	own     bool // the trace was read from STD
	label   func(trace.ThreadID) string
	names   *Names
	lost    losses
	lines   int
	places  []trace.Site
	sites   map[trace.Site]int
	held    map[hold]int
	let     map[trace.ThreadID]int          // how often a thread had the mutex of its wait
	writers map[trace.Object]trace.ThreadID // who has a read-write lock for writing

	bounds depend.Table
	sorted []uint64 // where accesses begin and end
	rank   []int32  // of each number of bounds, its place in sorted
}

// survey finds the pieces of memory.
func (w *writer) survey(events iter.Seq[*trace.Event]) {
	note := func(at uint64) {
		if n := w.bounds.Len(); w.bounds.Number(at) == uint32(n) {
			w.sorted = append(w.sorted, at)
		}
	}
	for ev := range events {
		if at, size := accessed(ev); size > 0 {
			note(at)
			note(at + size)
		}
	}
	slices.Sort(w.sorted)
	w.rank = make([]int32, len(w.sorted))
	for i, at := range w.sorted {
		n, _ := w.bounds.Get(at)
		w.rank[n] = int32(i)
	}
}

// accessed is the memory that an event reads or writes.
func accessed(ev *trace.Event) (at, size uint64) {
	switch ev.Op {
	case trace.OpRead, trace.OpWrite, trace.OpReadRange, trace.OpWriteRange, trace.OpAtomicLoad, trace.OpAtomicStore, trace.OpAtomicRmw, trace.OpAtomicCas:
		return uint64(ev.Object), uint64(max(ev.Size, 1))
	case trace.OpFutexWait:
		return uint64(ev.Object), 4 // the futex's word
	}
	return 0, 0
}

func (w *writer) line(ev *trace.Event, op, what string) {
	w.lines++
	w.w.WriteString(w.label(ev.Thread))
	w.w.WriteByte('|')
	w.w.WriteString(op)
	if what != "" {
		w.w.WriteByte('(')
		w.w.WriteString(what)
		w.w.WriteByte(')')
	}
	w.w.WriteByte('|')
	w.w.WriteString(strconv.FormatInt(w.place(ev.Site), 10))
	w.w.WriteByte('\n')
}

func (w *writer) place(s trace.Site) int64 {
	if w.own {
		return int64(s.Offset())
	}
	if s == 0 {
		return 0
	}
	n, ok := w.sites[s]
	if !ok {
		w.places = append(w.places, s)
		n = len(w.places)
		w.sites[s] = n
	}
	return int64(n)
}

// called is what an object is called.
func (w *writer) called(o trace.Object) string {
	if w.own {
		if s, ok := w.names.name(o); ok {
			return s
		}
	}
	return fmt.Sprintf("%s+%x", [...]string{"a", "g" + strconv.Itoa(o.Index()), "h", "s" + strconv.Itoa(o.Index())}[o.Region()&3], o.Offset())
}

// access writes a line for each piece of memory.
func (w *writer) access(ev *trace.Event, op string) {
	if w.own && ev.Size == wordSize {
		w.line(ev, op, w.called(ev.Object))
		return
	}
	at, size := accessed(ev)
	lo, _ := w.bounds.Get(at)
	hi, _ := w.bounds.Get(at + size)
	for i := w.rank[lo]; i < w.rank[hi]; i++ {
		w.line(ev, op, w.called(trace.Object(w.sorted[i])))
	}
}

// alone writes something as a critical section of a lock of the object's own.
func (w *writer) alone(ev *trace.Event, sort string, body func()) {
	lock := w.called(ev.Object) + "." + sort
	w.line(ev, "acq", lock)
	if body != nil {
		body()
	}
	w.line(ev, "rel", lock)
}

func (w *writer) acquire(ev *trace.Event, lock trace.Object, times int) {
	h := hold{ev.Thread, lock}
	if w.held[h] == 0 {
		w.line(ev, "acq", w.called(lock))
	}
	w.held[h] += times
}

func (w *writer) release(ev *trace.Event, lock trace.Object, times int) {
	h := hold{ev.Thread, lock}
	if w.held[h] -= times; w.held[h] <= 0 {
		delete(w.held, h)
		w.line(ev, "rel", w.called(lock))
	}
}

// event writes what an event is in STD.
func (w *writer) event(i int, ev *trace.Event) {
	lose := func(what string) { w.lost.add(i, what) }
	failed := func() { lose("operations that failed: left out") }
	ok := ev.Result == 0
	switch ev.Op {
	case trace.OpRead, trace.OpReadRange:
		w.access(ev, "r")
	case trace.OpWrite, trace.OpWriteRange:
		w.access(ev, "w")
	case trace.OpAtomicLoad, trace.OpAtomicStore, trace.OpAtomicRmw, trace.OpAtomicCas:
		lose("atomic accesses: written as critical sections of a lock of their own")
		w.alone(ev, "atomic", func() {
			if ev.Op != trace.OpAtomicStore {
				w.access(ev, "r")
			}
			if ev.Op == trace.OpAtomicStore || ev.Op == trace.OpAtomicRmw || ev.Op == trace.OpAtomicCas && ev.Result != 0 {
				w.access(ev, "w")
			}
		})
	case trace.OpMutexLock, trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpSpinLock, trace.OpSpinTrylock:
		if !ok && ev.Result != int32(syscall.EOWNERDEAD) {
			failed()
			return
		}
		if w.held[hold{ev.Thread, ev.Object}] > 0 {
			lose("locks taken again by the thread that had them: left out")
		}
		w.acquire(ev, ev.Object, 1)
	case trace.OpMutexAbandon:
		w.release(ev, ev.Object, max(1, w.held[hold{ev.Thread, ev.Object}]))
	case trace.OpMutexUnlock, trace.OpSpinUnlock:
		if !ok {
			failed()
			return
		}
		w.release(ev, ev.Object, 1)
	case trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock:
		if !ok {
			failed()
			return
		}
		w.writers[ev.Object] = ev.Thread
		w.acquire(ev, ev.Object, 1)
	case trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock:
		if !ok {
			failed()
			return
		}
		lose("locks taken and left for reading: written as empty critical sections")
		w.reader(ev)
	case trace.OpRwlockUnlock:
		if u, held := w.writers[ev.Object]; held && u == ev.Thread {
			delete(w.writers, ev.Object)
			w.release(ev, ev.Object, 1)
			return
		}
		lose("locks taken and left for reading: written as empty critical sections")
		w.reader(ev)
	case trace.OpCondWait:
		lose("operations of conditions: written as critical sections of a lock of their own")
		w.alone(ev, "cond", nil)
		h := hold{ev.Thread, trace.Object(ev.Aux)}
		w.let[ev.Thread] = max(1, w.held[h])
		w.release(ev, h.lock, w.let[ev.Thread])
	case trace.OpCondWake:
		lose("operations of conditions: written as critical sections of a lock of their own")
		w.alone(ev, "cond", nil)
		if ev.Result != int32(syscall.ENOTRECOVERABLE) {
			w.acquire(ev, trace.Object(ev.Aux), max(1, w.let[ev.Thread]))
		}
	case trace.OpCondSignal, trace.OpCondBroadcast:
		lose("operations of conditions: written as critical sections of a lock of their own")
		w.alone(ev, "cond", nil)
	case trace.OpSemPost, trace.OpSemWait, trace.OpSemTrywait, trace.OpSemTimedwait:
		if !ok {
			failed()
			return
		}
		lose("operations of semaphores: written as critical sections of a lock of their own")
		w.alone(ev, "sem", nil)
	case trace.OpBarrierWait, trace.OpBarrierLeave:
		lose("operations of barriers: written as critical sections of a lock of their own")
		w.alone(ev, "barrier", nil)
	case trace.OpOnceBegin, trace.OpOnceEnd:
		lose("operations of once: written as critical sections of a lock of their own")
		w.alone(ev, "once", nil)
	case trace.OpFutexWake, trace.OpFutexWakeup, trace.OpFutexWait:
		lose("operations of futexes: written as critical sections of a lock of their own")
		w.alone(ev, "futex", nil)
		if ev.Op == trace.OpFutexWait {
			w.alone(ev, "atomic", func() { w.access(ev, "r") })
		}
	case trace.OpCancel, trace.OpCancelTest:
		lose("cancellations: written as critical sections of a lock of their own")
		w.alone(&trace.Event{Thread: ev.Thread, Site: ev.Site}, "cancellations", nil)
	case trace.OpCondTimeout, trace.OpSpuriousWake:
		lose("time-outs of conditions and spurious wake-ups: left out")
	case trace.OpSignalMask, trace.OpSignalAction, trace.OpSignalPending, trace.OpSignalSuspend, trace.OpSignalResume, trace.OpSignalReturn, trace.OpTimerDelete:
		lose("masks and handlers of signals: left out")
	case trace.OpSignalSend, trace.OpSignalWait, trace.OpSignalDeliver, trace.OpSignalInterrupt, trace.OpTimerSet, trace.OpTimerExpire:
		lose("signals: written as critical sections of a lock of their own")
		w.alone(&trace.Event{Thread: ev.Thread, Site: ev.Site}, "signals", nil)
	case trace.OpFdRead, trace.OpFdWrite, trace.OpFdAccept, trace.OpFdConnect, trace.OpFdClose, trace.OpFdShutdown, trace.OpFdListen, trace.OpFdPoll, trace.OpFdCtl, trace.OpFdOpen:
		lose("operations on descriptors: written as critical sections of a lock of their own")
		w.alone(&trace.Event{Thread: ev.Thread, Site: ev.Site}, "descriptors", nil)
	case trace.OpThreadCreate, trace.OpThreadJoin, trace.OpGo:
		switch {
		case !ok:
			failed()
		case w.own && ev.Flags&trace.FlagNoChoice != 0: // put in when it was read
		case ev.Op != trace.OpThreadJoin:
			w.line(ev, "fork", w.label(trace.ThreadID(ev.Value)))
		default:
			w.line(ev, "join", w.label(trace.ThreadID(ev.Value)))
		}
	case trace.OpThreadStart, trace.OpThreadEnd:
		switch {
		case !w.own:
			lose("starts and ends of threads: left out, begin and end are the bounds of atomic blocks")
		case ev.Flags&trace.FlagNoChoice != 0: // put in when it was read
		case ev.Op == trace.OpThreadStart:
			w.line(ev, "begin", "")
		default:
			w.line(ev, "end", "")
		}
	case trace.OpMalloc, trace.OpFree:
		lose("heap blocks allocated and freed: left out")
	case trace.OpProcessExit, trace.OpAbort, trace.OpSignal:
		lose("what ended the execution: left out")
	case trace.OpYield, trace.OpSleep, trace.OpAtomicFence, trace.OpThreadCreated, trace.OpThreadDetach, trace.OpThreadExit:
		lose("operations that order nothing: left out")
	case trace.OpAcquire, trace.OpRelease, trace.OpReleaseMerge, trace.OpReleaseAcquire:
		lose("acquires and releases of Go's race detector: written as critical sections of a lock of their own")
		w.alone(ev, "sync", nil)
	default:
		if ev.Op >= trace.OpGo {
			lose("operations of Go, which order nothing on their own: left out")
			return
		}
		if ev.Object == 0 {
			lose("operations that STD has no word for: left out")
			return
		}
		lose("inits, destroys and other operations of objects: left out")
	}
}

// reader is a read-write lock taken or left for reading: ordered with writers, and, which
// is more than the truth, with readers.
func (w *writer) reader(ev *trace.Event) {
	w.line(ev, "acq", w.called(ev.Object))
	w.line(ev, "rel", w.called(ev.Object))
}
