package trace

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/trace/tracepb"
)

// Encoder writes a trace to a stream, piece by piece and in bounded memory. To write a
// file use Writer, which has the same methods and never leaves a torn file behind.
//
// The header comes first. After that tables and events may be written in any mixture;
// what was added to a table before an event was written can be read before that event.
// After the first error every call returns that error. An Encoder may be used from one
// goroutine at a time.
type Encoder struct {
	z   *zstd.Encoder
	crc uint32
	err error

	header bool
	closed bool
	counts tracepb.End
	locals []*tracepb.Local
	types  []*tracepb.Type
	maps   []*tracepb.Mapping
	why    *tracepb.Explanation
	block  blockEncoder
}

// NewEncoder begins a trace on w.
func NewEncoder(w io.Writer) (*Encoder, error) {
	if _, err := w.Write(preamble()); err != nil {
		return nil, err
	}
	// One goroutine: a trace is written beside a program that wants the processors, and
	// what Flush has returned from is with w. The frame's own checksum stays on.
	z, err := zstd.NewWriter(w,
		zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	e := &Encoder{z: z}
	e.block.reset(0)
	return e, nil
}

// fail makes err the encoder's error, for good.
func (e *Encoder) fail(err error) error {
	if e.err == nil {
		e.err = err
	}
	return e.err
}

// ready returns why a record may not be written now, if so.
func (e *Encoder) ready() error {
	switch {
	case e.err != nil:
		return e.err
	case e.closed:
		return errors.New("trace: write after Close")
	case !e.header:
		return e.fail(errors.New("trace: the header must be written first"))
	}
	return nil
}

func (e *Encoder) record(r *tracepb.Record) error {
	if e.err != nil {
		return e.err
	}
	if n := proto.Size(r); n > maxRecord {
		return e.fail(fmt.Errorf("trace: a record of %d bytes, where %d is the limit: %w", n, maxRecord, ErrLimit))
	}
	_, err := protodelim.MarshalOptions{MarshalOptions: proto.MarshalOptions{Deterministic: true}}.MarshalTo(checksummed{e}, r)
	if err != nil {
		return e.fail(err)
	}
	return nil
}

// checksummed is the encoder's compressor, with the checksum taken on the way.
type checksummed struct{ *Encoder }

func (c checksummed) Write(p []byte) (int, error) {
	c.crc = crc32.Update(c.crc, castagnoli, p)
	return c.z.Write(p)
}

// WriteHeader writes the header. It must be called once, before all else.
func (e *Encoder) WriteHeader(h Header) error {
	if e.err != nil {
		return e.err
	}
	if e.header {
		return e.fail(errors.New("trace: the header was written already"))
	}
	e.header = true
	for _, p := range headerParts(&h) {
		if err := e.record(&tracepb.Record{Kind: &tracepb.Record_Header{Header: p}}); err != nil {
			return err
		}
	}
	return nil
}

// WriteModule adds m to the module table.
func (e *Encoder) WriteModule(m Module) error {
	if err := e.ready(); err != nil {
		return err
	}
	if e.counts.Modules == maxModules {
		return e.fail(fmt.Errorf("trace: more than %d modules: %w", maxModules, ErrLimit))
	}
	e.counts.Modules++
	return e.record(&tracepb.Record{Kind: &tracepb.Record_Module{Module: moduleRecord(&m)}})
}

// WriteThread adds t to the thread table, or replaces the thread of the same id when
// more is known about it. New threads come in the order of their ids.
func (e *Encoder) WriteThread(t Thread) error {
	if err := e.ready(); err != nil {
		return err
	}
	n := ThreadID(e.counts.Threads)
	if t.ID < 0 || t.ID > n {
		return e.fail(fmt.Errorf("trace: thread %d written where thread %d is the next new one", t.ID, n))
	}
	if t.ID >= MaxThreads {
		return e.fail(fmt.Errorf("trace: more than %d threads: %w", MaxThreads, ErrLimit))
	}
	if t.ID == n {
		e.counts.Threads++
	}
	return e.record(&tracepb.Record{Kind: &tracepb.Record_Thread{Thread: threadRecord(&t)}})
}

// WriteStack adds a call stack, innermost first, to the stack table and returns its
// number, for Event.Stack. Numbers begin at 1. Equal stacks are the caller's to find.
func (e *Encoder) WriteStack(frames []Site) (uint32, error) {
	if err := e.ready(); err != nil {
		return 0, err
	}
	if e.counts.Stacks == 1<<32-1 {
		return 0, e.fail(fmt.Errorf("trace: more than %d call stacks: %w", uint32(1<<32-1), ErrLimit))
	}
	e.counts.Stacks++
	p := &tracepb.Stack{Sites: appendDeltas(nil, 0, frames)}
	return uint32(e.counts.Stacks), e.record(&tracepb.Record{Kind: &tracepb.Record_Stack{Stack: p}})
}

// WriteAlloc adds a to the table of heap blocks and returns its index there. If a is
// freed later, say so with WriteFree.
func (e *Encoder) WriteAlloc(a Alloc) (int, error) {
	if err := e.ready(); err != nil {
		return 0, err
	}
	e.counts.Allocs++
	return int(e.counts.Allocs) - 1, e.record(&tracepb.Record{Kind: &tracepb.Record_Alloc{Alloc: allocRecord(&a)}})
}

// WriteFree reports that the heap block at index alloc was freed by the event with the
// given index.
func (e *Encoder) WriteFree(alloc, event int) error {
	if err := e.ready(); err != nil {
		return err
	}
	if alloc < 0 || uint64(alloc) >= e.counts.Allocs {
		return e.fail(fmt.Errorf("trace: heap block %d is freed, but %d were written", alloc, e.counts.Allocs))
	}
	return e.record(&tracepb.Record{Kind: &tracepb.Record_Free{Free: &tracepb.Free{Alloc: uint64(alloc), Event: int64(event)}}})
}

// WriteLocals adds to the table of places in stacks. It is written by Close.
func (e *Encoder) WriteLocals(locals []Local) error {
	if err := e.ready(); err != nil {
		return err
	}
	for _, l := range locals {
		e.locals = append(e.locals, &tracepb.Local{
			Object: uint64(l.Object), Site: uint64(l.Site), Cfa: l.CFA, Sp: l.SP, Fp: l.FP, Below: uint64(l.Below), Function: uint64(l.Function), Event: int64(l.Event),
		})
	}
	return nil
}

// WriteTypes adds to the table of what objects on the heap were allocated as. It is written by
// Close.
func (e *Encoder) WriteTypes(types []Type) error {
	if err := e.ready(); err != nil {
		return err
	}
	for i := range types {
		e.types = append(e.types, typeRecord(&types[i]))
	}
	return nil
}

// WriteMappings adds to the table of mapped files. It is written by Close.
func (e *Encoder) WriteMappings(mappings []Mapping) error {
	if err := e.ready(); err != nil {
		return err
	}
	for i := range mappings {
		e.maps = append(e.maps, mappingRecord(&mappings[i]))
	}
	return nil
}

// WriteEvent writes the next event. It keeps nothing of ev.
func (e *Encoder) WriteEvent(ev *Event) error {
	if err := e.ready(); err != nil {
		return err
	}
	return e.event(ev)
}

// WriteEvents writes the next events. It keeps nothing of them.
func (e *Encoder) WriteEvents(events []Event) error {
	if err := e.ready(); err != nil {
		return err
	}
	for i := range events {
		if err := e.event(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Encoder) event(ev *Event) error {
	if err := e.block.check(ev); err != nil {
		return e.fail(fmt.Errorf("trace: event %d cannot be written: %w", e.counts.Events, err))
	}
	if e.block.full(ev) {
		if err := e.Flush(); err != nil {
			return err
		}
	}
	e.block.add(ev)
	e.counts.Events++
	return nil
}

// Events is how many events were written so far.
func (e *Encoder) Events() int { return int(e.counts.Events) }

// Flush hands all that was written so far to the underlying writer, so that it can be
// read back even if the process is killed. The encoder does so without being asked for every 16,384
// events; calling it often costs compression.
func (e *Encoder) Flush() error {
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.flushBlock(); err != nil {
		return err
	}
	if err := e.z.Flush(); err != nil {
		return e.fail(err)
	}
	return nil
}

func (e *Encoder) flushBlock() error {
	if e.block.block.Count == 0 {
		return nil
	}
	err := e.record(&tracepb.Record{Kind: &tracepb.Record_Events{Events: e.block.message()}})
	e.block.reset(e.counts.Events)
	return err
}

// Close writes how the execution ended and the end record. It does not close the
// underlying writer. A trace without it is incomplete.
func (e *Encoder) Close(ending Ending) error {
	if err := e.ready(); err != nil {
		return err
	}
	if err := e.flushBlock(); err != nil {
		return err
	}
	for _, p := range pieces(ending.Output) {
		if err := e.record(&tracepb.Record{Kind: &tracepb.Record_Output{Output: &tracepb.Output{Data: p}}}); err != nil {
			return err
		}
	}
	end := EndingToProto(&ending)
	end.Locals, end.Types, end.Mappings, end.Explanation = e.locals, e.types, e.maps, e.why
	if err := e.record(&tracepb.Record{Kind: &tracepb.Record_Ending{Ending: end}}); err != nil {
		return err
	}
	e.counts.Checksum = e.crc
	if err := e.record(&tracepb.Record{Kind: &tracepb.Record_End{End: &e.counts}}); err != nil {
		return err
	}
	e.closed = true
	if err := e.z.Close(); err != nil {
		return e.fail(err)
	}
	return nil
}

// Encode writes t to w.
func Encode(w io.Writer, t *Trace) error {
	e, err := NewEncoder(w)
	if err != nil {
		return err
	}
	if err := e.content(t); err != nil {
		return err
	}
	return e.Close(t.Ending)
}

// content writes all of t but its ending. A heap block is written just before the event it precedes, so
// that a reader of the stream knows it in time.
func (e *Encoder) content(t *Trace) error {
	if err := t.tablesFit(); err != nil {
		return e.fail(err)
	}
	if err := e.WriteHeader(t.Header); err != nil {
		return err
	}
	for _, m := range t.Modules {
		if err := e.WriteModule(m); err != nil {
			return err
		}
	}
	for _, th := range t.Threads {
		if err := e.WriteThread(th); err != nil {
			return err
		}
	}
	for i := 1; i < len(t.Stacks); i++ {
		if _, err := e.WriteStack(t.Stacks[i]); err != nil {
			return err
		}
	}
	allocs := t.Allocs
	for i := range t.Events {
		for len(allocs) > 0 && allocs[0].Event <= i {
			if _, err := e.WriteAlloc(allocs[0]); err != nil {
				return err
			}
			allocs = allocs[1:]
		}
		if err := e.WriteEvent(&t.Events[i]); err != nil {
			return err
		}
	}
	for _, a := range allocs {
		if _, err := e.WriteAlloc(a); err != nil {
			return err
		}
	}
	if err := e.WriteLocals(t.Locals); err != nil {
		return err
	}
	if err := e.WriteTypes(t.Types); err != nil {
		return err
	}
	e.why = explanationRecord(t.Explained())
	return e.WriteMappings(t.Mappings)
}

// tablesFit explains why neither the file format nor the text form can hold t's tables: both
// number the threads and the stacks by their place.
func (t *Trace) tablesFit() error {
	if len(t.Stacks) > 0 && len(t.Stacks[0]) > 0 {
		return errors.New("trace: call stack 0 is not empty: it means \"no stack\"")
	}
	for i := range t.Threads {
		if t.Threads[i].ID != ThreadID(i) {
			return fmt.Errorf("trace: thread table entry %d has thread id %d: the table is indexed by id", i, t.Threads[i].ID)
		}
	}
	return nil
}
