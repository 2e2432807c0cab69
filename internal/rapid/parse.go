package rapid

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Error is a line that is not STD, or an event that cannot be.
type Error struct {
	Line int    // from 1
	Text string // the line
	Msg  string
}

func (e *Error) Error() string {
	text := e.Text
	if len(text) > 80 {
		text = text[:80] + "…"
	}
	return fmt.Sprintf("line %d: %q: %s", e.Line, text, e.Msg)
}

// op is an operation of STD.
type op uint8

const (
	opRead op = iota
	opWrite
	opAcquire
	opRelease
	opFork
	opJoin
	opBegin
	opEnd
)

var opNames = [...]string{"r", "w", "acq", "rel", "fork", "join", "begin", "end"}

// record is a line.
type record struct {
	thread int32
	what   int32 // variable, lock or thread
	loc    int64
	op     op
}

// names numbers names in order of appearance.
type names struct {
	list  []string
	index map[string]int32
}

func (n *names) number(name []byte) int32 {
	i, ok := n.index[string(name)] // does not allocate
	if !ok {
		if n.index == nil {
			n.index = map[string]int32{}
		}
		i = int32(len(n.list))
		n.list = append(n.list, string(name))
		n.index[n.list[i]] = i
	}
	return i
}

// maxLoc is the largest place that a site can hold.
const maxLoc = 1<<48 - 1

// lines are the lines of a file.
type lines struct {
	records              []record
	threads, vars, locks names
}

// parse reads lines, through gzip where they are compressed.
func parse(r io.Reader) (*lines, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("read gzip: %w", err)
		}
		in = bufio.NewReaderSize(z, 1<<16)
	}
	l := &lines{}
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			return nil, &Error{n, string(line), "the line is longer than 65536 bytes"}
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(line) > 0 {
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			rec, msg := l.line(line)
			if msg != "" {
				return nil, &Error{n, string(line), msg}
			}
			l.records = append(l.records, rec)
		}
		if err == io.EOF {
			return l, nil
		}
	}
}

// line reads a line; msg says what is wrong with it.
func (l *lines) line(line []byte) (rec record, msg string) {
	const form = "an event is thread|operation|place, as in T0|r(V123)|345"
	i := bytes.IndexByte(line, '|')
	j := bytes.LastIndexByte(line, '|')
	switch {
	case len(line) == 0:
		return rec, "the line is empty: " + form
	case i < 0 || j == i:
		return rec, form
	case bytes.IndexByte(line[i+1:j], '|') >= 0:
		return rec, "there are more than three fields: " + form
	}
	thread, operation, loc := line[:i], line[i+1:j], line[j+1:]
	if bad := badName(thread); bad != "" {
		return rec, "the thread " + bad
	}
	n, err := strconv.ParseInt(string(loc), 10, 64)
	if err != nil || n < 0 || n > maxLoc {
		return rec, fmt.Sprintf("the place %q is not a number from 0 to %d", loc, int64(maxLoc))
	}
	rec.loc = n
	word, arg := operation, []byte(nil)
	if k := bytes.IndexByte(operation, '('); k >= 0 {
		if operation[len(operation)-1] != ')' {
			return rec, "the operation has no closing parenthesis"
		}
		word, arg = operation[:k], operation[k+1:len(operation)-1]
	}
	known := false
	for o, name := range opNames {
		if string(word) == name {
			rec.op, known = op(o), true
		}
	}
	if !known {
		return rec, fmt.Sprintf("unknown operation %q; want one of %s", word, strings.Join(opNames[:], ", "))
	}
	rec.thread = l.threads.number(thread)
	if rec.op == opBegin || rec.op == opEnd {
		return rec, "" // what a block is called does not matter
	}
	if bad := badName(arg); bad != "" {
		return rec, fmt.Sprintf("what %s is done to %s", word, bad)
	}
	switch rec.op {
	case opRead, opWrite:
		rec.what = l.vars.number(arg)
	case opAcquire, opRelease:
		rec.what = l.locks.number(arg)
	default:
		rec.what = l.threads.number(arg)
	}
	return rec, ""
}

// badName describes what is wrong with a name.
func badName(name []byte) string {
	if len(name) == 0 {
		return "has no name"
	}
	if bytes.ContainsAny(name, " \t\v\f\r") {
		return fmt.Sprintf("%q has a blank in it", name)
	}
	return ""
}

// text is a record as it stood in the file.
func (l *lines) text(r record) string {
	operation := opNames[r.op]
	switch r.op {
	case opRead, opWrite:
		operation += "(" + l.vars.list[r.what] + ")"
	case opAcquire, opRelease:
		operation += "(" + l.locks.list[r.what] + ")"
	case opFork, opJoin:
		operation += "(" + l.threads.list[r.what] + ")"
	}
	return fmt.Sprintf("%s|%s|%d", l.threads.list[r.thread], operation, r.loc)
}
