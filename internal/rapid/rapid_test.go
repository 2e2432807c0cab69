package rapid

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/simplify/synthetic"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

func read(t *testing.T, text string) *Result {
	t.Helper()
	res, err := Read(strings.NewReader(text), "test.std")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := trace.Validate(res.Trace); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return res
}

func written(t *testing.T, tr *trace.Trace, o Options) (string, *Written) {
	t.Helper()
	var out bytes.Buffer
	w, err := Write(&out, tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), w
}

// rapid is the example of RAPID's documentation, with its strange variable.
const rapidExample = "T0|r(V123)|345\nT1|w(V234.23[0])|456\nT0|fork(T2)|123\nT2|acq(L34)|120\nT2|rel(L34)|130\nT0|join(T2)|134\n"

func TestRead(t *testing.T) {
	res := read(t, rapidExample)
	tr := res.Trace
	var got []string
	for _, ev := range tr.Events {
		got = append(got, fmt.Sprintf("%s %s %d %v", tr.Threads[ev.Thread].Label, ev.Op, ev.Site.Offset(), ev.Flags&trace.FlagNoDecision != 0))
	}
	want := []string{
		"T0 start 0 true", "T0 pthread_create 0 true", // no thread forks T1
		"T0 read 345 false", "T1 start 0 true", "T1 write 456 false", "T0 pthread_create 123 false",
		"T2 start 0 true", "T2 lock 120 false", "T2 unlock 130 false", "T2 end 0 true", "T0 pthread_join 134 false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := trace.CostOf(tr.Events); c.Events != 6 || c.Switches != 4 || c.Threads != 3 {
		t.Errorf("%+v", c)
	}
	if got, w := written(t, tr, Options{Names: res.Names}); got != rapidExample || len(w.Lost) > 0 {
		t.Errorf("written as\n%s%v", got, w.Lost)
	}
}

func TestEnabled(t *testing.T) {
	tr := read(t, "A|fork(B)|1\nA|acq(L1)|2\nB|r(V1)|3\nA|rel(L1)|4\nB|acq(L1)|5\nB|rel(L1)|6\nA|join(B)|7\nA|r(V1)|8\n").Trace
	var got []string
	for _, ev := range tr.Events {
		if ev.Flags&trace.FlagNoDecision == 0 {
			got = append(got, ev.Enabled.String())
		}
	}
	// B waits for the lock from line 4 on; A waits for B from line 5 on.
	if want := []string{"{0}", "{0,1}", "{0,1}", "{0}", "{1}", "{1}", "{0}", "{0}"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBounds(t *testing.T) {
	text := "A|begin(x)|1\nA|begin|2\nA|r(V1)|3\nA|end|4\nA|end(x)|5\nB|r(V1)|6\n"
	res := read(t, text)
	if len(res.Lost) != 2 || res.Lost[0].Count != 1 || res.Lost[0].First != 2 || res.Lost[1].First != 4 {
		t.Errorf("%v", res.Lost)
	}
	if got, _ := written(t, res.Trace, Options{}); got != "A|begin|1\nA|r(V1)|3\nA|end|5\nB|r(V1)|6\n" {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"T0|r(V1)|1\nhello\n", `line 2: "hello": an event is thread|operation|place, as in T0|r(V123)|345`},
		{"T0|r(V1)\n", "line 1: \"T0|r(V1)\": an event is"},
		{"T0|r(V1)|1|2\n", "more than three fields"},
		{"T0|r(V1)|1\n\nT0|r(V1)|1\n", "line 2: \"\": the line is empty"},
		{"T0|r(V1)|\n", `the place "" is not a number`},
		{"T0|r(V1)|-1\n", `the place "-1" is not a number`},
		{"T0|r(V1)|x.c:7\n", `the place "x.c:7" is not a number`},
		{"T0|r(V1)|281474976710656\n", "is not a number from 0 to 281474976710655"},
		{"|r(V1)|1\n", "the thread has no name"},
		{"T 0|r(V1)|1\n", `the thread "T 0" has a blank in it`},
		{"T0|r()|1\n", "what r is done to has no name"},
		{"T0|r|1\n", "what r is done to has no name"},
		{"T0|r(V 1)|1\n", "has a blank in it"},
		{"T0|r(V1|1\n", "no closing parenthesis"},
		{"T0|read(V1)|1\n", `unknown operation "read"; want one of r, w, acq, rel, fork, join, begin, end`},
		{"T0|fork(T0)|1\n", "forks itself"},
		{"T0|fork(T1)|1\nT0|fork(T1)|1\n", "line 2: \"T0|fork(T1)|1\": thread T1 was forked in line 1"},
		{"T1|r(V1)|1\nT0|fork(T1)|1\n", "thread T1 was there before, from line 1 on"},
		{"T0|join(T0)|1\n", "joins itself"},
		{"T0|join(T1)|1\n", "there is no thread T1"},
		{"T0|fork(T1)|1\nT0|join(T1)|2\nT1|r(V1)|3\n", "line 2: \"T0|join(T1)|2\": thread T1 has not ended: it goes on until line 3"},
		{"T0|acq(L1)|1\nT1|acq(L1)|2\n", "line 2: \"T1|acq(L1)|2\": thread T0 has the lock"},
		{"T0|rel(L1)|1\n", "the thread does not have the lock"},
		{"T0|acq(L1)|1\nT1|rel(L1)|2\n", "the thread does not have the lock"},
		{strings.Repeat("x", 70000), "longer than 65536 bytes"},
		{"\x1f\x8bnot gzip", "gzip"},
	} {
		_, err := Read(strings.NewReader(c.text), "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %q", c.text, err, c.want)
			continue
		}
		var e *Error
		if !errors.As(err, &e) && !strings.Contains(c.want, "gzip") {
			t.Errorf("%.60q: %T", c.text, err)
		}
	}
	if len(read(t, "").Trace.Events) != 0 {
		t.Error("a trace of nothing")
	}
}

// randomSTD is a random trace that is an execution.
func randomSTD(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 5))
	var out strings.Builder
	threads := 1 + r.IntN(5)
	names := []string{"T0", "main", "T7", "w-1", "T3"}
	vars := []string{"V1", "V02", "x.y[3]", "V99999", "V"}
	locks := []string{"L0", "m", "L12"}
	holder := map[string]int{}
	began := make([]bool, threads)
	began[0] = true
	for range 40 {
		th := r.IntN(threads)
		if !began[th] {
			if r.IntN(2) == 0 {
				fmt.Fprintf(&out, "%s|fork(%s)|%d\n", names[0], names[th], r.IntN(100))
			}
			if r.IntN(2) == 0 {
				fmt.Fprintf(&out, "%s|begin|%d\n", names[th], r.IntN(100))
			}
			began[th] = true
			continue
		}
		lock := locks[r.IntN(len(locks))]
		switch h, held := holder[lock]; {
		case r.IntN(3) == 0 && (!held || h == th && r.IntN(3) == 0):
			if held {
				continue
			}
			holder[lock] = th
			fmt.Fprintf(&out, "%s|acq(%s)|%d\n", names[th], lock, r.IntN(100))
		case held && h == th && r.IntN(2) == 0:
			delete(holder, lock)
			fmt.Fprintf(&out, "%s|rel(%s)|%d\n", names[th], lock, r.IntN(100))
		default:
			fmt.Fprintf(&out, "%s|%s(%s)|%d\n", names[th], []string{"r", "w"}[r.IntN(2)], vars[r.IntN(len(vars))], r.IntN(100))
		}
	}
	for th := 1; th < threads; th++ {
		if began[th] && r.IntN(2) == 0 {
			fmt.Fprintf(&out, "%s|join(%s)|%d\n", names[0], names[th], r.IntN(100))
		}
	}
	return out.String()
}

// TestRoundTrip: STD comes out as it went in, with and without gzip, and valid in between.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(500) {
		text := randomSTD(seed)
		res := read(t, text)
		got, w := written(t, res.Trace, Options{Names: res.Names})
		if got != text || w.Lines != strings.Count(text, "\n") {
			t.Fatalf("seed %d:\n%s\nwas\n%s", seed, got, text)
		}
		packed, _ := written(t, res.Trace, Options{Names: res.Names, Gzip: true})
		z, err := gzip.NewReader(strings.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		z.Close()
		if again, _ := written(t, read(t, packed).Trace, Options{Names: res.Names}); again != text {
			t.Fatalf("seed %d, through gzip:\n%s\nwas\n%s", seed, again, text)
		}
	}
}

// TestWriteKeepsOrder: of what STD can say of a heddle trace, nothing that has to come
// before something else can come after it in what is read back.
func TestWriteKeepsOrder(t *testing.T) {
	pairs, lost := 0, map[string]bool{}
	for seed := range uint64(400) {
		tr := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%4), Length: 4 + int(seed%10), Big: seed%5 == 0}).Trace
		tr.Events = slices.DeleteFunc(tr.Events, func(ev trace.Event) bool {
			switch ev.Op {
			case trace.OpMalloc, trace.OpFree, trace.OpProcessExit, trace.OpBarrierInit, trace.OpSemInit, trace.OpSemGetvalue:
				return true // omitted
			}
			// Failed operations are omitted, and the order that they would impose.
			return ev.Result != 0 && ev.Op != trace.OpAtomicCas && ev.Op != trace.OpCondWake && ev.Op != trace.OpBarrierLeave && ev.Op != trace.OpFutexWakeup && ev.Op != trace.OpFutexWait
		})
		tr.Ending = trace.Ending{}
		for i := range tr.Events {
			tr.Events[i].Site = trace.MakeSite(0, uint64(i)+1)
			tr.Events[i].Flags &^= trace.FlagNoDecision
			tr.Events[i].Enabled = trace.ThreadSet{}
			if tr.Events[i].Object.Region() == trace.RegionHeap {
				tr.Events[i].Object = trace.MakeObject(trace.RegionGlobal, 0, 1<<30+tr.Events[i].Object.Offset())
			}
		}
		text, w := written(t, tr, Options{})
		for _, l := range w.Lost {
			lost[l.What] = true
		}
		back := read(t, text).Trace
		// Of each event, its first and last line.
		first, last := make([]int, len(tr.Events)), make([]int, len(tr.Events))
		for i := range first {
			first[i], last[i] = -1, -1
		}
		g := depend.Build(back)
		for i, ev := range back.Events {
			if ev.Flags&trace.FlagNoDecision != 0 || ev.Site.Offset() == 0 {
				continue
			}
			e := int(w.Places[ev.Site.Offset()-1].Offset()) - 1
			if first[e] < 0 {
				first[e] = i
			}
			last[e] = i
		}
		node := make([]int32, len(back.Events))
		for n := range int32(g.Len()) {
			from, to := g.EventsOf(n)
			for i := from; i < to; i++ {
				node[i] = n
			}
		}
		number := make([]int32, g.Len())
		count := make([]int32, g.Threads())
		for n, th := range g.Thread {
			number[n] = count[th]
			count[th]++
		}
		clocks := g.Clocks()
		orig := depend.Build(tr)
		for b := range int32(orig.Len()) {
			for _, a := range orig.Preds(b) {
				if last[a] < 0 || first[b] < 0 {
					continue
				}
				pairs++
				x, y := node[first[a]], node[last[b]]
				if clocks.Before(y)[g.Thread[x]] <= number[x] {
					t.Fatalf("seed %d: event %d (%s) comes before %d (%s); its lines may come after\n%s", seed, a, tr.Events[a].Op, b, tr.Events[b].Op, text)
				}
			}
		}
	}
	if pairs < 1000 || len(lost) < 8 {
		t.Errorf("%d pairs, lost %v", pairs, lost)
	}
}

// TestRobust: the next owner has the lock of one that died; a lock that cannot be recovered
// has no owner.
func TestRobust(t *testing.T) {
	const m = trace.Object(8)
	tr := &trace.Trace{Threads: []trace.Thread{{ID: 0, Parent: -1, Name: 1}}, Events: []trace.Event{
		{Op: trace.OpMutexLock, Object: m},
		{Op: trace.OpMutexAbandon, Object: m},
		{Op: trace.OpMutexLock, Object: m, Result: int32(syscall.EOWNERDEAD)},
		{Op: trace.OpMutexUnlock, Object: m},
		{Op: trace.OpMutexLock, Object: m, Result: int32(syscall.ENOTRECOVERABLE)},
	}}
	text, _ := written(t, tr, Options{})
	var words []string
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.Split(line, "|")[1], "(")
		words = append(words, word)
	}
	if got := strings.Join(words, " "); got != "acq rel acq rel" {
		t.Errorf("written as %s:\n%s", got, text)
	}
}

// TestLarge: a generated trace, written from its events, is read back as what it was.
func TestLarge(t *testing.T) {
	l := synthetic.Workload{Events: 20000, Threads: 6, Conflict: 0.2, Section: 0.1}
	var out bytes.Buffer
	w, err := write(&out, l.All(), func(id trace.ThreadID) string { return "T" + strconv.Itoa(int(id)) }, false, Options{Gzip: true})
	if err != nil {
		t.Fatal(err)
	}
	back := read(t, out.String()).Trace
	a, b := depend.Build(tracegen.Synthetic(l)), depend.Build(back)
	if w.Lines < 20000 || a.Edges() == 0 || b.Edges() != a.Edges() {
		t.Errorf("%d lines, %d dependences, there were %d", w.Lines, b.Edges(), a.Edges())
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(rapidExample))
	f.Add([]byte("A|begin|1\nA|acq(L1)|1\nA|rel(L1)|1\nA|fork(B)|2\nB|w(x)|3\nA|join(B)|4\nA|end|5"))
	f.Fuzz(func(t *testing.T, text []byte) {
		res, err := Read(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		if err := trace.Validate(res.Trace); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := Write(&out, res.Trace, Options{Names: res.Names}); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(out.Bytes()), "fuzz")
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, out.String(), err)
		}
		if len(again.Trace.Events) != len(res.Trace.Events) {
			t.Fatalf("%q was written as %q: %d events, %d", text, out.String(), len(res.Trace.Events), len(again.Trace.Events))
		}
	})
}

// TestThroughFile: STD survives heddle's own format.
func TestThroughFile(t *testing.T) {
	text := "T0|begin|1\nT0|fork(T1)|2\nT1|acq(L7)|3\nT1|w(V12)|4\nT1|rel(L7)|5\nT0|join(T1)|6\nT0|r(V12)|7\nT0|end|8\n"
	file := filepath.Join(t.TempDir(), "x.hdl")
	if err := trace.WriteFile(file, read(t, text).Trace); err != nil {
		t.Fatal(err)
	}
	back, err := trace.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, w := written(t, back, Options{}); got != text || len(w.Lost) > 0 {
		t.Errorf("%s%v", got, w.Lost)
	}
}
