package goprog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/internal/testing/ipctest"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func config(t testing.TB, args ...string) Config {
	return Config{Path: self(t), Args: append([]string{"it.test"}, args...), Test: true, Watchdog: 500 * time.Millisecond}
}

func begin(t testing.TB, cfg Config) *Target {
	t.Helper()
	tg, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

func start(t testing.TB, args ...string) *Target {
	t.Helper()
	return begin(t, config(t, args...))
}

func run(t testing.TB, tg *Target, p schedule.Plan) schedule.Outcome {
	t.Helper()
	o, err := tg.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// streamed is what a stream of plans gave. stop ends it after so many executions, 0 never.
func streamed(t testing.TB, tg *Target, stop int, plans ...schedule.Plan) (out []schedule.Outcome, err error) {
	t.Helper()
	err = tg.Stream(t.Context(), func() (schedule.Plan, bool) {
		if len(plans) == 0 {
			return schedule.Plan{}, false
		}
		p := plans[0]
		plans = plans[1:]
		return p, true
	}, func(p schedule.Plan, o schedule.Outcome) bool {
		if o.Ending.Kind != trace.Unfinished && o.Signature != p.Seed+uint64(o.Index) {
			t.Errorf("execution %d of the plan with seed %d ran with seed %d", o.Index, p.Seed, o.Signature)
		}
		out = append(out, o)
		return len(out) != stop
	})
	return out, err
}

// processes are the sizes of the runs of executions in one process.
func processes(out []schedule.Outcome) (sizes []int) {
	for i, o := range out {
		if i == 0 || o.Points != out[i-1].Points {
			sizes = append(sizes, 0)
		}
		if o.Switches != sizes[len(sizes)-1] {
			return append(sizes, -1) // not the one after the last
		}
		sizes[len(sizes)-1]++
	}
	return sizes
}

// Run never runs two executions in a process, and no process twice.
func TestRunIsInAFreshProcess(t *testing.T) {
	tg := start(t, "warm")
	seen := map[int]bool{}
	for seed := range uint64(10) {
		o := run(t, tg, schedule.Plan{Seed: seed, Repeat: 7})
		if o.Ending.Kind != trace.Clean || o.Switches != 0 || o.Signature != seed || seen[o.Points] {
			t.Fatalf("execution %d: %v, the process's execution %d, in a used one: %t", seed, o.Ending.Kind, o.Switches, seen[o.Points])
		}
		seen[o.Points] = true
	}
	// A stream after it begins afresh, too, and what it did is not seen by the next run.
	out, err := streamed(t, tg, 0, schedule.Plan{Repeat: 3})
	if err != nil || !slices.Equal(processes(out), []int{3}) || seen[out[0].Points] {
		t.Fatalf("%v %v", processes(out), err)
	}
	if o := run(t, tg, schedule.Plan{}); o.Switches != 0 || o.Points == out[0].Points {
		t.Errorf("the run after a stream is execution %d of its process", o.Switches)
	}
}

// Executions of a stream share processes up to the limit, whatever the plans' borders.
func TestStreamRenewsTheProcess(t *testing.T) {
	cfg := config(t, "warm")
	cfg.PerProcess = 10
	tg := begin(t, cfg)
	out, err := streamed(t, tg, 0, schedule.Plan{Seed: 1000, Repeat: 4}, schedule.Plan{Seed: 2000}, schedule.Plan{Seed: 3000, Repeat: 23}, schedule.Plan{Seed: 4000, Repeat: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := processes(out); !slices.Equal(got, []int{10, 10, 10}) {
		t.Errorf("executions by process: %v", got)
	}
	var order []uint64
	for _, o := range out {
		order = append(order, o.Signature)
	}
	want := []uint64{1000, 1001, 1002, 1003, 2000}
	for i := range uint64(23) {
		want = append(want, 3000+i)
	}
	if want = append(want, 4000, 4001); !slices.Equal(order, want) {
		t.Errorf("seeds %v, want %v", order, want)
	}
}

// A process that ends with an execution leaves what it was asked for to the next.
func TestLastExecutionOfAProcess(t *testing.T) {
	tg := start(t, "warm", "3=panic", "11=exit:5", "22=panic")
	out, err := streamed(t, tg, 0,
		schedule.Plan{Seed: 1, Repeat: 5},
		schedule.Plan{Seed: 10, Repeat: 4},
		schedule.Plan{Seed: 20, Repeat: 9, Stop: true},
		schedule.Plan{Seed: 30, Repeat: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range out {
		got = append(got, fmt.Sprint(o.Signature, o.Ending.Kind, o.Ending.Status))
	}
	want := []string{"1 clean 0", "2 clean 0", "3 panic 0", "4 clean 0", "5 clean 0", "10 clean 0", "11 clean 5", "12 clean 0", "13 clean 0", "20 clean 0", "21 clean 0", "22 panic 0", "30 clean 0", "31 clean 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if sizes := processes(out); !slices.Equal(sizes, []int{3, 4, 5, 2}) {
		t.Errorf("executions by process: %v", sizes)
	}
}

// A plan with Stop is over at its first failure though the process continues.
func TestStop(t *testing.T) {
	tg := start(t, "warm", "2=test", "11=exit:3")
	out, err := streamed(t, tg, 0, schedule.Plan{Repeat: 10, Stop: true}, schedule.Plan{Seed: 10, Repeat: 10, Stop: true, ExpectStatus: 3}, schedule.Plan{Seed: 40})
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, o := range out {
		got = append(got, o.Signature)
	}
	// 10 ends with status 0, which is not the expected one.
	if !slices.Equal(got, []uint64{0, 1, 2, 10, 40}) {
		t.Errorf("executions %v", got)
	}
}

// done can end a stream; the next one is not disturbed by what had been queued.
func TestStreamIsEndedByDone(t *testing.T) {
	tg := start(t, "warm")
	for stop := 1; stop < 6; stop++ {
		out, err := streamed(t, tg, stop, schedule.Plan{Seed: 100, Repeat: 3}, schedule.Plan{Seed: 200, Repeat: 500}, schedule.Plan{Seed: 900})
		if err != nil || len(out) != stop || !slices.Equal(processes(out), []int{stop}) {
			t.Errorf("ended after %d: %d executions, by process %v, %v", stop, len(out), processes(out), err)
		}
	}
}

// A test that fails while it warms up gets a process for each execution, and no warm-up.
func TestCold(t *testing.T) {
	for _, how := range []string{"cold", "stuck"} {
		t.Run(how, func(t *testing.T) {
			tg := start(t, how, "2=panic")
			if !tg.Cold() {
				t.Error("the target does not say that it is cold")
			}
			out, err := streamed(t, tg, 0, schedule.Plan{Seed: 1, Repeat: 3}, schedule.Plan{Seed: 9})
			if err != nil || !slices.Equal(processes(out), []int{1, 1, 1, 1}) || out[1].Ending.Kind != trace.Panic {
				t.Errorf("%d executions, by process %v, %v", len(out), processes(out), err)
			}
			if o := run(t, tg, schedule.Plan{Seed: 2}); o.Ending.Kind != trace.Panic {
				t.Errorf("%v", o.Ending.Kind)
			}
		})
	}
}

// Executions of a target share processes, have new ones, or both, as Isolate says; the header says it, too.
func TestIsolation(t *testing.T) {
	tg := start(t, "warm")
	if before := tg.Isolate(target.EachNew); before != target.SharedProcesses || !tg.Cold() || tg.Header().Isolation != trace.IsolationProcess {
		t.Errorf("before: %v; now cold %t, %q", before, tg.Cold(), tg.Header().Isolation)
	}
	out, err := streamed(t, tg, 0, schedule.Plan{Repeat: 4})
	if err != nil || !slices.Equal(processes(out), []int{1, 1, 1, 1}) || out[0].Shared {
		t.Errorf("executions by process %v, shared %t, %v", processes(out), out[0].Shared, err)
	}
	tg.Isolate(target.SomeNew)
	out, err = streamed(t, tg, 0, schedule.Plan{Repeat: firstNew + sharedBetween + laterNew + 7})
	sizes := processes(out)
	if err != nil || len(sizes) != firstNew+1+laterNew+1 || sizes[0] != 1 || sizes[firstNew] != sharedBetween || sizes[len(sizes)-1] != 7 {
		t.Errorf("executions by process %v, %v", sizes, err)
	}
	for i, o := range out {
		if shared := i >= firstNew && i < firstNew+sharedBetween || i >= len(out)-7; o.Shared != shared {
			t.Errorf("execution %d: shared %t", i, o.Shared)
		}
	}
	if run(t, tg, schedule.Plan{}); tg.Header().Isolation != "" {
		t.Error("a single execution has no warm-up")
	}
	tg.Isolate(target.SharedProcesses)
	if out, err = streamed(t, tg, 0, schedule.Plan{Repeat: 4}); err != nil || !slices.Equal(processes(out), []int{4}) {
		t.Errorf("executions by process %v, %v", processes(out), err)
	}
}

// A program's main runs once in a process.
func TestMainProgram(t *testing.T) {
	cfg := config(t, "warm", "all=exit:4")
	cfg.Test = false
	tg := begin(t, cfg)
	out, err := streamed(t, tg, 0, schedule.Plan{Repeat: 3})
	if err != nil || !slices.Equal(processes(out), []int{1, 1, 1}) {
		t.Errorf("executions by process %v, %v", processes(out), err)
	}
	if o := run(t, tg, schedule.Plan{Record: true}); o.Ending.Status != 4 || string(o.Ending.Output) != "bye" {
		t.Errorf("status %d, output %q", o.Ending.Status, o.Ending.Output)
	}
}

// A test that becomes cold while it is explored continues as a cold one.
func TestColdLater(t *testing.T) {
	cfg := config(t, "later")
	cfg.PerProcess = 2
	cfg.Env = append(os.Environ(), "FAKE_COUNTER="+filepath.Join(t.TempDir(), "counter"))
	tg := begin(t, cfg)
	out, err := streamed(t, tg, 0, schedule.Plan{Repeat: 7})
	if err != nil || !slices.Equal(processes(out), []int{2, 2, 1, 1, 1}) || !tg.Cold() {
		t.Errorf("executions by process %v, cold %t, %v", processes(out), tg.Cold(), err)
	}
}

func TestEndings(t *testing.T) {
	for _, c := range []struct {
		what            string
		kind            trace.Kind
		message, output string
		external        bool
	}{
		{what: "clean"},
		{what: "says", output: "all is well\n"},
		{what: "test", kind: trace.Test, message: "it_test.go:7: got 1, want 2", output: "before the failure\n"},
		{what: "report", kind: trace.Test, message: "failed", output: "in the test\n    it_test.go:7: failed\n"},
		{what: "panic", kind: trace.Panic, message: "broken", output: "=== RUN   TestIt/sub\nbefore the panic\npanic: broken\n\tin 3 ways\n"},
		{what: "nil", kind: trace.Panic, message: "runtime error: invalid memory address or nil pointer dereference", output: "=== RUN   TestIt/sub\nbefore the panic\npanic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0"},
		{what: "again", kind: trace.Panic, message: "out of tea", output: "=== RUN   TestIt/sub\nbefore the panic\npanic: out of tea [recovered, repanicked]\n"},
		{what: "throw", kind: trace.Fatal, message: "concurrent map writes", output: "fatal error: concurrent map writes\n"},
		{what: "leak", kind: trace.Leak, external: true},
	} {
		t.Run(c.what, func(t *testing.T) {
			tg := start(t, "warm", "5="+c.what)
			check := func(o schedule.Outcome, output string) {
				t.Helper()
				e := o.Ending
				if e.Kind != c.kind || e.Message != c.message {
					t.Errorf("%v %q, want %v %q", e.Kind, e.Message, c.kind, c.message)
				}
				got := string(e.Output)
				if c.what == "nil" {
					got, _, _ = strings.Cut(got, " pc=")
				}
				if got != output {
					t.Errorf("output %q, want %q", got, output)
				}
				if bytes.Contains(e.Output, []byte("goroutine")) {
					t.Errorf("the dump of goroutines is there: %q", e.Output)
				}
				if o.External != c.external {
					t.Errorf("waited for the outside world: %t", o.External)
				}
			}
			check(run(t, tg, schedule.Plan{Seed: 5, Record: true}), c.output)
			for range 5 {
				out, err := streamed(t, tg, 0, schedule.Plan{Seed: 1, Repeat: 5, Record: true})
				if err != nil || len(out) != 5 {
					t.Fatalf("%d executions, %v", len(out), err)
				}
				// Only that of a process's last execution can be separated, by its first line.
				output := ""
				if c.kind == trace.Panic {
					output = c.output
				}
				check(out[4], output)
			}
		})
	}
}

// A process that vanishes is heddle's failure, with the program's last words, and the
// target can be used again.
func TestLost(t *testing.T) {
	for _, c := range []struct{ what, how, words string }{
		{"lost", "exit status 99", "out of luck"},
		{"killed", "signal: killed", ""},
	} {
		tg := start(t, "warm", "5="+c.what)
		for _, do := range []func() error{
			func() error { _, err := tg.Run(t.Context(), schedule.Plan{Seed: 5}); return err },
			func() error { _, err := streamed(t, tg, 0, schedule.Plan{Seed: 1, Repeat: 9}); return err },
		} {
			err := do()
			var lost *ipc.LostError
			if !errors.As(err, &lost) || !strings.Contains(err.Error(), c.how) || !strings.Contains(lost.Words, c.words) || !strings.Contains(err.Error(), "not a finding") {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Clean {
			t.Errorf("afterwards: %v", o.Ending.Kind)
		}
	}
}

// What ended before its first execution is refused with one sentence and what it wrote.
func TestRefused(t *testing.T) {
	for before, words := range map[string][]string{
		"plain":  {"before heddle's scheduler took over (ended)", "built with heddle's overlay", "no tests to run"},
		"early":  {"before its first execution began (exit status 1)", "cannot open the database"},
		"refuse": {"the test uses plugins: heddle cannot follow them"},
	} {
		_, err := Start(t.Context(), config(t, before))
		var refused *RefusedError
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", before, err)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", before, err, w)
			}
		}
	}
	if _, err := Start(t.Context(), config(t, "broken")); err == nil || !strings.Contains(err.Error(), "heddle's runtime failed: a token was lost") {
		t.Errorf("broken: %v", err)
	}
}

func TestNotAProgram(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, words := range map[string]string{
		filepath.Join(t.TempDir(), "gone"): "no such file",
		text:                               "is not a program for this machine",
		"/bin/sh":                          "is not a Go program",
	} {
		if _, err := Start(t.Context(), Config{Path: path, Args: []string{"x"}}); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", path, err, words)
		}
	}
}

// A program that reaches no scheduling point is ended and its execution is unfinished, with
// what it was doing; what was queued behind it runs.
func TestWatchdog(t *testing.T) {
	for _, c := range []struct{ what, words string }{{"spin", "spinForGood"}, {"deaf", ""}} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			tg := start(t, "warm", "2="+c.what)
			out, err := streamed(t, tg, 0, schedule.Plan{Seed: 1, Repeat: 3}, schedule.Plan{Seed: 7})
			if err != nil || len(out) != 4 {
				t.Fatalf("%d executions, %v", len(out), err)
			}
			e := run(t, tg, schedule.Plan{Seed: 2}).Ending
			if e.Kind != trace.Unfinished || !bytes.Contains(e.Output, []byte(c.words)) {
				t.Errorf("%v %q %q", e.Kind, e.Message, e.Output)
			}
			if e = out[1].Ending; e.Kind != trace.Unfinished || !strings.Contains(e.Message, "watchdog") {
				t.Errorf("%v %q", e.Kind, e.Message)
			}
			for _, i := range []int{0, 2, 3} {
				if out[i].Ending.Kind != trace.Clean {
					t.Errorf("execution %d: %v", i, out[i].Ending.Kind)
				}
			}
		})
	}
}

// The context ends whatever is under way: an execution, a start, and a wait for a spare.
func TestContext(t *testing.T) {
	cfg := config(t, "slow", "1=spin")
	cfg.Watchdog = time.Minute
	tg := begin(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := tg.Run(ctx, schedule.Plan{Seed: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an execution: %v", err)
	}
	if _, err := tg.Run(ctx, schedule.Plan{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait for a process: %v", err)
	}
	if _, err := Start(ctx, cfg); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a start: %v", err)
	}
	if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Clean {
		t.Errorf("afterwards: %v", o.Ending.Kind)
	}
}

// Close leaves no process behind, nor does a run.
func TestNoProcessIsLeft(t *testing.T) {
	tg := start(t, "warm")
	o := run(t, tg, schedule.Plan{})
	if err := syscall.Kill(o.Points, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process of a run is still there: %v", err)
	}
	<-tg.spares[0].done
	pid := tg.spares[0].proc.Pid()
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("there is no spare: %v", err)
	}
	tg.Close()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the spare is still there: %v", err)
	}
	tg.Close()
}

// A spare that was ended from outside is not handed out.
func TestDeadSpare(t *testing.T) {
	tg := start(t, "warm")
	syscall.Kill(tg.spares[0].proc.Pid(), syscall.SIGKILL)
	tg.spares[0].proc.Failure()
	if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Clean {
		t.Errorf("%v", o.Ending.Kind)
	}
}

func TestEnvironment(t *testing.T) {
	cfg := config(t, "warm", "all=env")
	cfg.Env = []string{"MINE=1", "GODEBUG=x=1", "GOMAXPROCS=8", "GOTRACEBACK=none", "HEDDLE_GO=other", "HEDDLE_LEAK_IGNORE=old", "GOGC=50", "GORACE=halt_on_error=1"}
	cfg.LeakIgnore = []string{"example.com/p.forever", "example.com/p.(*T).run"}
	cfg.NoLeaks = true
	tg := begin(t, cfg)
	got := strings.Split(strings.TrimSpace(string(run(t, tg, schedule.Plan{Record: true}).Ending.Output)), "\n")
	slices.Sort(got)
	want := []string{
		"GODEBUG=x=1,asyncpreemptoff=1,gcshrinkstackoff=1,gcstoptheworld=2", "GOGC=off", "GOMAXPROCS=1", "GOMEMLIMIT=off", "GORACE=halt_on_error=1 atexit_sleep_ms=0",
		"GOTRACEBACK=all", "HEDDLE_GO=test", "HEDDLE_LEAK_IGNORE=example.com/p.forever|example.com/p.(*T).run", "MINE=1", fmt.Sprintf("options %d", abi.OptNoLeaks),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	cfg = config(t, "warm", "all=env")
	cfg.Env, cfg.Test = []string{"GOMEMLIMIT=1GiB"}, false
	text := string(run(t, begin(t, cfg), schedule.Plan{Record: true}).Ending.Output)
	for _, w := range []string{"GOGC=off\n", "GOMEMLIMIT=off\n", "HEDDLE_GO=main\n", "GODEBUG=asyncpreemptoff=1,gcshrinkstackoff=1,gcstoptheworld=2\n", fmt.Sprintf("options %d\n", abi.OptNoWarmup)} {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in %q", w, text)
		}
	}
	if strings.Contains(text, "LEAK") {
		t.Errorf("%q", text)
	}
}

func TestStdin(t *testing.T) {
	cfg := config(t, "warm", "all=stdin")
	cfg.Stdin = []byte("hello\n")
	tg := begin(t, cfg)
	for range 2 {
		if o := run(t, tg, schedule.Plan{Record: true}); string(o.Ending.Output) != `"hello\n"` {
			t.Errorf("read %s", o.Ending.Output)
		}
	}
	if h := tg.Header(); string(h.Stdin) != "hello\n" {
		t.Errorf("header %+v", h)
	}
}

//go:noinline
func worker() { fakeGlobal[1]++ }

func textAddress() uint64 { return uint64(reflect.ValueOf(worker).Pointer()) }

// record sends an execution of two goroutines and the clock.
func record(p *ipctest.Program) {
	worker()
	pc, global := textAddress(), uint64(uintptr(unsafe.Pointer(&fakeGlobal)))+8
	heap := uint64(trace.MakeObject(trace.RegionHeap, 0, 0x40))
	fmt.Print(global)
	ipctest.Send(p, abi.RecThread, abi.ThreadInfo{Number: 0, Parent: 0xffffffff, Name: abi.NameMain, Entry: pc})
	ipctest.Send(p, abi.RecThread, abi.ThreadInfo{Number: 1, Parent: 0, Nth: 1, Name: 5, Entry: pc, Flags: 1})
	ipctest.Send(p, abi.RecThread, abi.ThreadInfo{Number: 2, Parent: 0, Nth: 1 << 20, Name: 6, Flags: 8})
	ipctest.Send(p, abi.RecEvents,
		abi.Event{Thread: 0, Op: uint16(trace.OpThreadStart), Pc: pc, Enabled: 1},
		abi.Event{Thread: 0, Op: uint16(trace.OpGo), Pc: pc + 4, Value: 1, Enabled: 1},
		abi.Event{Thread: 0, Op: uint16(trace.OpWrite), Pc: pc + 8, Object: global, Size: 1, Enabled: 3},
		abi.Event{Thread: 1, Op: uint16(trace.OpThreadStart), Pc: pc, Enabled: 3},
		abi.Event{Thread: 1, Op: uint16(trace.OpSelect), Pc: pc + 4, Aux: 2, Size: 3, Enabled: 3},
		abi.Event{Thread: 1, Op: uint16(trace.OpChanSend), Pc: 0x7fff00001000, Object: heap, Enabled: 3},
		abi.Event{Thread: 1, Op: uint16(trace.OpThreadEnd), Pc: pc, Enabled: 3},
	)
}

// What a runtime sends comes out as a trace whose places the symbol table of the
// executable knows, and goes back in as a script.
func TestTrace(t *testing.T) {
	tg := start(t, "warm", "1=trace", "2=script")
	o := run(t, tg, schedule.Plan{Seed: 1, Record: true, Accesses: true})
	if o.Ending.Kind != trace.Clean || o.Trace == nil {
		t.Fatalf("%v, trace %v", o.Ending.Kind, o.Trace)
	}
	tr := o.Trace
	if err := trace.Validate(tr); err != nil {
		t.Error(err)
	}
	if h := tr.Header; h.Target != "go" || !h.Instrumented || h.PointsVersion != schedule.PointsVersion || h.BuildID == "" || h.Command[0] != self(t) || h.Command[1] != "warm" {
		t.Errorf("header %+v", h)
	}
	if m := tr.Modules; len(m) != 1 || !m[0].Program || m[0].BuildID != tr.Header.BuildID || m[0].Path != self(t) {
		t.Errorf("modules %+v", m)
	}
	table := symbol.ForTrace(tr, symbol.Options{})
	f := table.Function(tr.Threads[1].Entry)
	_, file, _, _ := runtime.Caller(0)
	if !strings.HasSuffix(f.Func, "goprog.worker") || f.File != file {
		t.Errorf("the goroutine's function is %+v; %v", f, table.Problems())
	}
	if !tr.Threads[2].IsClock() || tr.Threads[1].Label != "" || !tr.Threads[1].Ended {
		t.Errorf("threads %+v", tr.Threads)
	}
	write, send := &tr.Events[2], &tr.Events[5]
	if got := fmt.Sprint(write.Object.Offset()); write.Object.Region() != trace.RegionGlobal || got != string(tr.Ending.Output) {
		t.Errorf("the global is %#x, and lies at %s", write.Object, tr.Ending.Output)
	}
	if send.Object != trace.MakeObject(trace.RegionHeap, 0, 0x40) || send.Site != 0 {
		t.Errorf("the channel is %#x, used at %v", send.Object, send.Site)
	}
	script := schedule.ScriptOf(tr)
	again := run(t, tg, schedule.Plan{Seed: 2, Record: true, Mode: schedule.Strict, Script: script, Threads: tr.Threads})
	pc := uint32(textAddress())
	want := fmt.Sprintf("0 op %d pc %#x aux 0\n0 op %d pc %#x aux 0\n0 op %d pc %#x aux 0\n1 op %d pc %#x aux 0\n1 op %d pc %#x aux 2\n1 op %d pc 0x0 aux 0\n1 op %d pc %#x aux 0\n",
		trace.OpThreadStart, pc, trace.OpGo, pc+4, trace.OpWrite, pc+8, trace.OpThreadStart, pc, trace.OpSelect, pc+4, trace.OpChanSend, trace.OpThreadEnd, pc)
	if got := string(again.Ending.Output); got != want {
		t.Errorf("the runtime was given\n%s want\n%s", got, want)
	}
}

// The start of a process is hidden behind the execution before it.
func TestSpeedSpare(t *testing.T) {
	need.Speed(t)
	best := 1.0
	for range need.Tries {
		began := time.Now()
		tg := start(t, "slow") // 300 ms
		run(t, tg, schedule.Plan{})
		first := time.Since(began)
		<-tg.spares[0].done
		began = time.Now()
		run(t, tg, schedule.Plan{})
		if best = min(best, time.Since(began).Seconds()/first.Seconds()); best < 0.5 {
			return
		}
	}
	t.Errorf("a run with a process standing ready took %.2f times as long as one that had to start it", best)
}
