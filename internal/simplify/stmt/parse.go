package stmt

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// theLock is the lock of a Require or Release without a name; the paper has only one lock.
const theLock = "lock"

// ParseError reports an invalid line.
type ParseError struct {
	Line int // from 1
	Text string
	Msg  string
}

func (e *ParseError) Error() string { return fmt.Sprintf("line %d: %s: %s", e.Line, e.Text, e.Msg) }

var (
	nameForm  = regexp.MustCompile(`^[\pL\pN_.$]+$`)
	stmtForm  = regexp.MustCompile(`^([A-Za-z0-9]+)\s*(?:\(([^()]*)\))?$`)
	beginForm = regexp.MustCompile(`^(?:let\s|[\pL\pN_.$]+\s*:)`)
	letForm   = regexp.MustCompile(`^let\s+(?:(\S+)\s*:\s*)?(\S+)\s*=\s*(-?\d+)$`)
)

// Begins reports whether a text begins as a trace that Parse reads: with a statement or a let, perhaps
// after comments.
func Begins(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		return beginForm.Match(line)
	}
	return len(bytes.TrimSpace(text)) > 0 // comments
}

// Parse reads a trace written by hand. A line is
//
//	T1: localize(x, g)           a thread and a statement of it
//	T1: localize(x, g); Share(y, g)   several that are not to be taken apart
//	let g = 5                    a global's value at the start
//	let T1: x = 5                a local's
//	# …                          nothing
//
// The statements are localize(local, global), Share(local, global), Require(lock), Release(lock),
// Duplicate(thread), Initiate(thread), Ready, End, Set1(global), Set0(global) and skip, which does
// nothing. Require and Release without a name use the paper's only lock; Read means Ready, as in
// rule (js). A range of globals is written g1..g3: it contains all globals first mentioned from g1
// to g3, both of which must have been mentioned before. Names are letters, digits, '_', '.' and
// '$'.
func Parse(r io.Reader) (*Trace, error) {
	p := &parser{t: &Trace{InitialGlobal: map[int32]int64{}, InitialLocal: map[int32]int64{}},
		threads: map[string]int32{}, globals: map[string]int32{}, locals: map[string]int32{}}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(in.Text())
		if err := p.line(line); err != nil {
			return nil, &ParseError{n, strconv.Quote(line), err.Error()}
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	t := p.t
	t.Start = append(t.Start, int32(len(t.Stmts)))
	t.Globals, t.Locals = len(t.GlobalNames), len(t.LocalNames)
	return t, nil
}

type parser struct {
	t                        *Trace
	threads, globals, locals map[string]int32
}

func number(names *[]string, index map[string]int32, name string) int32 {
	n, ok := index[name]
	if !ok {
		n = int32(len(*names))
		index[name] = n
		*names = append(*names, name)
	}
	return n
}

func (p *parser) thread(name string) int32 { return number(&p.t.Threads, p.threads, name) }
func (p *parser) global(name string) int32 { return number(&p.t.GlobalNames, p.globals, name) }
func (p *parser) local(thread, name string) int32 {
	key := thread + ":" + name // no name has a colon
	l, ok := p.locals[key]
	if !ok {
		l = int32(len(p.t.LocalNames))
		p.locals[key] = l
		p.t.LocalNames = append(p.t.LocalNames, name)
		p.t.LocalThreads = append(p.t.LocalThreads, p.thread(thread))
	}
	return l
}

func (p *parser) line(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	if m := letForm.FindStringSubmatch(line); m != nil {
		v, err := strconv.ParseInt(m[3], 10, 64)
		switch {
		case err != nil:
			return fmt.Errorf("%s is not a 64-bit number", m[3])
		case !nameForm.MatchString(m[2]) || m[1] != "" && !nameForm.MatchString(m[1]):
			return fmt.Errorf("let wants the name of a variable")
		case m[1] != "":
			p.t.InitialLocal[p.local(m[1], m[2])] = v
		default:
			p.t.InitialGlobal[p.global(m[2])] = v
		}
		return nil
	}
	name, rest, ok := strings.Cut(line, ":")
	name = strings.TrimSpace(name)
	if !ok || !nameForm.MatchString(name) {
		return fmt.Errorf("a line is \"thread: statement\", \"let variable = number\" or a comment after '#'")
	}
	p.t.Start = append(p.t.Start, int32(len(p.t.Stmts)))
	p.t.Of = append(p.t.Of, p.thread(name))
	for _, s := range strings.Split(rest, ";") {
		if err := p.stmt(name, strings.TrimSpace(s)); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) stmt(thread, text string) error {
	m := stmtForm.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("%q is not a statement", text)
	}
	word := m[1]
	var args []string
	if strings.Contains(text, "(") {
		for _, a := range strings.Split(m[2], ",") {
			args = append(args, strings.TrimSpace(a))
		}
	}
	if strings.EqualFold(word, "skip") {
		return wants(word, args, 0)
	}
	if strings.EqualFold(word, "Read") {
		word = "Ready"
	}
	s := Stmt{Thread: p.thread(thread), Local: -1}
	known := false
	for k, n := range kindNames {
		if strings.EqualFold(n, word) {
			s.Kind, known = Kind(k), true
		}
	}
	if !known {
		return fmt.Errorf("unknown statement %q; want %s or skip", word, strings.Join(kindNames[:], ", "))
	}
	switch s.Kind {
	case Localize, Share:
		if err := wants(word, args, 2); err != nil {
			return err
		}
		if !nameForm.MatchString(args[0]) {
			return fmt.Errorf("%q is not the name of a local variable", args[0])
		}
		s.Local = p.local(thread, args[0])
		first, last, isRange := strings.Cut(args[1], "..")
		if !isRange {
			last = first
		}
		for _, n := range []string{first, last} {
			if !nameForm.MatchString(n) {
				return fmt.Errorf("%q is not the name of a global variable", n)
			}
			if _, known := p.globals[n]; isRange && !known {
				return fmt.Errorf("%q was not named before: a range is of globals between two that were", n)
			}
		}
		s.Lo = p.global(first)
		s.Hi = p.global(last) + 1
		if s.Hi <= s.Lo {
			return fmt.Errorf("the range %s is empty: %s was named after %s", args[1], first, last)
		}
	case Require, Release:
		if len(args) == 0 {
			args = []string{theLock}
		}
		fallthrough
	case Set1, Set0:
		if err := wants(word, args, 1); err != nil {
			return err
		}
		if !nameForm.MatchString(args[0]) {
			return fmt.Errorf("%q is not the name of a global", args[0])
		}
		s.Lo = p.global(args[0])
		s.Hi = s.Lo + 1
	case Duplicate, Initiate:
		if len(args) == 0 {
			return fmt.Errorf("%s must say which thread, as in %s(T2): the paper omits it, but the dependences need it", word, word)
		}
		if err := wants(word, args, 1); err != nil {
			return err
		}
		if !nameForm.MatchString(args[0]) {
			return fmt.Errorf("%q is not the name of a thread", args[0])
		}
		if args[0] == thread {
			return fmt.Errorf("thread %s cannot do that to itself", thread)
		}
		s.Lo = p.thread(args[0])
	default:
		if err := wants(word, args, 0); err != nil {
			return err
		}
	}
	p.t.Stmts = append(p.t.Stmts, s)
	return nil
}

func wants(word string, args []string, n int) error {
	if len(args) == n {
		return nil
	}
	return fmt.Errorf("%s has %d arguments, not %d", word, n, len(args))
}
