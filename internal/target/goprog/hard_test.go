package goprog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// hardPrograms is testdata/goprograms/hard and the packages in it.
const hardPrograms = "../../../testdata/goprograms/hard"

// hardRuns is how many processes run each execution: HEDDLE_HARD_RUNS says otherwise.
const hardRuns = 3

var hard struct {
	once sync.Once
	dir  string
	err  error
}

// hardBinary is the test binary of a package below hardPrograms, built once.
func hardBinary(t *testing.T, pkg string) string {
	t.Helper()
	needReal(t)
	hard.once.Do(func() {
		hard.dir = filepath.Join(real.dir, "hard")
		args := []string{"test", "-c", "-vet=off", "-o", hard.dir + "/"}
		cmd := exec.Command(real.tool, append(append(args, real.flags...), "./...")...)
		cmd.Dir = hardPrograms
		cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off"), real.env...)
		if hard.err = os.Mkdir(hard.dir, 0o755); hard.err != nil {
			return
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			hard.err = fmt.Errorf("go %s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
		}
	})
	if hard.err != nil {
		t.Fatal(hard.err)
	}
	return filepath.Join(hard.dir, pkg+".test")
}

// kernel are the tests in which the system delivers something on its own, and on a busy
// machine not always at the same moment. Package testing reads an example's output from a pipe.
var kernel = map[string]bool{"Example": true, "TestHTTP": true, "TestDeadline": true, "TestExec": true, "TestSignal": true, "TestOSPipe": true}

// An execution of a test that leans on what is hard to repeat is clean, and the same in
// every process. Where the system has a part in it, it is clean, and a note names what differs.
func TestHardSameInEveryProcess(t *testing.T) {
	for _, pkg := range []string{"hard", "testmain", "fips"} {
		path := hardBinary(t, pkg)
		list := exec.Command(path, "-test.list=.")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(string(out)) {
			t.Run(name, func(t *testing.T) { same(t, path, name) })
		}
	}
}

func same(t *testing.T, path, name string) {
	runs := hardRuns
	if n := os.Getenv("HEDDLE_HARD_RUNS"); n != "" {
		if _, err := fmt.Sscan(n, &runs); err != nil {
			t.Fatal(err)
		}
	}
	tg := begin(t, Config{
		Path: path, Args: []string{path, "-test.run=^" + name + "$"},
		Dir: filepath.Dir(path), Test: true, Watchdog: 30 * time.Second,
	})
	if tg.Cold() {
		t.Error("it failed while it warmed up")
	}
	for _, p := range []schedule.Plan{{Policy: schedule.Fair}, {Policy: schedule.Random, Seed: 1}, {Policy: schedule.PCT, Depth: 3, Length: 1000, Seed: 2}} {
		p.Record, p.Accesses = true, true
		began := time.Now()
		clean := func() schedule.Outcome {
			o := run(t, tg, p)
			if o.Ending.Kind != trace.Clean {
				t.Fatalf("%v seed %d: %v %s; output %q", p.Policy, p.Seed, o.Ending.Kind, o.Ending.Message, o.Ending.Output)
			}
			if err := trace.Validate(o.Trace); err != nil {
				t.Errorf("%v seed %d: %v", p.Policy, p.Seed, err)
			}
			return o
		}
		first := clean()
		alike := 0
		for i := range runs {
			o := clean()
			differs := difference(first.Trace, o.Trace)
			switch {
			case differs == "":
				alike++
			case kernel[name]:
				t.Logf("%v seed %d, process %d: %s", p.Policy, p.Seed, i, differs)
			default:
				t.Errorf("%v seed %d, process %d: %s; external: %v %v", p.Policy, p.Seed, i, differs, first.External, o.External)
			}
		}
		t.Logf("%v: %d of %d alike, %d events, %d threads, %v for %d processes", p.Policy, alike, runs, len(first.Trace.Events), len(first.Trace.Threads), time.Since(began).Round(time.Millisecond), runs)
	}
}

// A goroutine that is left behind and goes on has no part in later executions: each of a
// stream is what it is alone, however many there were before.
func TestHardLeft(t *testing.T) {
	path := hardBinary(t, "left")
	tg := begin(t, Config{
		Path: path, Args: []string{path, "-test.run=^TestTicker$"},
		Dir: filepath.Dir(path), Test: true, NoLeaks: true, Watchdog: 30 * time.Second,
	})
	plan := schedule.Plan{Policy: schedule.Random, Seed: 5}
	alone := run(t, tg, plan)
	// Goroutines that are left and may go on would run into the next execution, so each has a
	// process of its own: Cold. What it shows must be the same as alone.
	if alone.Ending.Kind != trace.Clean {
		t.Fatalf("%v %s, cold %t", alone.Ending.Kind, alone.Ending.Message, tg.Cold())
	}
	plan.Seed, plan.Repeat = 0, 12
	sent := false
	err := tg.Stream(t.Context(), func() (schedule.Plan, bool) {
		first := !sent
		sent = true
		return plan, first
	}, func(_ schedule.Plan, o schedule.Outcome) bool {
		if o.Ending.Kind != trace.Clean {
			t.Errorf("execution %d: %v %s", o.Index, o.Ending.Kind, o.Ending.Message)
		}
		if o.Index == 5 && (o.Points != alone.Points || o.Signature != alone.Signature) {
			t.Errorf("%d points in the stream, %d alone", o.Points, alone.Points)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A goroutine that is left in a wait without a hook is said to wait there, and not in what it did
// before.
func TestHardLeftWithoutHook(t *testing.T) {
	path := hardBinary(t, "left")
	tg := begin(t, Config{
		Path: path, Args: []string{path, "-test.run=^TestForever$"},
		Dir: filepath.Dir(path), Test: true, Watchdog: 30 * time.Second,
	})
	o := run(t, tg, schedule.Plan{Policy: schedule.Fair, Record: true})
	if o.Ending.Kind != trace.Leak || len(o.Ending.Waiters) != 1 {
		t.Fatalf("%v %s, waiters %+v; want a leak of one goroutine", o.Ending.Kind, o.Ending.Message, o.Ending.Waiters)
	}
	w := &o.Ending.Waiters[0]
	if f := symbol.ForTrace(o.Trace, symbol.Options{}).Call(w.Site); w.Op != trace.OpSelect || !strings.HasSuffix(f[0].Func, ".forever") {
		t.Errorf("it waits in %v at %s:%d; want select in forever", w.Op, f[0].Func, f[0].Line)
	}
}

// difference says where two executions part.
func difference(a, b *trace.Trace) string {
	names := symbol.ForTrace(a, symbol.Options{})
	told := func(e trace.Event) string {
		f := names.Call(e.Site)
		return fmt.Sprintf("%v by T%d of %v in %s:%d (%+v)", e.Op, e.Thread, e.Object, f[0].Func, f[0].Line, e)
	}
	for i := range min(len(a.Events), len(b.Events)) {
		if !reflect.DeepEqual(a.Events[i], b.Events[i]) {
			return fmt.Sprintf("event %d is %s and %s", i, told(a.Events[i]), told(b.Events[i]))
		}
	}
	if len(a.Events) != len(b.Events) {
		return fmt.Sprintf("%d and %d events", len(a.Events), len(b.Events))
	}
	return ""
}
