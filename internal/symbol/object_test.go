package symbol

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

func TestHeapAndStackNames(t *testing.T) {
	program := build{"gcc", []string{"-g", "-O0", "-fPIE", "-pie"}}.compile(t, "sample.c")
	var call claim
	for _, c := range claimsOf(t, program) {
		if c.kind == "call" && c.text == "worker" {
			call = c
		}
	}
	site := trace.MakeSite(0, call.offset)
	heap := func(off uint64) trace.Object { return trace.MakeObject(trace.RegionHeap, 0, off) }
	tr := &trace.Trace{
		Modules: []trace.Module{{Path: program, Program: true}, {Path: "/nowhere/libx.so"}},
		Stacks:  [][]trace.Site{nil, {site}},
		Allocs: []trace.Alloc{
			{Object: heap(0x100), Size: 64, Site: site, Event: 0, Freed: 10},
			{Object: heap(0x100), Size: 24, Site: trace.MakeSite(1, 0x40), Stack: 1, Event: 12, Freed: -1},
			{Object: heap(0x120), Size: 0, Site: trace.MakeSite(1, 0x40), Event: 13, Freed: -1},
		},
	}
	o := New(tr.Modules, Options{DebugDirs: []string{}}).Objects(tr)
	line := New(tr.Modules, Options{}).Call(site)[0].Place()
	cases := []struct {
		o    trace.Object
		at   int
		text string
		full string
	}{
		{heap(0x100), 5, "block #1", "block #1 (malloc at " + line + ", 64 bytes)"},
		{heap(0x108), 11, "block #1+8", "block #1 (malloc at " + line + ", 64 bytes)+8"},
		{heap(0x108), 12, "block #2+8", "block #2 (malloc at " + line + ", 24 bytes)+8"},
		{heap(0x118), 12, "block #1+24", "block #1 (malloc at " + line + ", 64 bytes)+24"},
		{heap(0x120), 20, "block #3", "block #3 (malloc at libx.so+0x40, 0 bytes)"},
		{heap(0x90), 20, "heap+0x90", "heap+0x90"},
		{trace.MakeObject(trace.RegionStack, 1, 0x40), 0, "stack of T1 -0x40", "stack of T1 -0x40"},
		{trace.MakeObject(trace.RegionOther, 0, 8), 0, "0x8", "0x8"},
		{trace.MakeObject(trace.RegionGlobal, 1, 8), 0, "libx.so+0x8", "libx.so+0x8"},
		{trace.MakeObject(trace.RegionGlobal, 9, 8), 0, "module 9+0x8", "module 9+0x8"},
		{0, 0, "", ""},
	}
	for _, c := range cases {
		n := o.Name(c.o, 0, c.at)
		if n.Text != c.text || n.Full() != c.full {
			t.Errorf("%#x at event %d: got %q, %q, want %q, %q", uint64(c.o), c.at, n.Text, n.Full(), c.text, c.full)
		}
	}
}

// TestBlockAgainstScan compares the search with a walk over all allocations, for a heap
// that is reused in blocks of changing sizes.
func TestBlockAgainstScan(t *testing.T) {
	var tr trace.Trace
	seed := uint64(1)
	next := func(n uint64) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed >> 33 % n
	}
	for round := range 20 {
		for at := uint64(0); at < 512; {
			size := 8 * (1 + next(8))
			tr.Allocs = append(tr.Allocs, trace.Alloc{
				Object: trace.MakeObject(trace.RegionHeap, 0, at), Size: size, Event: 100*round + int(at/8), Freed: 100*round + 99,
			})
			at += size
		}
	}
	o := New(nil, Options{}).Objects(&tr)
	for range 5000 {
		obj, at := trace.MakeObject(trace.RegionHeap, 0, next(600)), int(next(2100))
		want := -1
		for i, a := range tr.Allocs {
			if a.Event <= at && a.Object <= obj && uint64(obj-a.Object) < a.Size && (want < 0 || a.Event > tr.Allocs[want].Event) {
				want = i
			}
		}
		if got := o.Block(obj, at); got != want {
			t.Fatalf("heap+%#x at event %d: got block %d, want %d", obj.Offset(), at, got, want)
		}
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "src", "a.c")
	os.MkdirAll(filepath.Dir(path), 0o755)
	if err := os.WriteFile(path, []byte("one\r\n\ttwo\n\nfour"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := NewSources(dir)
	for _, c := range []struct {
		file string
		n    int
		want string
		ok   bool
	}{
		{path, 1, "one", true}, {path, 2, "\ttwo", true}, {path, 3, "", true}, {path, 4, "four", true},
		{path, 5, "", false}, {path, 0, "", false}, {"", 1, "", false},
		{"/build/machine/project/src/a.c", 4, "four", true}, // built elsewhere
		{"src/a.c", 1, "one", true},
		{"/build/b.c", 1, "", false},
		{dir, 1, "", false}, {"/dev/zero", 1, "", false},
	} {
		if got, ok := s.Line(c.file, c.n); got != c.want || ok != c.ok {
			t.Errorf("%s:%d: got %q, %v, want %q, %v", c.file, c.n, got, ok, c.want, c.ok)
		}
	}
}

// TestRunningAgainstScan compares the search for the event that tells where a thread was with a walk over all events.
func TestRunningAgainstScan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	events := make([]trace.Event, 60)
	for i := range events {
		events[i].Thread = trace.ThreadID(r.IntN(4) * 2)
	}
	for n := range len(events) {
		o := &Objects{events: events[:n]}
		for range 50 {
			thread, at := trace.ThreadID(r.IntN(8)), r.IntN(len(events)+4)-2
			if got, want := o.running(thread, at), trace.Running(events[:n], thread, at); got != want {
				t.Fatalf("T%d as of event %d of %d: event %d, want %d", thread, at, n, got, want)
			}
		}
	}
}

// TestLocalAgainstScan does so for the frame that contained a stack address.
func TestLocalAgainstScan(t *testing.T) {
	obj := trace.MakeObject(trace.RegionStack, 1, 0x40)
	o := &Objects{locals: map[trace.Object][]trace.Local{}}
	for i := range 10 {
		o.locals[obj] = append(o.locals[obj], trace.Local{Object: obj, CFA: int64(i), Event: 3 + 2*(i/2)})
		for at := range 20 {
			want := o.locals[obj][0]
			for _, l := range o.locals[obj] {
				if l.Event <= at {
					want = l
				}
			}
			if got, ok := o.local(obj, at); !ok || got != want {
				t.Fatalf("as of event %d of %+v: %+v", at, o.locals[obj], got)
			}
		}
	}
	if l, ok := o.local(trace.MakeObject(trace.RegionStack, 1, 0x48), 3); ok {
		t.Errorf("%+v", l)
	}
}
