// Package reporttest makes traces and names by hand, for tests of what draws them.
//
// A script is a txtar archive: the source files that the trace is about, and a file
// `trace` with a statement a line:
//
//	program ./lost -n 2        the command
//	target go                  kind of target; c if omitted
//	file lost.c                what lines belong to, until the next one
//	func worker 8 15           a function and its lines
//	system lib.h               a file of the system's headers
//	thread T1 worker T0        a thread that runs that function, and its creator; main if omitted
//	clock T2                   the thread that time is
//	timer T3                   a timer that main made; after main's other threads
//	block p malloc:12 T0 24    a heap block called p, allocated there, with its size
//	T1 10 lock queue.mut       an event: thread, line, operation, object
//	T1 11 read counter 0       … and value
//	T1 11 write p+8 1 size=8   … and size, aux=OBJECT, result=N, stack=LINE, site=OP (that of the line's OP), timeout, nochoice, relaxed, …
//	repeat 50 / end            what is between them, $ counting from 1 ($-1 from 0)
//	wait T1 10 lock mut T2     a thread that had not ended, and the owner of the object; or `ready`
//	cycle T1 T2                the ring of a deadlock
//	access T1 10 write x       one side of the data race that it ended with
//	fail assertion T0 24 text  how it ended: kind, thread, line, message
//	object p+8                 what was misused
//	status 3                   exit status, signal number
//	output text                what the program wrote
//
// Which threads are enabled is worked out from what they do next. Operations and kinds of
// ending are spelled as in the trace with `_` for spaces.
package reporttest

import (
	"embed"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

//go:embed traces/*.txtar
var traces embed.FS

// Fixtures are the names of the scripts that come with the package.
func Fixtures() []string {
	entries, err := traces.ReadDir("traces")
	if err != nil {
		panic(err) // embedded
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".txtar"))
	}
	sort.Strings(out)
	return out
}

// Load reads a fixture. Its sources are written to a directory of the test's, which is
// the trace's working directory.
func Load(t testing.TB, name string) (*trace.Trace, *Names) {
	t.Helper()
	data, err := traces.ReadFile("traces/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, data)
}

// Parse reads a script.
func Parse(t testing.TB, data []byte) (*trace.Trace, *Names) {
	t.Helper()
	ar := txtar.Parse(data)
	dir := t.TempDir()
	p := &parser{
		tr:      &trace.Trace{Stacks: [][]trace.Site{nil}, Header: trace.Header{Target: "c", Instrumented: true, PointsVersion: 1}},
		names:   &Names{objects: map[trace.Object]string{}},
		objects: map[string]trace.Object{},
	}
	p.tr.Header.Dir = dir
	var script []string
	for _, f := range ar.Files {
		if f.Name == "trace" {
			script = strings.Split(string(f.Data), "\n")
			continue
		}
		if err := writeFile(filepath.Join(dir, f.Name), f.Data); err != nil {
			t.Fatal(err)
		}
	}
	lines, _, err := expand(script, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if err := p.statement(line); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	p.finish()
	p.names.tr = p.tr
	if err := trace.Validate(p.tr); err != nil {
		t.Fatal(err)
	}
	return p.tr, p.names
}

// expand unrolls repeat blocks and drops comments.
func expand(lines []string, from int) (out []string, next int, err error) {
	for i := from; i < len(lines); i++ {
		line, _, _ := strings.Cut(lines[i], "#")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "end" && len(f) == 1:
			return out, i, nil
		case f[0] == "repeat" && len(f) == 2:
			n, err := strconv.Atoi(f[1])
			if err != nil {
				return nil, 0, err
			}
			body, end, err := expand(lines, i+1)
			if err != nil {
				return nil, 0, err
			}
			for k := 1; k <= n; k++ {
				for _, l := range body {
					l = strings.ReplaceAll(l, "$-1", strconv.Itoa(k-1))
					out = append(out, strings.ReplaceAll(l, "$", strconv.Itoa(k)))
				}
			}
			i = end
		default:
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out, len(lines), nil
}

type parser struct {
	tr      *trace.Trace
	names   *Names
	objects map[string]trace.Object
}

func (p *parser) statement(line string) error {
	f := strings.Fields(line)
	rest := func(n int) string { return strings.Join(f[n:], " ") }
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	switch f[0] {
	case "program":
		p.tr.Header.Command = f[1:]
	case "target":
		p.tr.Header.Target = f[1]
	case "strategy":
		p.tr.Header.Strategy = rest(1)
	case "file", "system":
		p.tr.Modules = append(p.tr.Modules, trace.Module{Path: "/bin/" + f[1], Program: f[0] == "file"})
		name := f[1]
		if f[0] == "system" {
			name = "/usr/include/" + name
		}
		p.names.files = append(p.names.files, name)
	case "func":
		p.names.funcs = append(p.names.funcs, function{f[1], len(p.names.files) - 1, number(f[2]), number(f[3])})
	case "thread":
		t := trace.Thread{ID: thread(f[1]), Parent: 0, Name: uint64(number(f[1][1:])) + 99}
		if len(f) > 3 {
			t.Parent = thread(f[3])
		}
		for i := range p.tr.Threads {
			if p.tr.Threads[i].Parent == t.Parent {
				t.Nth = p.tr.Threads[i].Nth
			}
		}
		t.Nth++
		if t.ID == 0 {
			t.Parent, t.Nth = -1, 0
		}
		for _, fn := range p.names.funcs {
			if len(f) > 2 && fn.name == f[2] {
				t.Entry = trace.MakeSite(fn.file, uint64(fn.from)<<12)
			}
		}
		if int(t.ID) != len(p.tr.Threads) {
			return fmt.Errorf("threads must come in order")
		}
		p.tr.Threads = append(p.tr.Threads, t)
	case "timer":
		p.tr.Threads = append(p.tr.Threads, trace.Thread{ID: thread(f[1]), Nth: len(p.tr.Threads), Name: 97, Label: trace.TimerLabel})
	case "clock":
		p.tr.Threads = append(p.tr.Threads, trace.Thread{ID: thread(f[1]), Parent: -1, Name: 98, Label: trace.ClockLabel})
	case "access":
		a := trace.Access{Thread: thread(f[1]), Op: operation(f[3]), Object: p.object(f[4]), Size: 4}
		a.Site = p.site(number(f[2]), a.Op)
		p.tr.Ending.Accesses = append(p.tr.Ending.Accesses, a)
	case "block":
		_, line, _ := strings.Cut(f[2], ":")
		o := trace.MakeObject(trace.RegionHeap, 0, uint64(0x1000*(len(p.tr.Allocs)+1)))
		p.tr.Allocs = append(p.tr.Allocs, trace.Alloc{
			Object: o, Size: uint64(number(f[4])), Thread: thread(f[3]), Site: p.site(number(line), trace.OpMalloc), Event: len(p.tr.Events), Freed: -1,
		})
		p.objects[f[1]] = o
	case "wait":
		w := trace.Waiter{Thread: thread(f[1]), Op: operation(f[3]), Holder: -1}
		w.Site = p.site(number(f[2]), w.Op)
		for _, a := range f[4:] {
			switch {
			case a == "ready":
				w.Ready = true
			case isThread(a):
				w.Holder = thread(a)
			default:
				w.Object = p.object(a)
			}
		}
		p.tr.Ending.Waiters = append(p.tr.Ending.Waiters, w)
	case "cycle":
		for _, t := range f[1:] {
			p.tr.Ending.Cycle = append(p.tr.Ending.Cycle, thread(t))
		}
	case "fail":
		e := &p.tr.Ending
		for k := trace.Clean; k <= trace.Unfinished; k++ {
			if strings.ReplaceAll(k.String(), " ", "_") == f[1] {
				e.Kind = k
			}
		}
		if len(f) > 3 {
			e.Thread, e.Site, e.Message = thread(f[2]), p.site(number(f[3]), trace.OpAbort), rest(4)
			e.Stack = []trace.Site{e.Site}
		}
	case "frame":
		p.tr.Ending.Stack = append(p.tr.Ending.Stack, p.site(number(f[1]), trace.OpNone))
	case "status":
		p.tr.Ending.Status = int32(number(f[1]))
	case "object":
		p.tr.Ending.Object = p.object(f[1])
	case "output":
		p.tr.Ending.Output = append(p.tr.Ending.Output, rest(1)+"\n"...)
	default:
		return p.event(f)
	}
	return nil
}

func isThread(s string) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(s, "T"))
	return strings.HasPrefix(s, "T") && err == nil
}

func thread(s string) trace.ThreadID {
	n, _ := strconv.Atoi(strings.TrimPrefix(s, "T"))
	return trace.ThreadID(n)
}

func operation(s string) trace.Op {
	short := map[string]string{"create": "pthread_create", "join": "pthread_join"}
	if full, ok := short[s]; ok {
		s = full
	}
	op, ok := trace.ParseOp(strings.ReplaceAll(s, "_", " "))
	if !ok {
		op, _ = trace.ParseOp(s)
	}
	return op
}

// site is the call at a line of the current file. Operations of one line differ.
func (p *parser) site(line int, op trace.Op) trace.Site {
	return trace.MakeSite(max(0, len(p.names.files)-1), uint64(line)<<12|uint64(op)+1)
}

func (p *parser) object(name string) trace.Object {
	base, plus, has := strings.Cut(name, "+")
	if o, ok := p.objects[base]; ok {
		if has {
			n, _ := strconv.Atoi(plus)
			o += trace.Object(n)
		}
		return o
	}
	o := trace.MakeObject(trace.RegionGlobal, 0, uint64(0x1000*(len(p.objects)+1)))
	if base == "stack" {
		o = trace.MakeObject(trace.RegionStack, 0, 0x40)
	}
	p.objects[base] = o
	p.names.objects[o] = base
	return o
}

func (p *parser) event(f []string) error {
	if len(f) < 3 || !isThread(f[0]) {
		return fmt.Errorf("no such statement")
	}
	line, err := strconv.Atoi(f[1])
	if err != nil {
		return err
	}
	op := operation(f[2])
	if op == trace.OpNone {
		return fmt.Errorf("no operation %q", f[2])
	}
	e := trace.Event{Thread: thread(f[0]), Op: op, Site: p.site(line, op)}
	if op.IsAccess() || op.Class() >= trace.ClassALoad && op.Class() <= trace.ClassARMW {
		e.Size = 4
	}
	if op == trace.OpSelect && e.Size == 0 {
		e.Size = 2
	}
	if op == trace.OpThreadStart && p.tr.Threads[e.Thread].Entry != 0 {
		e.Site = p.tr.Threads[e.Thread].Entry
	}
	for _, a := range f[3:] {
		key, value, isPair := strings.Cut(a, "=")
		n, numErr := strconv.ParseInt(a, 0, 64)
		switch {
		case isPair:
			if err := p.attribute(&e, key, value); err != nil {
				return err
			}
		case isThread(a):
			e.Value = uint64(thread(a))
			if op == trace.OpCondSignal {
				e.Value++
			}
		case a == "timeout":
			e.Flags |= trace.FlagTimeout
		case a == "nochoice":
			e.Flags |= trace.FlagNoDecision
		case a == "forced":
			e.Flags |= trace.FlagForced
		case a == "library":
			e.Flags |= trace.FlagLibrary
		case a == "offered":
			e.Flags |= trace.FlagOffered
		case a == "relaxed":
			e.Flags |= trace.FlagAtomic
		case numErr == nil:
			e.Value = uint64(n)
		default:
			e.Object = p.object(a)
		}
	}
	if (op.Class() >= trace.ClassALoad && op.Class() <= trace.ClassARMW || op == trace.OpAtomicFence) && e.Flags&trace.FlagAtomic == 0 {
		e.Flags |= trace.FlagAtomic | 5<<4 // sequentially consistent
	}
	if op == trace.OpFree {
		for i := range p.tr.Allocs {
			if a := &p.tr.Allocs[i]; a.Object == e.Object && a.Freed < 0 {
				a.Freed = len(p.tr.Events)
			}
		}
	}
	p.tr.Events = append(p.tr.Events, e)
	return nil
}

func (p *parser) attribute(e *trace.Event, key, value string) error {
	n, err := strconv.ParseInt(value, 0, 64)
	switch key {
	case "site":
		e.Site += trace.Site(operation(value)) - trace.Site(e.Op)
		return nil
	case "aux":
		if err == nil {
			e.Aux = uint64(n)
		} else {
			e.Aux = uint64(p.object(value))
		}
		return nil
	case "size":
		e.Size = uint32(n)
	case "result":
		e.Result = int32(n)
	case "stack":
		p.tr.Stacks = append(p.tr.Stacks, []trace.Site{trace.MakeSite(0, uint64(n)<<12|0xfff)})
		e.Stack = uint32(len(p.tr.Stacks) - 1)
	default:
		return fmt.Errorf("no attribute %q", key)
	}
	return err
}

// finish marks the threads that ended and computes the enabled sets.
func (p *parser) finish() {
	for i := range p.tr.Events {
		if e := &p.tr.Events[i]; e.Op == trace.OpThreadEnd {
			p.tr.Threads[e.Thread].Ended = true
		}
	}
	if p.tr.Header.Target != "go" {
		fillEnabled(p.tr)
		return
	}
	for i, set := range ops.Enabled(p.tr) {
		if e := &p.tr.Events[i]; e.Flags&trace.FlagNoDecision == 0 {
			e.Enabled = set
		}
	}
}

type function struct {
	name           string
	file, from, to int
}

// Names are what a script calls things. It implements report.Names.
type Names struct {
	files   []string
	funcs   []function
	objects map[trace.Object]string
	tr      *trace.Trace
	heap    *symbol.Objects
	// Trouble is what Problems returns.
	Trouble []error
}

// Call is the line that the site was made from.
func (n *Names) Call(s trace.Site) []symbol.Frame {
	if s.Module() < 0 || s.Module() >= len(n.files) {
		return []symbol.Frame{{}}
	}
	line := int(s.Offset() >> 12)
	f := symbol.Frame{File: n.files[s.Module()], Line: line, Module: "/bin/prog"}
	for _, fn := range n.funcs {
		if fn.file == s.Module() && fn.from <= line && line <= fn.to {
			f.Func = fn.name
		}
	}
	return []symbol.Frame{f}
}

// Function is like Call.
func (n *Names) Function(s trace.Site) symbol.Frame { return n.Call(s)[0] }

// Problems returns n.Trouble.
func (n *Names) Problems() []error { return n.Trouble }
