package goprog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Tests against Go's own runtime with the overlay: a test binary and a program, built once.

const realTests = `package p

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestClean(t *testing.T) {
	c := make(chan int)
	go func() { c <- 1 }()
	fmt.Println("received", <-c)
}

func TestLostUpdate(t *testing.T) {
	var m sync.Mutex
	n := 0
	get := func() int { m.Lock(); defer m.Unlock(); return n }
	set := func(v int) { m.Lock(); defer m.Unlock(); n = v }
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() { defer wg.Done(); set(get() + 1) }()
	}
	wg.Wait()
	fmt.Println("counted")
	if n != 2 {
		t.Errorf("n is %d, want 2", n)
	}
}

func TestABBA(t *testing.T) {
	var a, b sync.Mutex
	done := make(chan bool)
	go func() { a.Lock(); b.Lock(); b.Unlock(); a.Unlock(); close(done) }()
	b.Lock()
	a.Lock()
	a.Unlock()
	b.Unlock()
	<-done
}

func TestDoubleClose(t *testing.T) {
	c := make(chan int)
	var m sync.Mutex
	closed := false
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m.Lock()
			before := closed
			m.Unlock()
			if !before {
				m.Lock()
				closed = true
				m.Unlock()
				fmt.Println("closing")
				close(c)
			}
		}()
	}
	wg.Wait()
}

func TestPanic(t *testing.T) {
	fmt.Println("before")
	panic(errors.New("it is broken"))
}

func TestUnlock(t *testing.T) {
	var m sync.Mutex
	m.Unlock()
}

func TestLeak(t *testing.T) {
	c := make(chan int)
	go func() { <-c }()
}

func TestExit(t *testing.T) { os.Exit(3) }

var sink int

func TestSpin(t *testing.T) {
	c := make(chan int)
	go func() { c <- <-c }()
	runtime.Gosched()
	for {
		sink = sink*3 + 1
	}
}

func TestRounds(t *testing.T) {
	var m sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 5 {
				m.Lock()
				n++
				m.Unlock()
			}
		}()
	}
	wg.Wait()
	if n != 20 {
		t.Error(n)
	}
}

func TestLong(t *testing.T) {
	n := 4
	if !testing.Short() {
		n += 2_200_000
	}
	for range n {
		added.Add(1)
	}
}

var added atomic.Int64

var global [2]int

func TestState(t *testing.T) {
	global[1]++
	fmt.Println("run", global[1])
}
`

const realMain = `package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"
)

func main() {
	in, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	var wg sync.WaitGroup
	c := make(chan string, 2)
	for _, s := range []string{"a", "b"} {
		wg.Add(1)
		go func() { defer wg.Done(); c <- s }()
	}
	wg.Wait()
	fmt.Printf("%s%s%s\n", in, <-c, <-c)
	if len(os.Args) > 1 {
		os.Exit(5)
	}
}
`

var real struct {
	once      sync.Once
	dir       string
	test, run string
	tool      string   // the go command
	flags     []string // of go build, for the overlay
	env       []string
	err       error
}

func realBuild() error {
	dir, err := os.MkdirTemp("", "heddle-goprog")
	if err != nil {
		return err
	}
	real.dir, real.test, real.run = dir, filepath.Join(dir, "p.test"), filepath.Join(dir, "p")
	tool, err := gotool.Find(context.Background(), "", dir)
	if err != nil {
		return err
	}
	if err := tool.Settle(context.Background(), dir); err != nil { // GOTOOLCHAIN may name a release
		return err
	}
	overlay, err := patch.Make(context.Background(), tool.Root, dir, patch.Options{})
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.24\n", "p_test.go": realTests, "main/main.go": realMain} {
		name = filepath.Join(dir, "src", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	real.tool, real.flags, real.env = tool.Path, overlay.Flags, append(overlay.Env, "GOROOT="+tool.Root, "GOTOOLCHAIN=local")
	for _, args := range [][]string{append([]string{"test", "-c", "-o", real.test}, append(overlay.Flags, ".")...), append([]string{"build", "-o", real.run}, append(overlay.Flags, "./main")...)} {
		cmd := exec.Command(real.tool, args...)
		cmd.Dir = filepath.Join(dir, "src")
		cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), real.env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// realTest is a test of a real test binary as a target.
func realTest(t testing.TB, name string, args ...string) *Target {
	t.Helper()
	needReal(t)
	return begin(t, Config{
		Path: real.test, Args: append([]string{"p.test", "-test.run=^" + name + "$"}, args...),
		Dir: filepath.Join(real.dir, "src"), Test: true, Watchdog: 2 * time.Second,
	})
}

func needReal(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: building with the overlay takes long the first time")
	}
	real.once.Do(func() { real.err = realBuild() })
	if real.err != nil {
		t.Fatal(real.err)
	}
}

// failing looks for an execution that fails, as a campaign does, and returns its plan.
func failing(t testing.TB, tg *Target) (schedule.Plan, schedule.Outcome) {
	t.Helper()
	var failed *schedule.Outcome
	sent := false
	err := tg.Stream(t.Context(), func() (schedule.Plan, bool) {
		first := !sent
		sent = true
		return schedule.Plan{Policy: schedule.Random, Repeat: 2000, Stop: true}, first
	}, func(_ schedule.Plan, o schedule.Outcome) bool {
		if o.Ending.Kind.Failed() {
			failed = &o
		}
		return failed == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if failed == nil {
		t.Fatal("2000 executions, and none failed")
	}
	return schedule.Plan{Policy: schedule.Random, Seed: uint64(failed.Index), Record: true, Accesses: true}, *failed
}

// What fails in a stream fails in a process of its own in the same way, with its output and
// a valid trace, and is followed step by step in yet another one.
func TestRealEndings(t *testing.T) {
	for _, c := range []struct {
		name            string
		kind            trace.Kind
		message, output string
		place           string // the function where it failed
		cold            bool
	}{
		{name: "TestLostUpdate", kind: trace.Test, message: "n is 1, want 2", output: "counted\n    p_test.go:32: n is 1, want 2\n", place: "p.TestLostUpdate"},
		{name: "TestABBA", kind: trace.Deadlock},
		{name: "TestDoubleClose", kind: trace.Panic, message: "close of closed channel", output: "closing\nclosing\npanic: close of closed channel\n", place: "p.TestDoubleClose.func1"},
		{name: "TestPanic", kind: trace.Panic, message: "it is broken", output: "before\npanic: it is broken [recovered, repanicked]\n", place: "p.TestPanic", cold: true},
		{name: "TestUnlock", kind: trace.Fatal, message: "sync: unlock of unlocked mutex", output: "fatal error: sync: unlock of unlocked mutex\n", place: "p.TestUnlock", cold: true},
		{name: "TestLeak", kind: trace.Leak},
		{name: "TestExit", kind: trace.Exit, message: "os.Exit(3) in a test", cold: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tg := realTest(t, c.name)
			if tg.Cold() != c.cold {
				t.Errorf("cold: %t", tg.Cold())
			}
			plan, first := failing(t, tg)
			if first.Ending.Kind != c.kind || first.Ending.Message != c.message {
				t.Fatalf("in the stream: %v %q, want %v %q", first.Ending.Kind, first.Ending.Message, c.kind, c.message)
			}
			o := run(t, tg, plan)
			if e := o.Ending; e.Kind != c.kind || e.Message != c.message || string(e.Output) != c.output || o.Signature != first.Signature {
				t.Fatalf("alone: %v %q, output %q; want %v %q, %q", e.Kind, e.Message, e.Output, c.kind, c.message, c.output)
			}
			if err := trace.Validate(o.Trace); err != nil {
				t.Fatal(err)
			}
			if c.place != "" {
				table := symbol.ForTrace(o.Trace, symbol.Options{})
				if f := table.Call(o.Ending.Site); !strings.HasSuffix(f[len(f)-1].Func, c.place) {
					t.Errorf("it failed in %+v, want %s", f, c.place)
				}
			}
			again := run(t, tg, schedule.Plan{
				Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads, Seed: plan.Seed, Record: true, Accesses: true,
			})
			if again.Ending.Kind == trace.Diverged {
				t.Fatalf("following it: %+v", again.Diverged)
			}
			if !reflect.DeepEqual(again.Trace.Events, o.Trace.Events) || !reflect.DeepEqual(again.Ending, o.Ending) {
				t.Errorf("following it gave another execution: %v %q", again.Ending.Kind, again.Ending.Message)
			}
		})
	}
}

// A loop without scheduling points is unfinished, and the report says where.
func TestRealUnfinished(t *testing.T) {
	tg := realTest(t, "TestSpin")
	o := run(t, tg, schedule.Plan{MaxSteps: 1 << 30, Record: true})
	e := o.Ending
	if o.Trace == nil || len(o.Trace.Events) == 0 {
		t.Fatalf("%v %q: no trace", e.Kind, e.Message)
	}
	if err := trace.Validate(o.Trace); err != nil {
		t.Error(err)
	}
	f := symbol.New(tg.Modules(), symbol.Options{}).Call(e.Site)
	if e.Kind != trace.Unfinished || !strings.HasSuffix(f[len(f)-1].Func, "p.TestSpin") {
		t.Errorf("%v %q in %+v, output %.400q", e.Kind, e.Message, f, e.Output)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := tg.Run(ctx, schedule.Plan{MaxSteps: 1 << 30})
	var cut *target.CutError
	if !errors.As(err, &cut) {
		t.Fatal(err)
	}
	for _, end := range []struct {
		trace.Ending
		why string
	}{{e, trace.CutByWatchdog}, {cut.Outcome.Ending, trace.CutByTime}} {
		w := end.Waiters
		if end.Message != end.why || len(w) != 2 || !w[0].Ready || w[1].Ready || w[1].Op != trace.OpChanRecv || w[1].Site == 0 {
			t.Errorf("%v %q, positions %+v; want %q, of a goroutine that runs and one that receives", end.Kind, end.Message, w, end.why)
		}
	}
}

// A schedule of millions of steps, for which the plan ring has no room, is followed to its end, and a difference is found
// at its step.
func TestRealLongSchedule(t *testing.T) {
	const extra = 2_200_000
	short := run(t, realTest(t, "TestLong", "-test.short"), schedule.Plan{Record: true})
	steps := schedule.ScriptOf(short.Trace)
	at := slices.IndexFunc(steps, func(s schedule.Step) bool { return s.Op == trace.OpAtomicRmw })
	if at < 0 {
		t.Fatalf("no atomic addition among %d steps", len(steps))
	}
	long := slices.Concat(steps[:at], slices.Repeat(steps[at:at+1], extra), steps[at:])
	tg := realTest(t, "TestLong")
	plan := schedule.Plan{Mode: schedule.Strict, Script: long, Threads: short.Trace.Threads, MaxSteps: 1 << 30, FairAfter: schedule.Never}
	if o := run(t, tg, plan); o.Ending.Kind != trace.Clean {
		t.Errorf("%v %q %+v", o.Ending.Kind, o.Ending.Message, o.Diverged)
	}
	odd := len(long) - 3
	long[odd].Op = trace.OpGosched
	if o := run(t, tg, plan); o.Ending.Kind != trace.Diverged || o.Diverged.Step != odd {
		t.Errorf("%v %q %+v, want a difference at step %d", o.Ending.Kind, o.Ending.Message, o.Diverged, odd)
	}
}

// Run gives one execution after the warm-up, a stream many after one another.
func TestRealWarmUp(t *testing.T) {
	tg := realTest(t, "TestState")
	for range 3 {
		if o := run(t, tg, schedule.Plan{Record: true}); string(o.Ending.Output) != "run 2\n" {
			t.Errorf("output %q", o.Ending.Output)
		}
	}
	verbose := realTest(t, "TestState", "-test.v")
	if o := run(t, verbose, schedule.Plan{Record: true}); string(o.Ending.Output) != "run 2\n" {
		t.Errorf("with -v: output %q", o.Ending.Output)
	}
}

// Executions of one plan are the same in any process.
func TestRealSameInEveryProcess(t *testing.T) {
	tg := realTest(t, "TestClean")
	for seed := range uint64(5) {
		p := schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true, Accesses: true}
		first := run(t, tg, p)
		if err := trace.Validate(first.Trace); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if again := run(t, tg, p); !reflect.DeepEqual(first.Trace, again.Trace) {
				t.Errorf("seed %d: another execution", seed)
			}
		}
	}
}

// A program: its input, its output in the order of the schedule, its status.
func TestRealMain(t *testing.T) {
	needReal(t)
	tg := begin(t, Config{Path: real.run, Args: []string{"p", "x"}, Stdin: []byte("in\n")})
	seen := map[string]bool{}
	for seed := uint64(0); seed < 500 && len(seen) < 2; seed++ {
		o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true})
		if o.Ending.Kind != trace.Clean || o.Ending.Status != 5 || !bytes.HasPrefix(o.Ending.Output, []byte("in\n")) {
			t.Fatalf("%v %d %q", o.Ending.Kind, o.Ending.Status, o.Ending.Output)
		}
		seen[string(o.Ending.Output)] = true
	}
	if !seen["in\nab\n"] || !seen["in\nba\n"] || len(seen) != 2 {
		t.Errorf("outputs %v", seen)
	}
}

// The instructions of a program have counterparts in a build of the same source elsewhere, as files of Go's own do
// in builds with two copies of one release.
func TestCounterpartsElsewhere(t *testing.T) {
	var built [2]string
	for i := range built {
		dir := t.TempDir()
		built[i] = filepath.Join(dir, "p")
		for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.24\n", "main.go": realMain} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), "go", "build", "-o", built[i], ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	c, err := NewCounterparts(built[0], built[1])
	if err != nil {
		t.Fatal(err)
	}
	main := c.from.LookupFunc("main.main")
	for pc := main.Entry; pc < main.End; pc++ {
		if s, ok := c.Site(trace.MakeSite(0, pc)); !ok || s != trace.MakeSite(0, c.to.LookupFunc("main.main").Entry+pc-main.Entry) {
			t.Fatalf("main.main+%#x: %v %t", pc-main.Entry, s, ok)
		}
	}
}

// BenchmarkStream is executions in a process, of 4 goroutines with 5 rounds each.
func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		name string
		plan schedule.Plan
	}{
		{"plain", schedule.Plan{}},
		{"watched", schedule.Plan{Watch: true}},
		{"recorded", schedule.Plan{Record: true}},
		{"watched and recorded", schedule.Plan{Watch: true, Record: true}},
		{"recorded with accesses", schedule.Plan{Record: true, Accesses: true}},
	} {
		b.Run(c.name, func(b *testing.B) { stream(b, c.plan) })
	}
}

func stream(b *testing.B, plan schedule.Plan) {
	plan.Policy, plan.Repeat = schedule.Random, b.N
	tg := realTest(b, "TestRounds")
	points, sent := 0, false
	b.ResetTimer()
	err := tg.Stream(b.Context(), func() (schedule.Plan, bool) {
		first := !sent
		sent = true
		return plan, first
	}, func(_ schedule.Plan, o schedule.Outcome) bool {
		if o.Ending.Kind != trace.Clean {
			b.Fatalf("%v %s", o.Ending.Kind, o.Ending.Message)
		}
		points += o.Points
		return true
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
	b.ReportMetric(float64(points)/float64(b.N), "points")
}

// BenchmarkRun is the same with a process for each execution.
func BenchmarkRun(b *testing.B) {
	tg := realTest(b, "TestRounds")
	for b.Loop() {
		if o := run(b, tg, schedule.Plan{Policy: schedule.Random}); o.Ending.Kind != trace.Clean {
			b.Fatalf("%v %s", o.Ending.Kind, o.Ending.Message)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "executions/s")
}
