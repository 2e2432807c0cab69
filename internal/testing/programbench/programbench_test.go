package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/bench"
	"github.com/heddle-dev/heddle/internal/testing/need"
)

// The test's binary stands in for programbench, which starts itself for each measurement.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-part" || os.Getenv("PROGRAMBENCH") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// programbench runs as users run it, in the repository's top directory.
func programbench(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "PROGRAMBENCH=1")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		status = cmd.ProcessState.ExitCode()
	}
	return out.String(), errs.String(), status
}

// A program is measured in all ways, each result is there, and the bug is found and simplified to
// its minimum.
func TestMeasure(t *testing.T) {
	need.Tool(t, "gcc")
	out, errs, status := programbench(t, "-json", "-programs=block_queue", "-accesses=20000", "-time=100ms", "-limit=60s", "-seeds=1")
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	var all results
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(all.Rows) != 1 || all.Settings.Time != 100*time.Millisecond || all.Machine.CPUs == 0 {
		t.Fatalf("%+v", all)
	}
	r := all.Rows[0]
	for name, c := range map[string]cost{"native": r.Native, "tsan": r.TSan, "plain": r.Plain, "profiled": r.Profiled, "recorded": r.Recorded} {
		if c.Executions == 0 || c.Processor <= 0 || c.Wall <= 0 || c.Peak < 1<<20 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if r.Recorded.Processor <= r.Plain.Processor || r.Recorded.Peak <= r.Plain.Peak {
		t.Errorf("recording every access costs nothing: %+v, plain %+v", r.Recorded, r.Plain)
	}
	if !r.firstInTime() || r.PerSecond <= 0 {
		t.Errorf("%+v", r)
	}
	if f := r.Search; f == nil || f.Found != 1 || f.Other != 0 || f.Execution == 0 || f.Seconds <= 0 || f.AtMinimum != 1 || f.Best != [2]int{2, 1} || f.ToResult == 0 {
		t.Errorf("%+v", f)
	}
}

// The table has the figures, and says where an execution did not end.
func TestTables(t *testing.T) {
	t.Parallel()
	one := cost{Processor: 0.5, Wall: 0.5, Peak: 64 << 20, Executions: 3}
	all := results{
		Settings: settings{Accesses: []int{100000}, Seeds: 4},
		Machine:  bench.Host{CPUs: 4, Model: "A processor", Compiler: "gcc 12", Load: "0.10 0.20 0.30"},
		Rows: []row{{
			Program: "annealing", Accesses: 100000, Native: cost{Processor: 0.02, Wall: 0.02}, TSan: one,
			Plain: cost{Processor: 0.1, Peak: 32 << 20, Executions: 9}, Profiled: one, FirstExecution: 1.25, PerSecond: 1234,
			Search: &found{Seeds: 4, Found: 3, Other: 1, Seconds: 0.25, Execution: 7, Minimum: [2]int{3, 1}, Best: [2]int{3, 1}, Worst: [2]int{5, 0}, AtMinimum: 2, Complete: 3, ToResult: 120, Afterwards: 80, Paper: 138, Simplifying: 2},
		}},
	}
	print := func() (string, string) {
		var b strings.Builder
		if err := printTables(&b, &all); err != nil {
			t.Fatal(err)
		}
		return b.String(), strings.Join(strings.Fields(b.String()), " ")
	}
	for first, want := range map[float64]string{
		0:    "The first execution takes longer than 5 times native and 1 s: annealing.",
		1.05: "Each first execution takes at most 5 times native and 1 s.",
		1.25: "The first execution takes longer than 5 times native and 1 s: annealing.",
	} {
		all.Rows[0].FirstExecution = first
		if b, got := print(); !strings.Contains(got, want) {
			t.Errorf("%v: no %q in\n%s", first, want, b)
		}
	}
	all.Rows[0].FirstExecution = 1.25
	b, got := print()
	for _, want := range []string{
		"A processor, 4 processors, load 0.10 0.20 0.30 at the start; gcc 12 -O1 -g",
		"annealing 20 ms 500 ms 25×, 64 MB 5.00× 0.20×/0.50× 25× 1.00×/1.00× none 1.2 s 1,234",
		"annealing 3 of 4, and 1 others 250 ms 7 3/1 3/1 to 5/0 2 3 120 executions 138 80 2.0 s",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"-accesses=many", `invalid -accesses "many": want numbers of accesses, like 100000,10000000`},
		{"-accesses=", `invalid -accesses "": want at least one number of accesses`},
		{"-programs=no_such", `no program "no_such" in`},
		{"annealing", `unexpected argument "annealing": name programs with -programs`},
	} {
		if _, errs, status := programbench(t, c.arg); status != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d, %s", c.arg, status, errs)
		}
	}
}
