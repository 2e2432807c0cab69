package canonical

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/trace"
)

// Version is the version of the file's format, which its first line states.
const Version = 4

const (
	magic   = "heddle sanitized trace "
	maxLine = 64 << 20 // the output of a program is one line
)

// Write writes the execution as a file: docs/sanitize.md specifies it.
func (x *Execution) Write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(b, "%s%d\n", magic, Version)
	fmt.Fprintf(b, "target %q build %q complete %t instrumented %t values %t functions %t live %t\n", x.Target, x.BuildID, x.Complete, x.Instrumented, x.Values, x.Functions, x.Live)
	for _, m := range x.Modules {
		fmt.Fprintf(b, "module %s path %q build %q\n", m.Name, m.Path, m.BuildID)
	}
	for i := range x.Threads {
		t := &x.Threads[i]
		fmt.Fprintf(b, "thread %s events %d bytes %d\n", t.Name, t.Events, t.Bytes)
		for in := x.lines(t); ; {
			line, _, err := in.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			b.Write(line)
		}
	}
	e := &x.Ending
	fmt.Fprintf(b, "ending %s status %d thread %s site %s message %q\n", strings.ReplaceAll(e.Kind.String(), " ", "-"), e.Status, e.Thread, e.Site, e.Message)
	fmt.Fprintf(b, "output %q\nend\n", e.Output)
	return b.Flush()
}

// IsFile reports whether a file begins as Write's do.
func IsFile(name string) bool {
	f, err := regular.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(magic))
	_, err = io.ReadFull(f, b)
	return err == nil && string(b) == magic
}

// Open opens a file of Write's. It reads the headings and skips the events.
func Open(name string) (*Execution, error) {
	f, err := regular.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, errors.Unwrap(err))
	}
	x, err := open(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return x, nil
}

func open(f *os.File) (*Execution, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	x, err := parse(f, info.Size())
	if err == nil {
		x.close = f.Close
	}
	return x, err
}

// parse reads the headings of a file of that size.
func parse(f io.ReaderAt, size int64) (*Execution, error) {
	p := &parser{f: f, size: size}
	x := &Execution{file: f}
	var version int
	first := p.line()
	if p.err != nil || !strings.HasPrefix(first, magic) {
		return nil, errors.New("it is not a sanitised trace: heddle sanitize TRACE makes one")
	}
	if _, err := fmt.Sscanf(first[len(magic):], "%d", &version); err != nil || version != Version {
		return nil, fmt.Errorf("it has format version %q, and this heddle reads version %d: sanitise the trace again", first[len(magic):], Version)
	}
	p.scan("target %q build %q complete %t instrumented %t values %t functions %t live %t", &x.Target, &x.BuildID, &x.Complete, &x.Instrumented, &x.Values, &x.Functions, &x.Live)
	line := p.line()
	for ; p.err == nil && strings.HasPrefix(line, "module "); line = p.line() {
		var m Module
		p.parse(line, "module %s path %q build %q", &m.Name, &m.Path, &m.BuildID)
		x.Modules = append(x.Modules, m)
	}
	for ; p.err == nil && strings.HasPrefix(line, "thread "); line = p.line() {
		var t Thread
		p.parse(line, "thread %s events %d bytes %d", &t.Name, &t.Events, &t.Bytes)
		t.at = p.at
		if p.err == nil && (t.Bytes < 0 || t.Bytes > size-p.at || t.Events < 0 || int64(t.Events) > t.Bytes) {
			return nil, errDamaged("thread %s has %d bytes, and the file is not that long", t.Name, t.Bytes)
		}
		p.at += t.Bytes
		if n := len(x.Threads); n > 0 && compareThreads(x.Threads[n-1].Name, t.Name) >= 0 {
			return nil, errDamaged("thread %s is not in the order of names", t.Name)
		}
		x.Threads = append(x.Threads, t)
	}
	var kind, output string
	e := &x.Ending
	p.parse(line, "ending %s status %d thread %s site %s message %q", &kind, &e.Status, &e.Thread, &e.Site, &e.Message)
	p.scan("output %q", &output)
	if end := p.line(); p.err == nil && (end != "end" || p.at != size) {
		p.err = errDamaged("it does not end with a line end")
	}
	if p.err != nil {
		return nil, p.err
	}
	var known bool
	if e.Kind, known = kindNamed(kind); !known {
		return nil, errDamaged("unknown ending %q", kind)
	}
	e.Output = []byte(output)
	return x, nil
}

// kindNamed is the inverse of how Write names kinds.
func kindNamed(name string) (trace.Kind, bool) {
	name = strings.ReplaceAll(name, "-", " ")
	for k := trace.Clean; k.String() != "unknown"; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// parser reads lines of a file.
type parser struct {
	f        io.ReaderAt
	at, size int64
	err      error
}

// line returns the next line without its end.
func (p *parser) line() string {
	if p.err != nil {
		return ""
	}
	r := bufio.NewReader(io.NewSectionReader(p.f, p.at, min(p.size-p.at, maxLine)))
	s, err := r.ReadString('\n')
	if err != nil {
		p.err = errDamaged("it ends in the middle")
		return ""
	}
	p.at += int64(len(s))
	return s[:len(s)-1]
}

func (p *parser) scan(format string, into ...any) { p.parse(p.line(), format, into...) }

func (p *parser) parse(line, format string, into ...any) {
	if p.err != nil {
		return
	}
	if n, err := fmt.Sscanf(line, format, into...); err != nil || n != len(into) {
		name, _, _ := strings.Cut(format, " ")
		p.err = errDamaged("want a line %s …, have %s", name, strconv.Quote(line[:min(len(line), 80)]))
	}
}

// fileLines returns the lines of a thread in a file.
func fileLines(f io.ReaderAt, t *Thread) lines {
	return &textLines{r: bufio.NewReader(io.NewSectionReader(f, t.at, t.Bytes)), left: t.Events, name: t.Name}
}

type textLines struct {
	r    *bufio.Reader
	left int
	name string
	buf  bytes.Buffer
}

func (t *textLines) next() ([]byte, int, error) {
	line, err := t.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		t.buf.Reset()
		t.buf.Write(line)
		line, err = t.r.ReadBytes('\n')
		t.buf.Write(line)
		line = t.buf.Bytes()
	}
	switch {
	case err == io.EOF && len(line) == 0 && t.left == 0:
		return nil, 0, io.EOF
	case err == nil && t.left > 0:
		t.left--
		return line, -1, nil
	case err == nil || err == io.EOF:
		return nil, 0, errDamaged("thread %s has another number of events", t.name)
	}
	return nil, 0, err
}
