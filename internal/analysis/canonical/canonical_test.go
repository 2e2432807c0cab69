package canonical

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// all is a trace in memory as a Source.
func site(n int) trace.Site             { return trace.MakeSite(0, uint64(n)) }
func heap(offset uint64) trace.Object   { return trace.MakeObject(trace.RegionHeap, 0, offset) }
func global(offset uint64) trace.Object { return trace.MakeObject(trace.RegionGlobal, 0, offset) }

// builder writes an execution in which threads do the same in every schedule, with heap blocks in
// the order in which they happen to be allocated.
type builder struct {
	t    trace.Trace
	next uint64
}

func newBuilder() *builder {
	b := &builder{next: 0x100}
	b.t.Header = trace.Header{Target: "c", BuildID: "b1", Instrumented: true, Values: true}
	b.t.Modules = []trace.Module{{Path: "/src/prog", Program: true}}
	b.t.Threads = []trace.Thread{{Parent: -1}}
	return b
}

func (b *builder) add(e trace.Event) {
	e.Site = site(int(e.Op) * 16)
	b.t.Events = append(b.t.Events, e)
}

func (b *builder) spawn(parent trace.ThreadID, nth int) trace.ThreadID {
	id := trace.ThreadID(len(b.t.Threads))
	b.t.Threads = append(b.t.Threads, trace.Thread{ID: id, Parent: parent, Nth: nth})
	b.add(trace.Event{Thread: parent, Op: trace.OpThreadCreate, Value: uint64(id)})
	return id
}

func (b *builder) malloc(by trace.ThreadID, size uint64) trace.Object {
	o := heap(b.next)
	b.next += size + 16
	b.add(trace.Event{Thread: by, Op: trace.OpMalloc, Object: o, Size: uint32(size)})
	return o
}

func (b *builder) write(by trace.ThreadID, o trace.Object, v uint64) {
	b.add(trace.Event{Thread: by, Op: trace.OpWrite, Object: o, Size: 8, Value: v})
}

func (b *builder) point(by trace.ThreadID, o, to trace.Object) {
	b.add(trace.Event{Thread: by, Op: trace.OpWrite, Object: o, Size: 8, Value: uint64(to), Flags: trace.FlagPointer})
}

func (b *builder) sanitized(t testing.TB) *Execution {
	t.Helper()
	x, err := Sanitize(Whole(&b.t), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func written(t testing.TB, x *Execution) string {
	t.Helper()
	var b bytes.Buffer
	if err := x.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// twoThreads is main with two children that allocate and write, in either order, and one of them
// creates a thread of its own. value is what the first one writes.
func twoThreads(order [2]int, value uint64) *builder {
	b := newBuilder()
	shared := b.malloc(0, 16)
	children := [2]trace.ThreadID{b.spawn(0, 1), b.spawn(0, 2)}
	for _, i := range order {
		id := children[i]
		o := b.malloc(id, 32)
		b.write(id, o+8, value)
		b.point(id, shared+trace.Object(8*i), o+32)
		g := b.spawn(id, 1)
		b.write(g, b.malloc(g, 8), 5)
	}
	return b
}

// The file does not depend on the order of threads, and names threads and memory as specified.
func TestCanonical(t *testing.T) {
	t.Parallel()
	one, other := written(t, twoThreads([2]int{0, 1}, 7).sanitized(t)), written(t, twoThreads([2]int{1, 0}, 7).sanitized(t))
	if one != other {
		t.Errorf("two schedules:\n%s\n%s", one, other)
	}
	want := `heddle sanitized trace 4
target "c" build "b1" complete true instrumented true values true functions false live false
module prog path "/src/prog" build ""
thread T0 events 3 bytes 99
malloc prog+0x5c0 T0:h1+0 16 -
pthread_create prog+0x30 - 0 T0.1
pthread_create prog+0x30 - 0 T0.2
thread T0.1 events 4 bytes 141
malloc prog+0x5c0 T0.1:h1+0 32 -
write prog+0x510 T0.1:h1+8 8 0x7
write prog+0x510 T0:h1+0 8 *T0.1:h1+32
pthread_create prog+0x30 - 0 T0.1.1
thread T0.2 events 4 bytes 141
malloc prog+0x5c0 T0.2:h1+0 32 -
write prog+0x510 T0.2:h1+8 8 0x7
write prog+0x510 T0:h1+8 8 *T0.2:h1+32
pthread_create prog+0x30 - 0 T0.2.1
thread T0.1.1 events 2 bytes 69
malloc prog+0x5c0 T0.1.1:h1+0 8 -
write prog+0x510 T0.1.1:h1+0 8 0x5
thread T0.2.1 events 2 bytes 69
malloc prog+0x5c0 T0.2.1:h1+0 8 -
write prog+0x510 T0.2.1:h1+0 8 0x5
ending clean status 0 thread T0 site - message ""
output ""
end
`
	if one != want {
		t.Errorf("have\n%s\nwant\n%s", one, want)
	}
}

// A block in the place of a freed one has a name of its own, in values too.
func TestReuse(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	o := b.malloc(0, 16)
	b.add(trace.Event{Op: trace.OpFree, Object: o, Size: 16})
	b.next = o.Offset()
	b.write(0, b.malloc(0, 16), 1)
	b.point(0, global(8), o)
	if s := written(t, b.sanitized(t)); !strings.Contains(s, "write prog+0x510 T0:h2+0 8 0x1\nwrite prog+0x510 g:prog+8 8 *T0:h2+0\n") {
		t.Error(s)
	}
}

// Objects of a Go program that it allocated before the recording are named by the thread that used
// them first.
func TestFirstUse(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	b.t.Header.Target = "go"
	id := b.spawn(0, 1)
	b.write(id, heap(5<<24|8), 1)
	b.write(0, heap(4<<24), 1)
	b.add(trace.Event{Op: trace.OpWrite, Object: heap(4 << 24), Size: 8, Value: 1, Flags: trace.FlagValue})
	s := written(t, b.sanitized(t))
	// Without the flag, a value is not known.
	for _, want := range []string{"T0.1:f1+8 8 -\n", "T0:f1+0 8 -\n", "T0:f1+0 8 0x1\n"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
}

// What only says when a thread ran is omitted.
func TestOmitted(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	for _, op := range []trace.Op{trace.OpFutexWait, trace.OpYield, trace.OpBarrierLeave, trace.OpCondWake, trace.OpResume, trace.OpAcquire, trace.OpThreadEnd} {
		b.add(trace.Event{Op: op})
	}
	b.write(0, global(8), 1)
	b.add(trace.Event{Op: trace.OpBarrierWait, Object: global(16), Value: 2})
	x := b.sanitized(t)
	if s := written(t, x); x.Threads[0].Events != 2 || !strings.Contains(s, "barrier-wait prog+0x2a0 g:prog+16 0 -\n") {
		t.Error(s)
	}
}

func compare(t *testing.T, a, b *Execution) *Comparison {
	t.Helper()
	c, err := Compare(context.Background(), a, b, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	t.Parallel()
	golden := twoThreads([2]int{0, 1}, 7).sanitized(t)
	if c := compare(t, golden, twoThreads([2]int{1, 0}, 7).sanitized(t)); c.Deviation != Same || c.Outcome != Benign || c.First != -1 || len(c.Threads) != 5 {
		t.Errorf("another schedule: %+v", c)
	}
	// In this schedule T0.2 writes first, so its deviation is the first.
	c := compare(t, golden, twoThreads([2]int{1, 0}, 8).sanitized(t))
	if c.Deviation != Data || c.First != 2 || c.Threads[1].Count != [4]int{3, 1} || c.Threads[0].First != nil {
		t.Errorf("another value: %+v", c)
	}
	d := c.Threads[2].First
	if d.Event != 1 || d.Golden.Value != "0x7" || d.Other.Value != "0x8" || d.Index != 4 || d.Golden.Place != "T0.2:h1+8" {
		t.Errorf("the difference: %+v", d)
	}
	if s := c.Threads[2].Spread; s[Buckets/4] != 1 {
		t.Errorf("spread: %v", s)
	}

	b := twoThreads([2]int{0, 1}, 7)
	b.t.Events[5].Object += 8
	if c := compare(t, golden, b.sanitized(t)); c.Deviation != Address || c.Threads[1].Count != [4]int{3, 0, 1} {
		t.Errorf("another place: %+v", c)
	}
	b = twoThreads([2]int{0, 1}, 7)
	b.t.Events[5].Site++
	c = compare(t, golden, b.sanitized(t))
	if th := c.Threads[1]; c.Deviation != Control || th.Compared != 4 || th.Count != [4]int{3, 0, 0, 1} || th.Control != th.First || th.Skipped != 1 || th.Extra != 1 {
		t.Errorf("another instruction: %+v", c)
	}
	// A thread with fewer events, and one that does not exist, on either side.
	b = twoThreads([2]int{0, 1}, 7)
	b.t.Events = b.t.Events[:len(b.t.Events)-2]
	short := b.sanitized(t)
	for _, pair := range [][2]*Execution{{golden, short}, {short, golden}} {
		c := compare(t, pair[0], pair[1])
		if th := c.Threads[4]; c.Deviation != Control || th.Name != "T0.2.1" || th.First.Event != 0 || len(c.Threads) != 5 {
			t.Errorf("a thread less: %+v", c)
		}
	}
}

// Other contents of a range are a deviation only where nothing else explains another outcome; another size of a range
// always is.
func TestContents(t *testing.T) {
	t.Parallel()
	make := func(contents, value uint64, size uint32, output string) *Execution {
		b := twoThreads([2]int{0, 1}, value)
		b.add(trace.Event{Thread: 1, Op: trace.OpWriteRange, Object: global(0), Size: size, Value: contents})
		b.t.Ending = trace.Ending{Output: []byte(output)}
		return b.sanitized(t)
	}
	golden := make(5, 7, 64, "a")
	for _, test := range []struct {
		contents, value uint64
		size            uint32
		output          string
		want            Deviation
		other           int // Contents of the thread
		event           int // of the first deviation of the thread
	}{
		{5, 7, 64, "a", Same, 0, -1},
		{6, 7, 64, "a", Same, 1, -1},
		{6, 7, 64, "b", Data, 1, 4},
		{6, 8, 64, "b", Data, 1, 1},
		{5, 7, 64, "b", Same, 0, -1},
		{6, 7, 72, "a", Data, 0, 4},
	} {
		c := compare(t, golden, make(test.contents, test.value, test.size, test.output))
		th, event := &c.Threads[1], -1
		if th.First != nil {
			event = th.First.Event
		}
		if c.Deviation != test.want || th.Contents != test.other || event != test.event || th.Count[Same]+th.Count[Data] != 5 {
			t.Errorf("%+v: %v, %+v", test, c.Deviation, th)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	golden := &Ending{Kind: trace.Clean, Output: []byte("1\n")}
	for _, test := range []struct {
		e    Ending
		want Outcome
	}{
		{Ending{Kind: trace.Clean, Output: []byte("1\n")}, Benign},
		{Ending{Kind: trace.Clean, Output: []byte("2\n")}, Corrupted},
		{Ending{Kind: trace.WrongOutput, Output: []byte("2\n")}, Corrupted},
		{Ending{Kind: trace.Clean, Status: 1, Output: []byte("1\n")}, Detected},
		{Ending{Kind: trace.Exit, Status: 1}, Detected},
		{Ending{Kind: trace.Signal, Status: 11}, Crashed},
		{Ending{Kind: trace.Assertion}, Crashed},
		{Ending{Kind: trace.Deadlock}, Hung},
		{Ending{Kind: trace.Hang}, Hung},
	} {
		if got := outcome(golden, &test.e); got != test.want {
			t.Errorf("%+v: %v, want %v", test.e, got, test.want)
		}
	}
}

// Events beyond the memory go to a file, and nothing changes.
func TestSpill(t *testing.T) {
	t.Parallel()
	b := newBuilder()
	id := b.spawn(0, 1)
	for i := range uint64(100_000) {
		b.write(trace.ThreadID(i%2)*id, global(i%64*8), i)
	}
	whole, err := Sanitize(Whole(&b.t), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	spilled := b.sanitized(t)
	if spilled.store.file == nil || whole.store.file != nil {
		t.Fatal("nothing was spilled, or everything")
	}
	if written(t, whole) != written(t, spilled) {
		t.Error("the files differ")
	}
	if c := compare(t, whole, spilled); c.Deviation != Same || c.Threads[1].Compared != 50_000 {
		t.Errorf("%+v", c)
	}
}

// A file gives the same execution again, and a damaged one an error.
func TestFile(t *testing.T) {
	t.Parallel()
	golden := twoThreads([2]int{0, 1}, 7).sanitized(t)
	golden.Ending.Output, golden.Ending.Message = []byte("a\n\"\xff"), "x y"
	text := written(t, golden)
	name := filepath.Join(t.TempDir(), "golden.san")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	x, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if !IsFile(name) || written(t, x) != text {
		t.Error("another file")
	}
	if c := compare(t, x, twoThreads([2]int{1, 0}, 8).sanitized(t)); c.Deviation != Data || !c.Ordered {
		t.Errorf("%+v", c)
	}
	if c := compare(t, golden, x); c.Deviation != Same || c.Outcome != Benign || c.Ordered {
		t.Errorf("%+v", c)
	}
	for _, damaged := range []string{
		"", text[:40], text[:len(text)-4], text + "x\n",
		strings.Replace(text, "trace 4", "trace 1", 1),
		strings.Replace(text, "T0.2 ", "T0.0 ", 1),
		strings.Replace(text, "bytes 141", "bytes 9999999", 1),
		strings.Replace(text, "ending clean", "ending happy", 1),
	} {
		if _, err := parse(strings.NewReader(damaged), int64(len(damaged))); err == nil {
			t.Errorf("no error for %q", damaged)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(written(f, twoThreads([2]int{0, 1}, 7).sanitized(f))))
	f.Fuzz(func(t *testing.T, in []byte) {
		x, err := parse(bytes.NewReader(in), int64(len(in)))
		if err != nil {
			return
		}
		_, _ = Compare(context.Background(), x, x, nil, nil) // an error or a result
	})
}

func TestCompareThreads(t *testing.T) {
	t.Parallel()
	order := []string{"T0", "clock", "T0.1", "T0.2", "T0.10", "T0.1.1", "T0.1.2", "T0.2.1", "T0.10.1"}
	for i := range order {
		for j := range order {
			if i == 1 || j == 1 {
				continue
			}
			if got := compareThreads(order[i], order[j]); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%s, %s: %d", order[i], order[j], got)
			}
		}
	}
}

// Memory outside of all regions is named by page, so that it may be anywhere; a value is a pointer
// there once the page has been used.
func TestPages(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, base := range []uint64{0x7f0000001000, 0x7fab12345000} {
		b := newBuilder()
		b.write(0, trace.Object(base+8), 3)
		b.write(0, global(8), base+16)
		b.write(0, trace.Object(base+1<<20), 3)
		texts = append(texts, written(t, b.sanitized(t)))
	}
	for _, want := range []string{" T0:p1+8 8 0x3\n", " g:prog+8 8 *T0:p1+16\n", " T0:p2+0 8 0x3\n"} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %q in\n%s", want, texts[0])
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
}
