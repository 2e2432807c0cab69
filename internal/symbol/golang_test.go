package symbol

import (
	"debug/elf"
	"debug/gosym"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// goFiles are a module whose import path has dots in its last element. The comments name
// the frames, innermost first, that the line must come out as.
var goFiles = map[string]string{
	"go.mod": "module example.com/deep/p.v2\n\ngo 1.24\n",
	"main.go": `package main

import (
	"sync"

	"example.com/deep/p.v2/sub.pkg"
)

var Counter int

type T[K any] struct{ mu sync.Mutex }

//go:noinline
func (t *T[K]) Run(k K) {
	func() {
		add(1)          // main.(*T[...]).Run.func1 < main.(*T[...]).Run
		println(k2)     // main.(*T[...]).Run.func1 < main.(*T[...]).Run
	}()
}

var k2 int

func add(n int) {
	Counter += n // main.add < main.(*T[...]).Run.func1 < main.(*T[...]).Run
}

func worker(n int, wg *sync.WaitGroup) {
	defer wg.Done()
	subpkg.Inlined(n)
	subpkg.Outlined(n)   // main.worker
	new(T[string]).Run("x")
}

func main() {
	var wg sync.WaitGroup
	wg.Add(1)
	go worker(1, &wg)
	wg.Wait()
}
`,
	"sub.pkg/sub.go": `package subpkg

var Global [4]int

func Inlined(n int) {
	Global[1] += n // sub.pkg.Inlined < main.worker
}

//go:noinline
func Outlined(n int) {
	Global[2] += n // sub.pkg.Outlined
	print("")
}
`,
}

// TestGoPrograms resolves every instruction of real Go programs: functions, lines, inlined
// frames and variables, with DWARF 4 and 5, and what is left of it without.
func TestGoPrograms(t *testing.T) {
	dir := t.TempDir()
	for name, text := range goFiles {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, release := range need.GoReleases {
		for _, b := range []struct {
			name    string
			args    []string
			inlined bool
		}{
			{"default", nil, true},
			{"uncompressed", []string{"-ldflags=-compressdwarf=false"}, true},
			{"trimmed", []string{"-trimpath"}, true},
			{"no DWARF", []string{"-ldflags=-w"}, false},
			{"no symbols", []string{"-ldflags=-s -w"}, false},
		} {
			t.Run(release+"/"+b.name, func(t *testing.T) {
				toolchain := need.GoRelease(t, release)
				prog := filepath.Join(t.TempDir(), "prog")
				c := exec.Command("go", append([]string{"build", "-o", prog}, append(b.args, ".")...)...)
				c.Dir = dir
				c.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
				if said, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, said)
				}
				checkGoProgram(t, prog, dir, b.inlined, strings.Contains(b.name, "symbols"))
			})
		}
	}
}

func checkGoProgram(t *testing.T, prog, dir string, inlined, stripped bool) {
	e, err := elf.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	tab := New([]trace.Module{{Path: prog, BuildID: BuildID(e), Program: true}}, Options{})
	funcs := goFuncs(t, e)
	got := map[string]map[string]bool{} // place → chains of frames
	standard := 0
	for _, fn := range funcs {
		own := strings.HasPrefix(fn.Name, "main.") || strings.HasPrefix(fn.Name, "example.com/")
		if !own && !strings.HasPrefix(fn.Name, "sync.") {
			continue
		}
		for pc := fn.Entry; pc < fn.End; pc++ {
			frames := tab.Exact(trace.MakeSite(0, pc))
			if call := tab.Call(trace.MakeSite(0, pc+1)); !slices.Equal(call, frames) {
				t.Fatalf("%s: the call before %#x is %v, the instruction %v", fn.Name, pc+1, call, frames)
			}
			outer := frames[len(frames)-1]
			if outer.GoStandard() == own {
				t.Fatalf("GoStandard of %+v is %t", outer, !own)
			}
			if !own {
				standard++
				continue
			}
			var names []string
			for _, f := range frames {
				names = append(names, f.Func)
			}
			place := frames[0].Place()
			if got[place] == nil {
				got[place] = map[string]bool{}
			}
			got[place][strings.Join(names, " < ")] = true
		}
	}
	if standard == 0 {
		t.Error("no function of package sync was seen")
	}
	for name, text := range goFiles {
		n := 0
		for line := range strings.Lines(text) {
			n++
			_, want, ok := strings.Cut(strings.TrimSpace(line), "// ")
			if !ok || strings.HasPrefix(line, "//") {
				continue
			}
			place := Frame{File: filepath.Join(dir, name), Line: n}.Place()
			if !inlined {
				// The outermost function with the innermost line.
				want = want[strings.LastIndex(want, " ")+1:]
			}
			if !got[place][want] {
				t.Errorf("%s is never %q, but %v", place, want, got[place])
			}
		}
	}
	for i, fn := range funcs {
		if fn.Name != "main.worker" {
			continue
		}
		f := tab.Function(trace.MakeSite(0, funcs[i].Entry))
		if f.Func != "main.worker" || filepath.Base(f.File) != "main.go" || f.Line != 27 {
			t.Errorf("main.worker is declared as %+v", f)
		}
	}
	if problems := tab.Problems(); len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	if stripped {
		return
	}
	symbols, err := e.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		switch s.Name {
		case "main.Counter":
			if n := tab.Global(0, s.Value, 8); n.Text != "main.Counter" {
				t.Errorf("%s is %q", s.Name, n.Text)
			}
		case "example.com/deep/p.v2/sub%2epkg.Global":
			want := "sub.pkg.Global[2]"
			if !inlined {
				want = "sub.pkg.Global+16"
			}
			if n := tab.Global(0, s.Value+16, 8); n.Text != want {
				t.Errorf("%s is %q, want %q", s.Name, n.Text, want)
			}
		}
	}
}

func goFuncs(t *testing.T, e *elf.File) []gosym.Func {
	t.Helper()
	b := elffile.Section(e, ".gopclntab")
	table, err := gosym.NewTable(nil, gosym.NewLineTable(b, e.Section(".text").Addr))
	if err != nil || b == nil {
		t.Fatalf("no table of functions: %v", err)
	}
	return table.Funcs
}

// Heap objects of Go programs have numbers; those of C are blocks.
func TestGoHeapNames(t *testing.T) {
	at := func(n, off uint64) trace.Object { return trace.MakeObject(trace.RegionHeap, 0, n<<goHeapBits|off) }
	for _, c := range []struct {
		target string
		o      trace.Object
		want   string
	}{
		{"go", at(3, 0), "#3"},
		{"go", at(3, 8), "#3+8"},
		{"go", at(0, 8), "heap+0x8"},
		{"c", at(3, 8), "heap+0x3000008"},
	} {
		tr := &trace.Trace{Header: trace.Header{Target: c.target}}
		if n := New(nil, Options{}).Objects(tr).Name(c.o, 0, 0); n.Text != c.want || n.Alloc != -1 {
			t.Errorf("%s: %#x is %+v, want %s", c.target, uint64(c.o), n, c.want)
		}
	}
}

// Without debug information an object on Go's heap is named by the runtime's name of its type.
func TestGoTypeNames(t *testing.T) {
	at := func(n, off uint64) trace.Object { return trace.MakeObject(trace.RegionHeap, 0, n<<goHeapBits|off) }
	tr := &trace.Trace{Header: trace.Header{Target: "go"}, Types: []trace.Type{
		{Object: at(1, 8), Size: 8, Unit: 8, Name: "int"}, // behind the allocator's header
		{Object: at(2, 0), Size: 48, Unit: 16, Name: "pool.slot"},
		{Object: at(3, 0), Size: 16, Unit: 16, Name: "pool.Account"},
		{Object: at(4, 0), Size: 16, Unit: 16, Name: "pool.Account"},
		{Object: at(5, 0), Size: 144, Unit: 8, Name: "chan int", Channel: true},
		{Object: at(6, 0), Size: 32, Unit: 32, Name: "struct { F uintptr; X0 *int; X1 *sync.Mutex; X2 string }"},
		{Object: at(7, 0), Size: 200, Unit: 200, Name: "map.group[string]int"},
		{Object: at(8, 8), Size: 8, Unit: 8, Name: "runtime.uint64InterfacePtr"},
		{Object: at(9, 0), Size: 8, Unit: 0, Name: "damaged"},
	}}
	objects := New(nil, Options{}).Objects(tr)
	for _, c := range []struct {
		o    trace.Object
		size uint32
		want string
	}{
		{at(1, 8), 8, "*int"},
		{at(1, 0), 8, "#1"}, // before what was allocated
		{at(1, 16), 8, "#1+16"},
		{at(2, 0), 8, "([]pool.slot)[0]"},
		{at(2, 24), 8, "([]pool.slot)[1]+8"},
		{at(2, 8), 24, "([]pool.slot)[0..1]+8"},
		{at(3, 8), 8, "(*pool.Account #3)+8"},
		{at(4, 0), 0, "*pool.Account #4"},
		{at(5, 16), 0, "chan int"},
		{at(6, 8), 8, "(*closure)+8"},
		{at(7, 80), 8, "map[string]int"},
		{at(8, 8), 8, "#8+8"},
		{at(9, 0), 8, "#9"},
		{at(10, 0), 8, "#10"},
	} {
		if n := objects.Name(c.o, c.size, 0); n.Text != c.want {
			t.Errorf("%#x is %q, want %q", uint64(c.o), n.Text, c.want)
		}
	}
}

// Objects have the names of another trace as far as it is clear which these are.
func TestObjectsAs(t *testing.T) {
	at := func(n uint64) trace.Object { return trace.MakeObject(trace.RegionHeap, 0, n<<goHeapBits) }
	threads := []trace.Thread{{ID: 0, Name: 7}, {ID: 1, Name: 8}}
	kind := func(n, site uint64) trace.Type {
		return trace.Type{Object: at(n), Size: 16, Unit: 16, Name: "pool.Account", Site: trace.MakeSite(0, site)}
	}
	event := func(thread trace.ThreadID, op trace.Op, site, n uint64) trace.Event {
		return trace.Event{Thread: thread, Op: op, Site: trace.MakeSite(0, site), Object: at(n)}
	}
	made := func(types []trace.Type, events ...trace.Event) *trace.Trace {
		return &trace.Trace{Header: trace.Header{Target: "go"}, Threads: threads, Types: types, Events: events}
	}
	known := made([]trace.Type{kind(1, 1), kind(2, 1), kind(3, 2)},
		event(0, trace.OpMutexLock, 10, 1), event(1, trace.OpMutexLock, 11, 2), event(1, trace.OpRead, 12, 4))
	// The same with more: an allocation and a repeated access.
	full := made([]trace.Type{kind(1, 9), kind(2, 1), kind(3, 1), kind(4, 2)},
		event(0, trace.OpMalloc, 9, 1), event(0, trace.OpMutexLock, 10, 2), event(1, trace.OpMutexLock, 11, 3), event(1, trace.OpRead, 12, 5), event(1, trace.OpRead, 12, 6))
	// In this execution, thread 1 does something else from its first operation on.
	other := made([]trace.Type{kind(1, 1), kind(2, 1), kind(3, 2)},
		event(1, trace.OpMutexLock, 13, 1), event(1, trace.OpMutexLock, 11, 1), event(0, trace.OpMutexLock, 10, 2), event(1, trace.OpRead, 12, 5))
	for _, c := range []struct {
		of   *trace.Trace
		n    uint64
		want string
	}{
		{full, 1, "*pool.Account"}, {full, 2, "*pool.Account #1"}, {full, 3, "*pool.Account #2"}, {full, 4, "*pool.Account #3"}, {full, 5, "#4"}, {full, 6, "object"},
		{other, 1, "*pool.Account"}, {other, 2, "*pool.Account #1"}, {other, 3, "*pool.Account #3"}, {other, 5, "object"},
		{known, 2, "*pool.Account #2"},
	} {
		if got := New(nil, Options{}).ObjectsAs(c.of, known).Name(at(c.n), 0, 0).Text; got != c.want {
			t.Errorf("%d events: #%d is %s, want %s", len(c.of.Events), c.n, got, c.want)
		}
	}
}

// A place on a stack has the name that it has in another trace where the same is done to it, unless its own trace has one.
func TestLocalsAs(t *testing.T) {
	place := trace.MakeObject(trace.RegionStack, 1, 0x40)
	threads := []trace.Thread{{ID: 0, Name: 7}, {ID: 1, Name: 8}}
	wait := trace.Event{Thread: 1, Op: trace.OpCondWait, Site: trace.MakeSite(0, 10), Object: place}
	known := &trace.Trace{Threads: threads, Events: []trace.Event{wait}, Locals: []trace.Local{{Object: place, Site: trace.MakeSite(0, 10), CFA: -8}}}
	other := wait
	other.Site = trace.MakeSite(0, 11)
	for _, c := range []struct {
		name string
		tr   *trace.Trace
		want int // the event from which the name is valid, -1 for none
	}{
		{"the same later", &trace.Trace{Threads: threads, Events: []trace.Event{other, wait, wait}}, 1},
		{"something else", &trace.Trace{Threads: threads, Events: []trace.Event{other}}, -1},
		{"its own", &trace.Trace{Threads: threads, Events: []trace.Event{other, wait}, Locals: []trace.Local{{Object: place, Event: 0}}}, 0},
	} {
		got := -1
		if list := New(nil, Options{}).ObjectsAs(c.tr, known).locals[place]; len(list) == 1 {
			got = list[0].Event
		}
		if got != c.want {
			t.Errorf("%s: valid from event %d, want %d", c.name, got, c.want)
		}
	}
}
