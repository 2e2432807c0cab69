package symbol

import (
	"cmp"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

func TestUnknownSite(t *testing.T) {
	tab := New(nil, Options{})
	for _, s := range []trace.Site{0, trace.MakeSite(3, 0x10)} {
		if got := tab.Call(s); len(got) != 1 || got[0].Place() != "?" {
			t.Errorf("%#x: %v", uint64(s), got)
		}
		if f := tab.Function(s); f.Place() != "?" {
			t.Errorf("%#x: function %v", uint64(s), f)
		}
	}
	if p := tab.Problems(); p != nil {
		t.Errorf("problems: %v", p)
	}
}

// TestConcurrentUse is for the race detector; without it, it compares answers.
func TestConcurrentUse(t *testing.T) {
	program := build{"gcc", []string{"-g", "-O1"}}.compile(t, "sample.c")
	claims := claimsOf(t, program)
	tab := tableFor(t, program)
	objects := tab.Objects(&trace.Trace{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, c := range claims {
				switch c.kind {
				case "call":
					tab.Call(trace.MakeSite(0, c.offset))
				case "data":
					if got := objects.Name(trace.MakeObject(trace.RegionGlobal, 0, c.offset), c.size, 0).Text; got != c.text {
						t.Errorf("got %s, want %s", got, c.text)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestGoProgram reads a Go program with DWARF, and one linked without.
func TestGoProgram(t *testing.T) {
	goTool := need.Tool(t, "go")
	dir := t.TempDir()
	src := filepath.Join(dir, "main.go")
	code := `package main

import ("fmt"; "runtime")

var total struct{ hits, misses int64 }

//go:noinline
func mark() {
	pc, _, _, _ := runtime.Caller(1)
	fmt.Printf("call %x main.outer\n", pc+1) // Caller gives a place inside of the call
}

//go:noinline
func outer() { mark() }

func main() { outer(); fmt.Printf("data %x 8 main.total.misses\n", &total.misses); total.hits++ }
`
	if err := os.WriteFile(src, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, ld := range []string{"", "-w", "-s -w"} {
		program := filepath.Join(dir, "prog")
		run(t, goTool, "build", "-ldflags="+ld, "-o", program, src)
		var call, data claim
		for _, c := range claimsOf(t, strings.TrimSpace(program)) {
			if c.kind == "call" {
				call = c
			} else {
				data = c
			}
		}
		tab := New([]trace.Module{{Path: program, Program: true}}, Options{DebugDirs: []string{}})
		if got := tab.Call(trace.MakeSite(0, call.offset))[0]; got.Func != "main.outer" || got.Line != 14 || filepath.Base(got.File) != "main.go" {
			t.Errorf("ldflags %q: got %v, want main.outer main.go:14", ld, got)
		}
		if got := tab.Global(0, data.offset, 8).Text; ld == "" && got != data.text {
			t.Errorf("ldflags %q: got %s, want %s", ld, got, data.text)
		}
		if p := tab.Problems(); p != nil {
			t.Errorf("ldflags %q: %v", ld, p)
		}
	}
}

// TestLibcDebugFile uses the one big library whose debug file a distribution may have
// installed: stripped, compressed DWARF 5, found by build id.
func TestLibcDebugFile(t *testing.T) {
	var path string
	for _, p := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"} {
		if _, err := os.Stat(p); err == nil {
			path = p
		}
	}
	m := &module{Module: trace.Module{Path: path}}
	if m.load(); m.debug == nil {
		t.Skip("no debug information of libc is installed")
	}
	var puts uint64
	for _, s := range m.code {
		if s.Name == "puts" || s.Name == "_IO_puts" {
			puts = s.Addr
		}
	}
	tab := New([]trace.Module{m.Module}, Options{})
	if f := tab.Function(trace.MakeSite(0, puts)); !strings.HasSuffix(f.Func, "puts") || filepath.Base(f.File) != "ioputs.c" {
		t.Errorf("puts: %v", f)
	}
}

// BenchmarkCall resolves addresses that were not asked for before, in a loaded unit.
func BenchmarkCall(b *testing.B) {
	program := build{"gcc", []string{"-g", "-O2"}}.compile(b, "sample.cc", "shape.cc")
	m := tableFor(b, program).module(0)
	text := unitRanges(b, program)
	b.ResetTimer()
	for i := range b.N {
		r := text[i%len(text)]
		m.frames(r[0]+uint64(i)%(r[1]-r[0]), 0)
	}
}

// BenchmarkCallAgain is the same address again.
func BenchmarkCallAgain(b *testing.B) {
	program := build{"gcc", []string{"-g", "-O2"}}.compile(b, "sample.c")
	tab := tableFor(b, program)
	site := trace.MakeSite(0, unitRanges(b, program)[0][0]+8)
	b.ResetTimer()
	for range b.N {
		tab.Call(site)
	}
}

// unitRanges is the code of a program's compilation units, in order.
func unitRanges(tb testing.TB, program string) (all [][2]uint64) {
	tb.Helper()
	e, err := elf.Open(program)
	if err != nil {
		tb.Fatal(err)
	}
	defer e.Close()
	data, err := e.DWARF()
	if err != nil {
		tb.Fatal(err)
	}
	for r := data.Reader(); ; r.SkipChildren() {
		unit, err := r.Next()
		if err != nil {
			tb.Fatal(err)
		}
		if unit == nil {
			break
		}
		ranges, err := data.Ranges(unit)
		if err != nil {
			tb.Fatal(err)
		}
		for _, r := range ranges {
			if r[0] < r[1] {
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	return all
}
