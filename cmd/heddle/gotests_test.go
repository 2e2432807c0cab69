package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// goTests copies a package of testdata/gotests into a module of its own.
func goTests(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(repository(t), "testdata", "gotests")
	if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(source, name))); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// cleanGoTests runs the tests of a package that has nothing to find.
func cleanGoTests(t *testing.T, name string, least int, flags ...string) {
	t.Helper()
	tests, _ := runTest(t, goTests(t, name), nil, exitNothing, append(flags, "-timeout=0", "./"+name)...)
	if len(tests) < least {
		t.Errorf("%d tests ran, want at least %d", len(tests), least)
	}
	for _, test := range tests {
		if test.Finding != nil {
			t.Errorf("%s: %+v", test.Test, test.Finding)
		}
	}
}

// Correct programs that wait by looking are not hangs, and guards do not fire at goroutines
// that work. HEDDLE_WHOLE makes it 100,000 executions each.
func TestGoWaits(t *testing.T) {
	t.Parallel()
	count := "-count=150"
	if need.Whole() {
		count = "-count=100000"
	}
	cleanGoTests(t, "waits", 27, count)
}

func TestGoTurns(t *testing.T) {
	t.Parallel()
	cleanGoTests(t, "turns", 1, "-count=1")
}

// One execution is enough only for a test in which no second goroutine was enabled and no
// random number was drawn: the others are explored, and what the seed decides is found.
func TestGoSequential(t *testing.T) {
	t.Parallel()
	tests, _ := runTest(t, goTests(t, "sequential"), nil, exitFound, "--no-simplify", "-count=200", "./sequential")
	if len(tests) != 10 {
		t.Errorf("%d tests ran, want 10", len(tests))
	}
	for _, test := range tests {
		if want := test.Test == "TestSequential"; test.Sequential != want {
			t.Errorf("%s: sequential is %t, want %t", test.Test, test.Sequential, want)
		}
		if want := test.Test != "TestSequential" && test.Test != "TestPipe"; (test.Finding != nil) != want {
			t.Errorf("%s: finding is %+v", test.Test, test.Finding)
		}
	}
}

func TestGoLivelocks(t *testing.T) {
	t.Parallel()
	tests, _ := runTest(t, goTests(t, "livelocks"), nil, exitFound, "--no-simplify", "-count=100", "./livelocks")
	if len(tests) != 8 {
		t.Errorf("%d tests ran, want 8", len(tests))
	}
	for _, test := range tests {
		if f := test.Finding; test.Test == "TestField" && (f == nil || !strings.Contains(f.Message, "T1 reads ") || strings.Contains(f.Message, "wg")) {
			t.Errorf("TestField: %+v", f)
		}
		if f := test.Finding; f == nil || f.Kind != "hang" || !strings.Contains(f.Message, " at livelocks."+test.Test) || !strings.Contains(f.Message, " again and again") {
			t.Errorf("%s: %+v", test.Test, f)
		}
	}
}

func TestGoWrappers(t *testing.T) {
	t.Parallel()
	cleanGoTests(t, "wrappers", 7, "-count=10")
}

func TestGoReuse(t *testing.T) {
	t.Parallel()
	cleanGoTests(t, "reuse", 7, "-count=20")
}

// What a goroutine does long after its test is not recorded: neither its accesses nor the locks
// that guard them.
func TestGoJanitor(t *testing.T) {
	t.Parallel()
	cleanGoTests(t, "janitor", 1, "-count=5")
}

// A trace replays with another environment and working directory, and with other settings of Go for
// the machine.
func TestGoReplaysAnywhere(t *testing.T) {
	t.Parallel()
	dir := goTests(t, "anywhere")
	tests, _ := runTest(t, dir, nil, exitFound, "--no-simplify", "-race=false", "-count=60", "-timeout=0", "./anywhere")
	big := "BIG=" + strings.Repeat("x", 3000)
	var many []string
	for i := range 300 {
		many = append(many, "V"+strings.Repeat("a", i)+"=1")
	}
	found := 0
	for _, test := range tests {
		if test.Finding == nil {
			t.Errorf("%s found nothing", test.Test)
			continue
		}
		found++
		for what, env := range map[string][]string{
			"as it is": nil, "big variable": {big}, "many variables": many, "GOGC": {"GOGC=10", "GOMEMLIMIT=20MiB"}, "GOMAXPROCS": {"GOMAXPROCS=7"},
		} {
			trace := test.Trace
			if !filepath.IsAbs(trace) {
				trace = filepath.Join(dir, trace)
			}
			cmd := heddleCommand(t, t.TempDir(), env, "replay", "-q", trace)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			cmd.Run()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exitFound {
				t.Errorf("%s, %s: %s", test.Test, what, &out)
			}
		}
	}
	if found < 4 {
		t.Errorf("%d tests failed, want at least 4", found)
	}
}

// Goroutines and timers from before an execution, and coroutines of iter.Pull, are in the traces of
// failures, which replay.
func TestGoBefore(t *testing.T) {
	t.Parallel()
	dir := goTests(t, "before")
	tests, _ := runTest(t, dir, nil, exitFound, "-count=300", "-timeout=0", "./before")
	if len(tests) != 6 {
		t.Errorf("%d tests ran, want 6", len(tests))
	}
	for _, test := range tests {
		if wrong := strings.HasSuffix(test.Test, "Wrong"); (test.Finding != nil) != wrong {
			t.Errorf("%s: %+v", test.Test, test.Finding)
		} else if !wrong {
			continue
		}
		if test.Trace == "" {
			t.Errorf("%s: no trace was kept: %q", test.Test, test.Notes)
			continue
		}
		cmd := heddleCommand(t, dir, nil, "replay", test.Trace)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exitFound || !bytes.Contains(out, []byte("identical")) {
			t.Errorf("%s: %v\n%s", test.Test, err, out)
		}
	}
}

// More goroutines exist at one time than C programs may have threads.
func TestGoThousands(t *testing.T) {
	tests, _ := runTest(t, goTests(t, "thousands"), nil, exitFound, "-count=2", "-timeout=0", "--no-simplify", "./thousands")
	if len(tests) != 2 {
		t.Fatalf("%d tests ran, want 2", len(tests))
	}
	for _, test := range tests {
		t.Logf("%s: %d executions, %.1f s", test.Test, test.Executions, test.Seconds)
		if wrong := strings.HasSuffix(test.Test, "Wrong"); (test.Finding != nil) != wrong || !wrong && test.Executions != 2 {
			t.Errorf("%s: %d executions, %+v, notes %q", test.Test, test.Executions, test.Finding, test.Notes)
		}
	}
}

// The first finding of a test does not depend on the number of processes.
func TestGoJobs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"lost_update", "abba", "many_goroutines_needle"} {
		type found struct {
			key        string
			executions int
		}
		var want found
		for _, jobs := range []string{"1", "2", "4"} {
			tests, _ := runTest(t, goModule(t, "fail/"+name), nil, exitFound, "--no-simplify", "--seed=3", "-timeout=0", "-count=200000", "-j="+jobs, "./fail/"+name)
			if len(tests) != 1 || tests[0].Finding == nil {
				t.Fatalf("%s, -j %s: %+v", name, jobs, tests)
			}
			got := found{tests[0].Finding.Key, tests[0].Executions}
			if jobs == "1" {
				want = got
			}
			t.Logf("%s, -j %s: execution %d, %.2f s", name, jobs, got.executions, tests[0].Seconds)
			if got != want {
				t.Errorf("%s, -j %s: %+v, want %+v", name, jobs, got, want)
			}
		}
	}
}

// A test continues after t.Error: it runs to its end, and what it logs is its output. A panic is
// worse than the failure; a goroutine that waits is its consequence.
func TestGoErrors(t *testing.T) {
	t.Parallel()
	dir := goTests(t, "errors")
	tests, _ := runTest(t, dir, nil, exitFound, "./errors")
	want := map[string]struct{ kind, message, output string }{
		"TestGoesOn":   {"test failure", "an update was lost: 1", "logged afterwards"},
		"TestSubtests": {"test failure", "fatal in the first subtest", ""},
		"TestStuck":    {"test failure", "stuck after this", ""},
		"TestPanics":   {"panic", "panic: the panic is worse", ""},
	}
	if len(tests) != len(want) {
		t.Errorf("%d tests ran, want %d", len(tests), len(want))
	}
	for _, test := range tests {
		w := want[test.Test]
		if test.Finding == nil || test.Finding.Kind != w.kind || test.Finding.Message != w.message {
			t.Errorf("%s: found %+v, want %s %q", test.Test, test.Finding, w.kind, w.message)
			continue
		}
		name := test.Trace
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		tr, err := trace.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(tr.Ending.Output), w.output) {
			t.Errorf("%s: output %q, want %q", test.Test, tr.Ending.Output, w.output)
		}
		replay := heddleCommand(t, t.TempDir(), nil, "replay", "-q", name)
		if out, err := replay.CombinedOutput(); replay.ProcessState.ExitCode() != exitFound {
			t.Errorf("%s: replay: %v\n%s", test.Test, err, out)
		}
	}
}

// Goroutines switch in the middle of writing a map, so that Go's runtime notices a second one.
func TestGoMaps(t *testing.T) {
	t.Parallel()
	dir := goModule(t, "fail/map_concurrent_write", "fail/map_read_write")
	tests, _ := runTest(t, dir, nil, exitFound, "-race=false", "./...")
	if len(tests) != 2 {
		t.Errorf("%d tests ran, want 2", len(tests))
	}
	for _, test := range tests {
		if f := test.Finding; f == nil || f.Kind != "fatal error" || !strings.HasPrefix(f.Message, "fatal error: concurrent map ") {
			t.Errorf("%s: found %+v, want a fatal error", test.Test, f)
		}
	}
	tests, _ = runTest(t, goModule(t, "pass/map_concurrent_write", "pass/map_read_write"), nil, exitNothing, "-race=false", "-count=2000", "./...")
	if len(tests) != 2 {
		t.Errorf("%d twins ran, want 2", len(tests))
	}
}
