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

// TestFindJobs: a search makes the same executions and finds the same with any number of processes, of
// programs that use files, too.
func TestFindJobs(t *testing.T) {
	for _, name := range []string{"pass/work_stealing_deque", "pass/lost_update", "fail/handler_counter", "fail/lseek_race", "fail/shared_mapping_count", "fail/twenty_threads", "fail/aba_stack"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			e := readExpectation(t, filepath.Join(repository(t), "testdata/programs", name+".c"))
			prog := filepath.Join(dir, e.name)
			compileProgram(t, e, "gcc", "-O1", prog)
			runs := "6000"
			if e.isolation == "fork" { // a process for each
				runs = "1500"
			}
			var want *findJSON
			for _, jobs := range []string{"1", "2", "4"} {
				var r findJSON
				args := []string{"find", "--json", "-j", jobs, "--all", "--no-simplify", "--no-explain", "--races=ignore", "--time=0", "--runs=" + runs, "--seed=2"}
				jsonOf(t, heddleCommand(t, dir, nil, append(append(args, "--", prog), e.args...)...), &r)
				if want == nil {
					want = &r
					continue
				}
				if r.Executions != want.Executions || r.Behaviours != want.Behaviours || r.Newest != want.Newest || len(r.Findings) != len(want.Findings) {
					t.Errorf("-j %s: %d executions, %d behaviours, the last in %d, %d findings; -j 1: %d, %d, %d, %d", jobs,
						r.Executions, r.Behaviours, r.Newest, len(r.Findings), want.Executions, want.Behaviours, want.Newest, len(want.Findings))
				}
				for i := range min(len(r.Findings), len(want.Findings)) {
					if f, g := r.Findings[i].Finding, want.Findings[i].Finding; f.Key != g.Key || f.Execution != g.Execution {
						t.Errorf("-j %s: finding %s in execution %d; -j 1: %s in %d", jobs, f.Key, f.Execution, g.Key, g.Execution)
					}
				}
			}
		})
	}
}
