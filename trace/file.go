package trace

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unsafe"
)

// ReadFile reads a whole trace file. Its errors are those of Open and Reader.Next. A file
// that is not complete is an ErrIncomplete, and so is one that still has the incomplete
// name; see ReadPrefix.
func ReadFile(name string, opts ...Option) (*Trace, error) {
	if strings.HasSuffix(name, IncompleteExt) {
		if _, err := os.Stat(name); err != nil {
			return nil, err
		}
		return nil, &ReadError{Name: name, Reason: ErrIncomplete, Detail: "the heddle that writes this trace is still at work or was stopped: wait for it, or record the trace again"}
	}
	t, err := readFile(name, opts)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// ReadPrefix reads as much as it can of a trace file, whatever its name. Of a complete file it
// returns the trace. Otherwise, if the header can be read, it returns the events up to the point
// where the file ends, is damaged or exceeds the memory limit, and the error; the ending is then of
// kind Unsupported, which is not a finding, with the reason. Without a header, the trace is nil.
//
// A prefix is a valid trace if the execution was: blocks are freed, and threads have
// ended, only if the prefix has the event that did it.
func ReadPrefix(name string, opts ...Option) (*Trace, error) {
	return readFile(name, opts)
}

func readFile(name string, opts []Option) (*Trace, error) {
	r, err := Open(name, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.expected = countEvents(r.ctx, name)
	return r.all()
}

// Decode reads a whole trace from a stream, as ReadFile does from a file.
func Decode(src io.Reader, opts ...Option) (*Trace, error) {
	r, err := NewReader(src, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t, err := r.all()
	if err != nil {
		return nil, err
	}
	return t, nil
}

// all reads the rest of the trace; if there is an error, a prefix.
func (r *Reader) all() (*Trace, error) {
	t := &Trace{Header: r.header}
	var err error
	if n := min(int64(r.expected), r.limit/int64(unsafe.Sizeof(Event{}))); n > 0 {
		t.Events = make([]Event, 0, n)
		for err == nil {
			before := len(t.Events)
			if t.Events, err = r.appendNext(t.Events); err == nil {
				err = r.keep(sizeOf(t.Events[before:]))
			}
		}
	} else {
		// The events are put together at the end: growing one slice as they come would copy
		// a large trace five times over.
		var blocks [][]Event
		for err == nil {
			var block []Event
			if block, err = r.appendNext(nil); err != nil {
				break
			}
			blocks = append(blocks, block)
			err = r.keep(sizeOf(block))
		}
		t.Events = slices.Concat(blocks...)
	}
	r.err = err
	t.Modules, t.Threads, t.Stacks, t.Allocs = r.modules, r.threads, r.stacks, r.allocs
	if err == io.EOF {
		t.Ending, t.Locals, t.Types, t.Mappings, t.Explanation = *r.ending, r.locals, r.types, r.maps, r.why
		return t, nil
	}
	t.cut(fmt.Sprintf("the trace is incomplete: how the execution ended after %d events is not known", len(t.Events)))
	return t, err
}

// sizeOf is the memory that a block's events take. Neighbours may share the words of
// their enabled sets.
func sizeOf(block []Event) int64 {
	size := int64(unsafe.Sizeof(Event{})) * int64(len(block))
	var last *ThreadWord
	for i := range block {
		if h := block[i].Enabled.High; len(h) > 0 && &h[0] != last {
			size += int64(unsafe.Sizeof(h[0])) * int64(len(h))
			last = &h[0]
		}
	}
	return size
}

// cut makes the events there are a trace of their own.
func (t *Trace) cut(why string) {
	ended := make([]bool, len(t.Threads))
	for i := range t.Events {
		if e := &t.Events[i]; e.Op == OpThreadEnd && int(e.Thread) < len(ended) {
			ended[e.Thread] = true
		}
	}
	for i := range t.Threads {
		t.Threads[i].Ended = ended[i]
	}
	allocs := t.Allocs[:0]
	for _, a := range t.Allocs {
		if a.Freed >= len(t.Events) {
			a.Freed = -1
		}
		if a.Event <= len(t.Events) {
			allocs = append(allocs, a)
		}
	}
	t.Allocs = allocs
	t.Ending = Ending{Kind: Unsupported, Thread: -1, Message: why}
}
