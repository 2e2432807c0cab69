package main

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestSimplifyJobs: the number of processes changes nothing in the result, also for a program that
// reads and writes files, which has one process.
func TestSimplifyJobs(t *testing.T) {
	t.Parallel()
	programs := filepath.Join(repository(t), "testdata/programs")
	for _, name := range []string{"compute/fail/annealing.c", "fail/lseek_race.c"} {
		e := readExpectation(t, filepath.Join(programs, name))
		dir := t.TempDir()
		prog := filepath.Join(dir, e.name)
		compileProgram(t, e, "gcc", "-O1", prog)
		runJSON[findJSON](t, dir, exitFound, e.find(prog, "--no-simplify", "-o", "bug.hdl")...)
		var want map[string]any
		var first *trace.Trace
		for _, jobs := range []string{"1", "2", "3"} {
			min := filepath.Join(dir, "min.hdl")
			got := runJSON[map[string]any](t, dir, exitNothing, "simplify", "--json", "-j", jobs, "--executions", "1500", "-o", min, "bug.hdl")
			delete(got, "seconds")
			delete(got["result"].(map[string]any)["table2"].(map[string]any), "seconds")
			tr, err := trace.ReadFile(min)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want, first = got, tr
				continue
			}
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(tr.Events, first.Events) {
				a, _ := json.Marshal(want)
				b, _ := json.Marshal(got)
				t.Errorf("%s: with %s processes\n%s, with one\n%s", e.name, jobs, b, a)
			}
		}
	}
}
