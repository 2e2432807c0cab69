package canonical

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Source is a trace that is read as a stream: a *trace.Reader.
type Source interface {
	Header() trace.Header
	Modules() []trace.Module
	Threads() []trace.Thread
	Next() ([]trace.Event, error)
	Ending() (trace.Ending, bool)
}

// Whole is a trace in memory as a Source.
func Whole(t *trace.Trace) Source { return &whole{t: t} }

type whole struct {
	t    *trace.Trace
	read bool
}

func (w *whole) Header() trace.Header         { return w.t.Header }
func (w *whole) Modules() []trace.Module      { return w.t.Modules }
func (w *whole) Threads() []trace.Thread      { return w.t.Threads }
func (w *whole) Ending() (trace.Ending, bool) { return w.t.Ending, true }
func (w *whole) Next() ([]trace.Event, error) {
	if w.read {
		return nil, io.EOF
	}
	w.read = true
	return w.t.Events, nil
}

// Sanitize reads a trace and returns its sanitised form. It keeps the tables of the trace and up to
// memory bytes of events; the rest is in a temporary file, which Close of the execution removes.
func Sanitize(src Source, memory int64) (*Execution, error) {
	h := src.Header()
	s := &sanitizer{names: newNames(h.Target), store: newStore(memory)}
	x := &Execution{
		Target: h.Target, BuildID: h.BuildID, Complete: h.MaxAccesses == 0 && len(h.Unrecorded) == 0, Instrumented: h.Instrumented, Values: h.Values, Live: h.Live,
		store: s.store,
	}
	if err := s.read(src); err != nil {
		x.Close()
		return nil, err
	}
	x.Functions = s.functions
	for i := range s.names.threads {
		if n := s.store.threads[i].events; n > 0 {
			x.Threads = append(x.Threads, Thread{Name: s.names.threads[i].name, Events: n, Bytes: s.store.threads[i].bytes, section: i})
		}
	}
	slices.SortStableFunc(x.Threads, func(a, b Thread) int { return compareThreads(a.Name, b.Name) })
	e, _ := src.Ending()
	x.Ending = s.ending(&e)
	if f := h.Fault; f != nil {
		i := slices.IndexFunc(src.Threads(), func(t trace.Thread) bool { return t.Name == f.Thread })
		x.Fault = &Fault{Model: f.Model, Thread: s.names.thread(trace.ThreadID(i)), Site: string(s.names.site(nil, f.Site)), Amount: f.Amount, Event: f.Event}
	}
	for i, m := range src.Modules() {
		if s.names.used[i] {
			x.Modules = append(x.Modules, Module{Name: s.names.modules[i], Path: m.Path, BuildID: m.BuildID})
		}
	}
	slices.SortFunc(x.Modules, func(a, b Module) int { return strings.Compare(a.Name, b.Name) })
	return x, nil
}

// contentsMark begins the value of an access to a range. The hash that it may be covers bytes that nobody has
// written, such as the padding of structures, and addresses in parts of words. So it is evidence of another
// outcome's cause, but a difference is not a deviation on its own: see Compare.
const contentsMark = '#'

type sanitizer struct {
	names *names
	store *store
	line  []byte

	functions bool // there was an entry of a function
}

func (s *sanitizer) read(src Source) error {
	events := 0
	for {
		block, err := src.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		s.names.learn(src.Threads(), src.Modules())
		s.store.grow(len(s.names.threads))
		for i := range block {
			ev := &block[i]
			if ops.Does(ev.Op) == ops.Allocate {
				s.names.allocate(ev)
			}
			s.functions = s.functions || ev.Op.IsCall()
			if s.event(ev) {
				if err := s.store.add(int(ev.Thread), events, s.line); err != nil {
					return err
				}
			}
			events++
		}
		if err != nil {
			return nil
		}
	}
}

// event makes the line of an event; it returns false for an event that sanitised traces omit.
func (s *sanitizer) event(ev *trace.Event) bool {
	spec := ops.Of(ev.Op)
	if !keeps(spec, ev) || ev.Thread < 0 || int(ev.Thread) >= len(s.names.threads) {
		return false
	}
	n := s.names
	line := append(s.line[:0], opName(ev.Op)...)
	line = n.site(append(line, ' '), ev.Site)
	line = n.place(append(line, ' '), ev.Object, ev.Thread)
	line = strconv.AppendUint(append(line, ' '), ev.Bytes(), 10)
	line = s.value(append(line, ' '), spec, ev)
	if spec.Does == ops.Exchange && ev.Size < 8 { // one of 8 bytes may be an address, which the trace does not tell
		line = s.data(append(line, " was="...), ev.Aux, ev)
	}
	if (ev.Size == 16 || ev.Size == 24) && (ev.Op == trace.OpRead || ev.Op == trace.OpWrite) { // a slice of Go's has 24
		line = strconv.AppendUint(append(line, " high=0x"...), ev.Aux, 16)
	}
	if ev.Result != 0 && spec.Does != ops.Arrive {
		line = strconv.AppendInt(append(line, " result="...), int64(ev.Result), 10)
	}
	s.line = append(line, '\n')
	return true
}

// keeps reports whether an event belongs in a sanitised trace. Omitted are those that the runtime
// inserted, and those whose existence only says that a thread waited or that it goes on: how often a
// futex is waited for, who wakes a goroutine. The call that may wait is kept. The end of a thread is
// not: the execution may end before a thread that no other joins.
func keeps(spec *ops.Spec, ev *trace.Event) bool {
	if ev.Flags&trace.FlagForced != 0 || spec.Of == ops.Futex || spec.Of == ops.SyncVar {
		return false
	}
	if ev.Op.IsCall() {
		return true
	}
	switch spec.Does {
	case ops.None, ops.Finish, ops.Resume, ops.Leave, ops.Depart, ops.Announce, ops.Continue, ops.Sleep:
		return false
	}
	return true
}

// value appends what the event says beyond its object. Fields that count or name what the scheduler
// happened to do, such as arrivals at a barrier or the thread that a signal woke, are omitted.
func (s *sanitizer) value(dst []byte, spec *ops.Spec, ev *trace.Event) []byte {
	switch {
	case ev.Op.IsAccess() && s.names.target == "go" && ev.Flags&trace.FlagValue == 0:
		return append(dst, '-')
	case spec.Value == ops.ThreadNumber:
		return append(dst, s.names.thread(trace.ThreadID(ev.Value))...)
	case ev.Op == trace.OpReadRange || ev.Op == trace.OpWriteRange:
		return s.contents(dst, ev)
	}
	switch spec.Does {
	case ops.Read, ops.Write, ops.AtomicRead, ops.AtomicWrite, ops.Exchange, ops.Compare:
		return s.data(dst, ev.Value, ev)
	case ops.Stop, ops.Init, ops.Count, ops.Selected, ops.Receive, ops.Transmit:
		return strconv.AppendUint(dst, ev.Value, 10)
	}
	return append(dst, '-')
}

// data appends a value of the program's: a number, or the name of the place that it points to.
func (s *sanitizer) data(dst []byte, v uint64, ev *trace.Event) []byte {
	if ev.Flags&trace.FlagPointer != 0 {
		return s.names.place(append(dst, '*'), trace.Object(v), ev.Thread)
	}
	if ev.Size >= 8 {
		if named, ok := s.names.mapped(append(dst, '*'), v); ok {
			return named
		}
	}
	return strconv.AppendUint(append(dst, "0x"...), v, 16)
}

// contents appends what a range of memory holds, as a number with contentsMark; a dash if it is not known.
func (s *sanitizer) contents(dst []byte, ev *trace.Event) []byte {
	if ev.Value == 0 && ev.Size > 8 {
		return append(dst, '-')
	}
	dst = append(dst, contentsMark)
	if ev.Flags&trace.FlagPointer != 0 {
		return s.names.place(append(dst, '*'), trace.Object(ev.Value), ev.Thread)
	}
	return strconv.AppendUint(dst, ev.Value, 16)
}

func (s *sanitizer) ending(e *trace.Ending) Ending {
	return Ending{
		Kind: e.Kind, Status: e.Status, Thread: s.names.thread(e.Thread), Message: e.Message,
		Site: string(s.names.site(nil, e.Site)), Output: e.Output,
	}
}

// compareThreads orders names of threads breadth first: by depth, then as they were created.
func compareThreads(a, b string) int {
	if d := strings.Count(a, ".") - strings.Count(b, "."); d != 0 {
		return d
	}
	for a != b {
		x, restA, _ := strings.Cut(a, ".")
		y, restB, _ := strings.Cut(b, ".")
		if x == y {
			a, b = restA, restB
			continue
		}
		if d := len(x) - len(y); d != 0 {
			return d // of two numbers, the longer is the larger
		}
		return strings.Compare(x, y)
	}
	return 0
}

// errDamaged is the reason why a file is not read.
func errDamaged(format string, args ...any) error {
	return fmt.Errorf("the file is damaged: "+format, args...)
}
