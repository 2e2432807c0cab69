package rapid

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/ops"
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
	// Places are what the numbers in the third field represent, of a trace that does not
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
//     a later thread is ordered after an earlier one, which never removes an ordering;
//   - starts and ends of threads, heap blocks, what ends the execution, operations that
//     failed, and those that order nothing are omitted.
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
	out := &writer{own: own, label: label, names: o.Names, sites: map[trace.Site]int{}}
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

type writer struct {
	w      *bufio.Writer
	own    bool // the trace was read from STD
	label  func(trace.ThreadID) string
	names  *Names
	lost   losses
	lines  int
	places []trace.Site
	sites  map[trace.Site]int
	state  ops.State

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
	switch spec := ops.Of(ev.Op); {
	case spec.Of == ops.Memory && spec.Does != ops.Fence:
		return uint64(ev.Object), uint64(max(ev.Size, 1))
	case spec.Of == ops.Futex && spec.Does == ops.Wait:
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

// lock writes the locks that an event acquired and released. Reader-writer locks held for
// reading are ordered with writers, and, which is more than the truth, with readers.
func (w *writer) lock(ev *trace.Event, changes []ops.Change, lose func(string)) {
	for i := range changes {
		c := &changes[i]
		lock := w.called(c.Object.Name)
		switch c.Kind {
		case ops.Acquired:
			if c.Depth == c.N {
				w.line(ev, "acq", lock)
			} else {
				lose("locks taken again by the thread that had them: omitted")
			}
		case ops.Released:
			if c.Depth == 0 {
				w.line(ev, "rel", lock)
			}
		case ops.AcquiredShared, ops.ReleasedShared:
			lose("locks taken and left for reading: written as empty critical sections")
			w.line(ev, "acq", lock)
			w.line(ev, "rel", lock)
		}
	}
}

// sections are the families whose operations are critical sections of a lock of their own: of
// one of the object's, or of one for all.
var sections = map[ops.Family]struct {
	sort, of string
	shared   bool
}{
	ops.Condition:  {"cond", "operations of conditions", false},
	ops.Semaphore:  {"sem", "operations of semaphores", false},
	ops.Barrier:    {"barrier", "operations of barriers", false},
	ops.Once:       {"once", "operations of once", false},
	ops.Futex:      {"futex", "operations of futexes", false},
	ops.SyncVar:    {"sync", "acquires and releases of Go's race detector", false},
	ops.Signal:     {"signals", "signals", true},
	ops.Timer:      {"signals", "signals", true},
	ops.Descriptor: {"descriptors", "operations on descriptors", true},
}

// section writes an event as a critical section of a lock of its own.
func (w *writer) section(ev *trace.Event, family ops.Family, lose func(string)) {
	s := sections[family]
	lose(s.of + ": written as critical sections of a lock of their own")
	if s.shared {
		ev = &trace.Event{Thread: ev.Thread, Site: ev.Site}
	}
	w.alone(ev, s.sort, nil)
}

// event writes what an event is in STD.
func (w *writer) event(i int, ev *trace.Event) {
	lose := func(what string) { w.lost.add(i, what) }
	failed := func() { lose("operations that failed: omitted") }
	spec := ops.Of(ev.Op)
	changes := w.state.Apply(ev)
	switch spec.Does {
	case ops.Read:
		w.access(ev, "r")
	case ops.Write:
		w.access(ev, "w")
	case ops.AtomicRead, ops.AtomicWrite, ops.Exchange, ops.Compare:
		lose("atomic accesses: written as critical sections of a lock of their own")
		w.alone(ev, "atomic", func() {
			if spec.Does != ops.AtomicWrite {
				w.access(ev, "r")
			}
			if spec.Does != ops.AtomicRead && spec.Done(ev) {
				w.access(ev, "w")
			}
		})
	case ops.Create, ops.Join:
		w.life(ev, spec, failed)
	case ops.Start, ops.Finish:
		switch {
		case !w.own:
			lose("starts and ends of threads: omitted, begin and end are the bounds of atomic blocks")
		case ev.Flags&trace.FlagNoDecision != 0: // put in when it was read
		case spec.Does == ops.Start:
			w.line(ev, "begin", "")
		default:
			w.line(ev, "end", "")
		}
	case ops.Allocate, ops.Free:
		lose("heap blocks allocated and freed: omitted")
	case ops.Stop:
		lose("operations that ended the thread or the program: omitted")
	default:
		if ev.Op >= trace.OpGo && spec.Of != ops.SyncVar {
			lose("operations of Go, which order nothing on their own: omitted")
			return
		}
		w.synchronise(ev, spec, changes, lose)
	}
}

// life writes the creation or the join of a thread.
func (w *writer) life(ev *trace.Event, spec *ops.Spec, failed func()) {
	switch {
	case ev.Result != 0:
		failed()
	case w.own && ev.Flags&trace.FlagNoDecision != 0: // put in when it was read
	case spec.Does == ops.Create:
		w.line(ev, "fork", w.label(trace.ThreadID(ev.Value)))
	default:
		w.line(ev, "join", w.label(trace.ThreadID(ev.Value)))
	}
}

// synchronise writes what is left: operations on objects, signals, and what orders nothing.
func (w *writer) synchronise(ev *trace.Event, spec *ops.Spec, changes []ops.Change, lose func(string)) {
	left := func() { lose("inits, destroys and other operations of objects: omitted") }
	switch spec.Of {
	case ops.Mutex, ops.RWLock:
		switch {
		case spec.Does == ops.Init, spec.Does == ops.Destroy, spec.Does == ops.Alter, spec.Does == ops.Announce:
			left()
		case !spec.Done(ev):
			lose("operations that failed: omitted")
		default:
			w.lock(ev, changes, lose)
		}
	case ops.Condition, ops.Futex, ops.Barrier, ops.Semaphore, ops.Once:
		switch {
		case spec.Does == ops.Leave:
			lose("time-outs of conditions and spurious wake-ups: omitted")
		case spec.Does == ops.Init, spec.Does == ops.Destroy, spec.Does == ops.Inspect:
			left()
		case spec.Does == ops.Opaque:
			w.unknown(ev, lose)
		case spec.Of == ops.Semaphore && ev.Result != 0:
			lose("operations that failed: omitted")
		default:
			w.section(ev, spec.Of, lose)
			if spec.Of == ops.Condition {
				w.lock(ev, changes, lose)
			} else if spec.Does == ops.Wait {
				w.alone(ev, "atomic", func() { w.access(ev, "r") })
			}
		}
	case ops.Signal, ops.Timer:
		if spec.Does == ops.Alter || spec.Does == ops.Return {
			lose("masks and handlers of signals: omitted")
		} else {
			w.section(ev, spec.Of, lose)
		}
	case ops.Descriptor, ops.SyncVar:
		w.section(ev, spec.Of, lose)
	case ops.Thread, ops.NoObject, ops.Memory:
		if cancels := spec.Does == ops.Cancel || ev.Op == trace.OpCancelTest; cancels {
			lose("cancellations: written as critical sections of a lock of their own")
			w.alone(&trace.Event{Thread: ev.Thread, Site: ev.Site}, "cancellations", nil)
		} else if spec.Does != ops.Opaque {
			lose("operations that order nothing: omitted")
		} else {
			w.unknown(ev, lose)
		}
	default:
		w.unknown(ev, lose)
	}
}

// unknown omits an operation that STD cannot express.
func (w *writer) unknown(ev *trace.Event, lose func(string)) {
	if ev.Object == 0 {
		lose("operations that STD has no word for: omitted")
		return
	}
	lose("inits, destroys and other operations of objects: omitted")
}
