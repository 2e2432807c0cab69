package canonical

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// store keeps the lines of each thread: in memory up to a limit, beyond it in a temporary file.
type store struct {
	limit, used int64
	threads     []section
	file        *os.File
	size        int64 // of file
}

// section holds the records of a thread: the index of an event in its trace, the length of the
// line, the line.
type section struct {
	chunks []chunk // in the file
	last   []byte  // the records after those
	events int
	bytes  int64 // of the lines
}

type chunk struct{ at, length int64 }

func newStore(limit int64) *store { return &store{limit: max(limit, 1<<20)} }

// grow makes room for n threads.
func (s *store) grow(n int) {
	for len(s.threads) < n {
		s.threads = append(s.threads, section{})
	}
}

func (s *store) add(thread, index int, line []byte) error {
	t := &s.threads[thread]
	before := len(t.last)
	t.last = binary.AppendUvarint(t.last, uint64(index))
	t.last = binary.AppendUvarint(t.last, uint64(len(line)))
	t.last = append(t.last, line...)
	t.events++
	t.bytes += int64(len(line))
	if s.used += int64(len(t.last) - before); s.used > s.limit {
		return s.spill()
	}
	return nil
}

// spill moves all records to the file.
func (s *store) spill() error {
	if s.file == nil {
		f, err := os.CreateTemp("", "heddle-sanitize-*")
		if err != nil {
			return fmt.Errorf("cannot keep the events of a large trace: %w", err)
		}
		s.file = f
		os.Remove(f.Name()) // it lives until it is closed
	}
	for i := range s.threads {
		t := &s.threads[i]
		if len(t.last) == 0 {
			continue
		}
		if _, err := s.file.Write(t.last); err != nil {
			return fmt.Errorf("cannot keep the events of a large trace: %w", err)
		}
		t.chunks = append(t.chunks, chunk{s.size, int64(len(t.last))})
		s.size += int64(len(t.last))
		t.last = t.last[:0]
	}
	s.used = 0
	return nil
}

// open returns a reader of a thread's lines.
func (s *store) open(i int) lines { return &records{store: s, section: &s.threads[i]} }

func (s *store) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// lines are the events of one thread, in order.
type lines interface {
	// next returns the next line, which is valid until the next call, and the index of the event in
	// the trace, -1 if it is not known. The error after the last is io.EOF.
	next() (line []byte, index int, err error)
}

type records struct {
	store   *store
	section *section
	chunk   int
	r       *bufio.Reader // of the chunks before chunk
	rest    []byte        // of section.last, once the chunks are read
	last    bool
	line    []byte
}

func (r *records) next() ([]byte, int, error) {
	for !r.last {
		if r.r != nil {
			line, index, err := r.record()
			if err != io.EOF {
				return line, index, err
			}
		}
		if r.chunk < len(r.section.chunks) {
			c := r.section.chunks[r.chunk]
			r.chunk++
			r.r = bufio.NewReader(io.NewSectionReader(r.store.file, c.at, c.length))
			continue
		}
		r.last, r.rest = true, r.section.last
	}
	if len(r.rest) == 0 {
		return nil, 0, io.EOF
	}
	index, n := binary.Uvarint(r.rest)
	length, m := binary.Uvarint(r.rest[n:])
	line := r.rest[n+m:][:length]
	r.rest = r.rest[n+m+int(length):]
	return line, int(index), nil
}

func (r *records) record() ([]byte, int, error) {
	index, err := binary.ReadUvarint(r.r)
	if err != nil {
		return nil, 0, err
	}
	length, err := binary.ReadUvarint(r.r)
	if err == nil {
		if uint64(cap(r.line)) < length {
			r.line = make([]byte, length)
		}
		r.line = r.line[:length]
		_, err = io.ReadFull(r.r, r.line)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read the events of a large trace: %w", err)
	}
	return r.line, int(index), nil
}
