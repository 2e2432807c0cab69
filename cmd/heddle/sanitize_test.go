package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

var sanitizeRuns = flag.Int("sanitize.runs", 8, "record each program of testdata/sanitize under this many schedules; the figures in docs/sanitize.md are of 1000")

// sanitizedRun records a program under a schedule of its own at random addresses, and returns its
// sanitised trace and the names of both files. command is further options, --, and the program.
func sanitizedRun(t *testing.T, work, dir string, i int, command ...string) (text []byte, recorded, name string) {
	t.Helper()
	recorded, name = filepath.Join(work, fmt.Sprintf("%d.hdl", i)), filepath.Join(work, fmt.Sprintf("%d.san", i))
	strategy := []string{"random", "pct", "pos"}[i%3]
	runJSON[recordJSON](t, dir, exitNothing, append([]string{"record", "--json", "--values", "--aslr", "--strategy", strategy, "--seed", fmt.Sprint(i), "-o", recorded}, command...)...)
	if out := runJSON[sanitizeJSON](t, dir, exitNothing, "sanitize", "--json", recorded, "-o", name); !out.Complete || out.Events < 10 {
		t.Errorf("%s: %+v", recorded, out)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text, recorded, name
}

// checkSanitized records a program under several schedules and compares the sanitised traces with the
// first: all are equal, or, if the program is not pseudo-deterministic, some are not. Comparison
// agrees with the bytes.
func checkSanitized(t *testing.T, same bool, dir string, program ...string) {
	work, command := t.TempDir(), append([]string{"--"}, program...)
	golden, _, goldenFile := sanitizedRun(t, work, dir, 0, command...)
	deviating := 0
	for i := 1; i < *sanitizeRuns; i++ {
		text, recorded, name := sanitizedRun(t, work, dir, i, command...)
		status := exitNothing
		if !bytes.Equal(golden, text) {
			deviating++
			status = exitFound
		}
		if !same || i < 3 {
			for _, other := range []string{recorded, name} {
				d := runJSON[result.Deviations](t, dir, status, "compare", "--json", goldenFile, other)
				if (d.Deviation == "none") != (status == exitNothing) || d.Ordered != (other == recorded) {
					t.Errorf("schedule %d: %+v", i, d)
				}
			}
		}
		os.Remove(recorded)
		os.Remove(name)
	}
	switch {
	case same && deviating > 0:
		t.Errorf("%d of %d schedules deviate", deviating, *sanitizeRuns-1)
	case !same && deviating == 0:
		t.Errorf("no schedule of %d deviates", *sanitizeRuns-1)
	}
	t.Logf("%d of %d schedules deviate", deviating, *sanitizeRuns-1)
}

// checkSanitizedLive checks that executions whose threads run in parallel have the same sanitised trace, and that values
// are right: in these programs, which have no races, a thread reads what was written last. Those of a program
// that is not pseudo-deterministic may all be the same.
func checkSanitizedLive(t *testing.T, same bool, prog string) {
	var golden []byte
	runs, deviating := max(3, *sanitizeRuns/10), 0
	for i := range runs {
		recorded := prog + ".live.hdl"
		runJSON[recordJSON](t, filepath.Dir(prog), exitNothing, "record", "--json", "--backend=live", "--values", "-o", recorded, "--", prog)
		runJSON[sanitizeJSON](t, filepath.Dir(prog), exitNothing, "sanitize", "--json", recorded, "-o", prog+".san")
		text, err := os.ReadFile(prog + ".san")
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			golden = text
			checkValues(t, recorded)
		} else if !bytes.Equal(golden, text) {
			deviating++
		}
	}
	if same && deviating > 0 {
		t.Errorf("%d of %d executions on the backend live deviate", deviating, runs-1)
	}
	t.Logf("%d of %d executions on the backend live deviate", deviating, runs-1)
}

// checkValues checks that reads of a recording of the backend live have the values of the writes before them.
func checkValues(t *testing.T, file string) {
	tr, err := trace.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Validate(tr); err != nil {
		t.Error(err)
	}
	memory, checked := map[trace.Object]trace.Event{}, 0
	for i := range tr.Events {
		e := &tr.Events[i]
		switch {
		case e.Op == trace.OpMalloc, e.Op == trace.OpThreadJoin, e.Op == trace.OpThreadCreate, e.Op == trace.OpWriteRange:
			clear(memory) // and what libc has written, unseen
		case e.Object.Region() == trace.RegionStack: // compilers initialise variables without a hook
		case e.Op == trace.OpWrite:
			for at := e.Object - 16; at < e.Object+trace.Object(e.Size); at++ {
				delete(memory, at)
			}
			memory[e.Object] = *e
		case e.Op == trace.OpRead:
			if last, ok := memory[e.Object]; ok && last.Size == e.Size {
				if checked++; last.Value != e.Value || last.Aux != e.Aux {
					t.Errorf("event %d reads %#x, last written was %#x", i, e.Value, last.Value)
				}
			}
		}
	}
	t.Logf("%d reads after writes", checked)
}

// checkDeterminism checks that heddle check determinism says the same of a program, whether or not the
// trace has values.
func checkDeterminism(t *testing.T, same bool, prog string) {
	for _, values := range [][]string{nil, {"--values"}} {
		recorded := prog + ".hdl"
		runJSON[recordJSON](t, filepath.Dir(prog), exitNothing, slices.Concat([]string{"record", "--json", "-o", recorded}, values, []string{"--", prog})...)
		status, want := exitFound, "fails"
		if same {
			status, want = exitNothing, "holds"
		}
		if d := runJSON[determinismJSON](t, filepath.Dir(prog), status, "check", "determinism", "--json", recorded); d.Answer != want {
			t.Errorf("%v: %+v", values, d)
		}
	}
}

// TestSanitize: executions of the pseudo-deterministic programs of testdata/sanitize have the same
// sanitised trace under every schedule and at every address; those of the others do not.
func TestSanitize(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"same", "differ"} {
		files, err := filepath.Glob(filepath.Join(repository(t), "testdata/sanitize", kind, "*.c*"))
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		for _, c := range compilers {
			for _, file := range files {
				name := filepath.Base(file)
				if c.name == "clang" && strings.Contains(name, "_omp") {
					continue // libomp may be missing; libgomp is part of gcc
				}
				t.Run(kind+"/"+c.name+"/"+name, func(t *testing.T) {
					t.Parallel()
					prog := filepath.Join(t.TempDir(), "prog")
					compileProgram(t, readExpectation(t, file), c.name, c.opt, prog)
					checkSanitized(t, kind == "same", filepath.Dir(prog), prog)
					checkSanitizedLive(t, kind == "same", prog)
					if !strings.Contains(name, "_omp") { // libgomp's waits are not modelled
						checkDeterminism(t, kind == "same", prog)
					}
				})
			}
		}
	}
}

// TestSanitizeFunctions: with entries and exits of functions, too, executions of pseudo-deterministic
// programs have the same sanitised trace under every schedule and at every address, and a thread that ends
// has left each function that it entered, also by longjmp.
func TestSanitizeFunctions(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"recursion.c", "swaptions.cc", "mapped.c"} {
		for _, c := range compilers {
			t.Run(file+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				work := t.TempDir()
				prog := filepath.Join(work, "prog")
				compileProgram(t, readExpectation(t, filepath.Join(repository(t), "testdata/sanitize/same", file)), c.name, c.opt, prog)
				golden, _, _ := sanitizedRun(t, work, work, 0, "--functions", "--", prog)
				for i := 1; i < 4; i++ {
					if text, _, name := sanitizedRun(t, work, work, i, "--functions", "--", prog); !bytes.Equal(golden, text) {
						t.Errorf("%s deviates", name)
					}
				}
				checkBalanced(t, string(golden), file == "recursion.c")
			})
		}
	}
}

// checkBalanced checks that each exit is that of the innermost function that the thread has entered, and
// that none is left in the end.
func checkBalanced(t *testing.T, sanitized string, jumps bool) {
	t.Helper()
	var open []string
	entered, jumped := 0, 0
	for line := range strings.Lines(sanitized) {
		words := strings.Fields(line)
		switch words[0] {
		case "thread", "ending":
			if len(open) > 0 {
				t.Errorf("functions left open: %v", open)
			}
			open = nil
		case "function-entry":
			open = append(open, words[1]+" "+words[2])
			entered++
		case "function-exit":
			if n := len(open); n == 0 || open[n-1] != words[1]+" "+words[2] {
				t.Fatalf("%q leaves another function: %v", line, open)
			}
			open = open[:len(open)-1]
			if strings.HasSuffix(line, " result=1\n") {
				jumped++
			}
		}
	}
	if entered == 0 || (jumped > 0) != jumps {
		t.Errorf("%d functions entered, %d left by longjmp", entered, jumped)
	}
}

// TestSanitizeGo is TestSanitize for Go programs.
func TestSanitizeGo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(repository(t), "testdata/sanitize")
	mains, err := filepath.Glob(filepath.Join(dir, "*", "*_go"))
	if err != nil || len(mains) < 3 {
		t.Fatal(mains, err)
	}
	need.Tool(t, "go")
	for _, main := range mains {
		rel, _ := filepath.Rel(dir, main)
		t.Run(rel, func(t *testing.T) {
			t.Parallel()
			checkSanitized(t, strings.HasPrefix(rel, "same"), dir, "./"+rel)
		})
	}
}

// TestGoValues: in a Go program, each access to read a number or pointer has the value of the last write there,
// which a write's hook does not know yet.
func TestGoValues(t *testing.T) {
	t.Parallel()
	need.Tool(t, "go")
	dir := filepath.Join(repository(t), "testdata/sanitize")
	for _, main := range []string{"./same/kmeans_go", "./same/quicksort_go", "./differ/queue_go"} {
		file := filepath.Join(t.TempDir(), "values.hdl")
		runJSON[recordJSON](t, dir, exitNothing, "record", "--json", "--values", "--strategy", "random", "--seed", "3", "-o", file, "--", main)
		tr, err := trace.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		memory, checked := map[trace.Object]uint64{}, 0
		for i := range tr.Events {
			e := &tr.Events[i]
			switch {
			case e.Op == trace.OpWriteRange || e.Op == trace.OpMalloc:
				for at := range memory {
					if at >= e.Object && at < e.Object+trace.Object(e.Size) {
						delete(memory, at)
					}
				}
			case e.Flags&trace.FlagValue == 0:
			case e.Op == trace.OpWrite:
				memory[e.Object] = e.Value
			case e.Op == trace.OpRead:
				if last, ok := memory[e.Object]; ok {
					if checked++; last != e.Value {
						t.Errorf("%s: event %d reads %#x, last written was %#x", main, i, e.Value, last)
					}
				}
			}
		}
		if checked < 10 {
			t.Errorf("%s: %d reads after writes", main, checked)
		}
	}
}

// Without sanitising, traces of the same program under different schedules differ in nearly all
// their events: the comparison would be worth nothing.
func TestSanitizeNeeded(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	prog := filepath.Join(work, "prog")
	compileProgram(t, readExpectation(t, filepath.Join(repository(t), "testdata/sanitize/same/kmeans.c")), "gcc", "-O1", prog)
	var texts [][]string
	for i := range 2 {
		_, recorded, _ := sanitizedRun(t, work, work, i, "--", prog)
		cmd := heddleCommand(t, work, nil, "show", "--text", recorded)
		b, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(b), "\n")
		from := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "#") })
		texts = append(texts, lines[from:])
	}
	differ := 0
	for i := range min(len(texts[0]), len(texts[1])) {
		if texts[0][i] != texts[1][i] {
			differ++
		}
	}
	if differ < len(texts[0])/2 {
		t.Errorf("%d of %d lines differ", differ, len(texts[0]))
	}
}
