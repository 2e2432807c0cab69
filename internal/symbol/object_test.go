package symbol

import (
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
