package trace

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"strings"
	"unsafe"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

// Reader reads a trace as a stream: the header at once, then the events block by block. It keeps
// tables whole, and one block of the events. A Reader may be used from one goroutine at a time.
//
// A Reader treats its input as hostile: a false length leads to an error, not to a large
// allocation.
type Reader struct {
	name   string
	closer io.Closer
	z      *zstd.Decoder
	src    source
	plain  plain

	limit  int64 // bytes that the reader may still keep
	kept   int64
	record int // number of the record being read, from 1
	events int // events read
	err    error
	// expected is the number of events, 0 if it is not known.
	expected int
	ctx      context.Context

	header  Header
	modules []Module
	threads []Thread
	stacks  [][]Site
	allocs  []Alloc
	block   []Event
	output  []byte
	ending  *Ending
	locals  []Local
	types   []Type
	maps    []Mapping
	why     *Explanation
}

// Option changes how a trace is read.
type Option func(*Reader)

// DefaultMemoryLimit is how much memory, in bytes, a trace may take without the option MemoryLimit.
const DefaultMemoryLimit = 2 << 30

// MemoryLimit bounds the memory, in bytes and approximately, of what is read: of a Reader the
// tables, of a whole Trace the events as well. A trace that needs more fails with ErrLimit.
func MemoryLimit(bytes int64) Option { return func(r *Reader) { r.limit = bytes } }

// Within makes reading end with the context's error when the context does.
func Within(ctx context.Context) Option { return func(r *Reader) { r.ctx = ctx } }

// Open opens a trace file, complete or not, and reads its header. The error is a *ReadError, a
// *VersionError or an *fs.PathError. Close the reader after use.
func Open(name string, opts ...Option) (*Reader, error) {
	f, err := regular.Open(name)
	if err != nil {
		if _, serr := os.Stat(name + IncompleteExt); errors.Is(err, os.ErrNotExist) && serr == nil {
			return nil, fmt.Errorf("%s does not exist, but %s does: the heddle that writes it is still at work, or was stopped and has to be run again: %w", name, name+IncompleteExt, err)
		}
		if errors.Is(err, regular.ErrNotRegular) {
			err = fmt.Errorf("%w: give the file that a trace was written to", err)
		}
		return nil, err
	}
	r, err := newReader(f, name, opts)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closer = f
	return r, nil
}

// NewReader returns a Reader of a stream. See Open for its errors.
func NewReader(src io.Reader, opts ...Option) (*Reader, error) {
	return newReader(src, "", opts)
}

func newReader(src io.Reader, name string, opts []Option) (*Reader, error) {
	r := &Reader{name: name, limit: DefaultMemoryLimit, stacks: make([][]Site, 1), ctx: context.Background()}
	for _, o := range opts {
		o(r)
	}
	r.src.r = src
	if err := r.preamble(); err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(&r.src,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecodeBuffersBelow(0))
	if err != nil {
		return nil, r.readError(err)
	}
	r.z = z
	r.plain.r = bufio.NewReader(z)
	if err := r.readHeader(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// source keeps an error of the reader below, so that a failing disk is not reported as a damaged
// file.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// plain is the decompressed stream, with a running checksum of what was consumed.
type plain struct {
	r   *bufio.Reader
	crc uint32
	one [1]byte
}

func (p *plain) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.crc = crc32.Update(p.crc, castagnoli, b[:n])
	return n, err
}

func (p *plain) ReadByte() (byte, error) {
	b, err := p.r.ReadByte()
	if err == nil {
		p.one[0] = b
		p.crc = crc32.Update(p.crc, castagnoli, p.one[:])
	}
	return b, err
}

func (r *Reader) preamble() error {
	b := make([]byte, preambleSize)
	n, err := io.ReadFull(&r.src, b)
	if r.src.err != nil {
		return r.readError(err)
	}
	if string(b[:min(n, len(magic))]) != magic[:min(n, len(magic))] || n == 0 {
		return r.notTrace(b[:n])
	}
	if n < preambleSize {
		return r.incomplete(io.ErrUnexpectedEOF)
	}
	if v := binary.LittleEndian.Uint32(b[len(magic):]); v != FormatVersion {
		return &VersionError{Name: r.name, Got: v, Want: FormatVersion}
	}
	return nil
}

func (r *Reader) notTrace(b []byte) error {
	e := &ReadError{Name: r.name, Reason: ErrNotTrace}
	switch {
	case len(b) == 0:
		e.Detail = "the file is empty, so it is not a heddle trace: record it again"
	case len(b) > 4 && string(b[:4]) == magic[:4]:
		e.Detail = "this was a heddle trace, but a transfer that took it for text has changed it: copy it again, as binary"
	case len(b) > 8 && strings.HasPrefix(textMagic, string(b)):
		e.Detail = "this is the text form of a heddle trace, not a trace file: read it with trace.ParseText"
	default:
		e.Detail = "this is not a heddle trace: give one that heddle find, test or record wrote"
	}
	return e
}

// next reads the next record. It returns io.EOF if the stream ends between records, and an
// explained error otherwise.
func (r *Reader) next() (*tracepb.Record, error) {
	r.record++
	rec := new(tracepb.Record)
	err := protodelim.UnmarshalOptions{MaxSize: maxRecord}.UnmarshalFrom(&r.plain, rec)
	var large *protodelim.SizeTooLargeError
	switch {
	case err == nil:
		return rec, nil
	case r.src.err != nil:
		return nil, r.readError(r.src.err)
	case err == io.EOF:
		return nil, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, r.incomplete(err)
	case errors.As(err, &large):
		return nil, r.problem(ErrLimit, err, "is said to have %d bytes, where %d is the limit: the file is damaged, get another copy", large.Size, large.MaxSize)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, r.problem(ErrLimit, err, "cannot be decompressed in bounded memory: the file was not written by heddle")
	case errors.Is(err, zstd.ErrCRCMismatch):
		return nil, r.problem(ErrChecksum, err, "has another checksum than when it was written: the file is damaged, get another copy or record it again")
	}
	return nil, r.damaged(err)
}

func (r *Reader) readHeader() error {
	for i := 0; ; i++ {
		rec, err := r.next()
		if err == io.EOF {
			return r.incomplete(io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
		h := rec.GetHeader()
		if h == nil {
			return r.damaged(errors.New("the header is missing"))
		}
		n := int64(len(h.Points)+len(h.Unrecorded)) * 8
		recipe := h.GetRecipe()
		for _, b := range [][][]byte{
			h.Command, h.Stdin, h.Env, h.Omit, h.TryLock, h.Surroundings,
			recipe.GetFlags(), recipe.GetEnv(), recipe.GetPackages(), recipe.GetArgs(), recipe.GetLeakIgnore(), recipe.GetExec(),
		} {
			for _, s := range b {
				n += int64(len(s)) + 16
			}
		}
		if err := r.keep(n); err != nil {
			return err
		}
		addHeaderPart(&r.header, i, h)
		if !h.More {
			return nil
		}
	}
}

// Header returns the trace's header.
func (r *Reader) Header() Header { return r.header }

// Modules, Threads, Stacks and Allocs return the tables as far as they were read: an event's
// references are valid once the event was read, and the tables are complete after the last event.
// The slices belong to the reader: treat them as read-only.
func (r *Reader) Modules() []Module { return r.modules }

// Threads: see Modules. Thread.Ended may be false for a thread that ends in a later event.
func (r *Reader) Threads() []Thread { return r.threads }

// Stacks: see Modules. Stacks()[0] is empty.
func (r *Reader) Stacks() [][]Site { return r.stacks }

// Allocs: see Modules. Alloc.Freed may be -1 for a block that a later event frees.
func (r *Reader) Allocs() []Alloc { return r.allocs }

// Locals returns the table of places in stacks. It is available when Ending is.
func (r *Reader) Locals() []Local { return r.locals }

// Types returns the table of the types of heap objects. It is available when Ending is.
func (r *Reader) Types() []Type { return r.types }

// Mappings returns the table of mapped files. It is available when Ending is.
func (r *Reader) Mappings() []Mapping { return r.maps }

// Ending returns how the execution ended, once Next has returned io.EOF or Events has ended without
// an error; before that the second result is false.
func (r *Reader) Ending() (Ending, bool) {
	if r.err != io.EOF {
		return Ending{}, false
	}
	return *r.ending, true
}

// Next returns the next events, at least one and at most 65,536. They are valid until the next
// call; events may share the words of ThreadSet.High, so copy a set before changing it. At the end
// of a complete trace whose counts and checksum are correct, the error is io.EOF. Any other error
// is a *ReadError; later calls return it again.
func (r *Reader) Next() ([]Event, error) {
	events, err := r.appendNext(r.block[:0])
	r.block = events
	return events, err
}

// appendNext appends the next block's events to dst.
func (r *Reader) appendNext(dst []Event) ([]Event, error) {
	for r.err == nil {
		n := len(dst)
		if dst, r.err = r.step(dst); len(dst) > n {
			return dst, nil
		}
	}
	return dst, r.err
}

// Events iterates over the rest of the events. Each is valid until the next step. An error comes
// with a nil event and ends the iteration. Breaking out of the loop loses the rest of the current
// block.
func (r *Reader) Events() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for {
			events, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range events {
				if !yield(&events[i], nil) {
					return
				}
			}
		}
	}
}

// step reads one record and appends its events, if any, to dst.
func (r *Reader) step(dst []Event) ([]Event, error) {
	if err := r.ctx.Err(); err != nil {
		return dst, err
	}
	before := r.plain.crc
	rec, err := r.next()
	if err == io.EOF {
		return dst, r.incomplete(io.ErrUnexpectedEOF)
	}
	if err != nil {
		return dst, err
	}
	if r.ending != nil && rec.GetEnd() == nil {
		return dst, r.damaged(errors.New("a record after the ending"))
	}
	switch k := rec.Kind.(type) {
	case *tracepb.Record_Module:
		if len(r.modules) == maxModules {
			return dst, r.problem(ErrLimit, nil, "is module number %d, where %d is the limit: the file is damaged, get another copy", len(r.modules)+1, maxModules)
		}
		err = add(r, &r.modules, moduleOf(k.Module), len(k.Module.Path)+len(k.Module.BuildId))
	case *tracepb.Record_Thread:
		err = r.addThread(k.Thread)
	case *tracepb.Record_Stack:
		err = add(r, &r.stacks, appendSites(nil, 0, k.Stack.Sites), 8*len(k.Stack.Sites))
	case *tracepb.Record_Alloc:
		err = add(r, &r.allocs, allocOf(k.Alloc), 0)
	case *tracepb.Record_Free:
		if k.Free.Alloc >= uint64(len(r.allocs)) {
			return dst, r.damaged(fmt.Errorf("heap block %d is freed, where there are %d", k.Free.Alloc, len(r.allocs)))
		}
		r.allocs[k.Free.Alloc].Freed = int(k.Free.Event)
	case *tracepb.Record_Events:
		return r.addEvents(dst, k.Events)
	case *tracepb.Record_Output:
		if err = r.keep(int64(len(k.Output.Data))); err == nil {
			if r.output == nil {
				r.output = []byte{}
			}
			r.output = append(r.output, k.Output.Data...)
		}
	case *tracepb.Record_Ending:
		for _, l := range k.Ending.Locals {
			if err = add(r, &r.locals, Local{Object(l.Object), Site(l.Site), Site(l.Below), Site(l.Function), l.Cfa, l.Sp, l.Fp, int(l.Event)}, 0); err != nil {
				return dst, err
			}
		}
		for _, y := range k.Ending.Types {
			if err = add(r, &r.types, typeOf(y), len(y.Name)); err != nil {
				return dst, err
			}
		}
		for _, m := range k.Ending.Mappings {
			if err = add(r, &r.maps, mappingOf(m), len(m.Path)); err != nil {
				return dst, err
			}
		}
		ending, eerr := EndingFromProto(k.Ending)
		if eerr != nil {
			return dst, r.damaged(eerr)
		}
		err = r.keep(int64(len(ending.Stack))*8 + int64(len(ending.Waiters))*int64(unsafe.Sizeof(Waiter{})) + int64(len(ending.Accesses))*int64(unsafe.Sizeof(Access{})) + int64(len(ending.Cases))*int64(unsafe.Sizeof(Case{})))
		if r.why = explanationOf(k.Ending.Explanation); r.why != nil && err == nil {
			err = r.keep(int64(len(r.why.Heddle) + len(r.why.BuildID) + len(r.why.Data)))
		}
		ending.Output = r.output
		r.ending = &ending
	case *tracepb.Record_End:
		return dst, r.end(k.End, before)
	case *tracepb.Record_Header:
		return dst, r.damaged(errors.New("a second header"))
	default:
		return dst, r.damaged(errors.New("a record of unknown kind"))
	}
	return dst, err
}

// add appends v, which takes extra bytes besides those of its type, to a table.
func add[T any](r *Reader, table *[]T, v T, extra int) error {
	if err := r.keep(int64(unsafe.Sizeof(v)) + int64(extra)); err != nil {
		return err
	}
	*table = append(*table, v)
	return nil
}

func (r *Reader) addThread(p *tracepb.Thread) error {
	n := len(r.threads)
	switch {
	case p.Id >= MaxThreads:
		return r.problem(ErrLimit, nil, "is thread %d, where %d is the last possible: the file is damaged, get another copy", p.Id, MaxThreads-1)
	case int(p.Id) < n:
		r.threads[p.Id] = threadOf(p)
		return r.keep(int64(len(p.Label)))
	case int(p.Id) > n:
		return r.damaged(fmt.Errorf("thread %d where thread %d is the next new one", p.Id, n))
	}
	return add(r, &r.threads, threadOf(p), len(p.Label))
}

func (r *Reader) addEvents(dst []Event, p *tracepb.EventBlock) ([]Event, error) {
	if p.First != uint64(r.events) {
		return dst, r.damaged(fmt.Errorf("it begins with event %d", p.First))
	}
	dst, err := appendBlock(dst, p)
	if err != nil {
		return dst, r.damaged(err)
	}
	r.events += int(p.Count)
	return dst, nil
}

// end checks the end record; sum is the checksum of everything before it.
func (r *Reader) end(p *tracepb.End, sum uint32) error {
	if r.ending == nil {
		return r.damaged(errors.New("the end without an ending record"))
	}
	if p.Checksum != sum {
		return r.problem(ErrChecksum, nil, "has checksum %08x for the records before it, which have %08x: the file is damaged, get another copy or record it again", p.Checksum, sum)
	}
	for _, c := range []struct {
		what      string
		said, had uint64
	}{
		{"events", p.Events, uint64(r.events)},
		{"modules", p.Modules, uint64(len(r.modules))},
		{"threads", p.Threads, uint64(len(r.threads))},
		{"call stacks", p.Stacks, uint64(len(r.stacks) - 1)},
		{"heap blocks", p.Allocs, uint64(len(r.allocs))},
	} {
		if c.said != c.had {
			return r.damaged(fmt.Errorf("%d %s were written, %d read", c.said, c.what, c.had))
		}
	}
	// Reading to the end of the stream makes zstd check the frame's own checksum, and finds
	// trailing data.
	switch _, err := r.next(); {
	case err == nil:
		return r.damaged(errors.New("a record after the end"))
	case err != io.EOF:
		return err
	}
	return io.EOF
}

// keep accounts for n bytes that the reader or its caller retains.
func (r *Reader) keep(n int64) error {
	if r.kept += n; r.kept > r.limit {
		return r.problem(ErrLimit, nil, "makes the trace take more than %d MiB of memory: read it block by block (trace.Reader), or raise the limit (trace.MemoryLimit)", r.limit>>20)
	}
	return nil
}

// Close releases what the reader holds. It is always safe to call.
func (r *Reader) Close() error {
	if r.z != nil {
		r.z.Close()
		r.z = nil
	}
	if r.err == nil {
		r.err = errors.New("trace: read after Close")
	}
	if r.closer == nil {
		return nil
	}
	c := r.closer
	r.closer = nil
	return c.Close()
}

// where names the place of a problem, as the subject of a sentence.
func (r *Reader) where() string {
	if r.events == 0 {
		return fmt.Sprintf("record %d", r.record)
	}
	return fmt.Sprintf("record %d (after event %d)", r.record, r.events-1)
}

// problem returns an error about the current record; format continues the sentence after its name.
func (r *Reader) problem(reason, err error, format string, args ...any) error {
	return &ReadError{Name: r.name, Reason: reason, Err: err, Events: r.events, Record: r.record,
		Detail: r.where() + " " + fmt.Sprintf(format, args...)}
}

func (r *Reader) damaged(err error) error {
	return r.problem(ErrDamaged, err, "cannot be read (%v): the file is damaged, get another copy or record it again", err)
}

func (r *Reader) incomplete(err error) error {
	return &ReadError{Name: r.name, Reason: ErrIncomplete, Err: err, Events: r.events, Record: r.record,
		Detail: fmt.Sprintf("the trace ends after %d events without an ending, because its writer was stopped or is still at work, or the file was cut: record it again", r.events)}
}

func (r *Reader) readError(err error) error {
	return &ReadError{Name: r.name, Err: err, Events: r.events, Record: r.record,
		Detail: fmt.Sprintf("cannot be read after %d events: %v", r.events, err)}
}
