package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestResumeFind: a search that was stopped twice and continued makes as many executions, and makes the same
// claim, as one that was not; a saved search of other options or another program is refused.
func TestResumeFind(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "locked")
	compileProgram(t, expectation{source: filepath.Join(repository(t), "testdata/complete/locked.c")}, "gcc", "-O1", prog)
	saved := filepath.Join(dir, "locked.search")
	for _, search := range [][]string{{"--preemptions", "2"}, {"--delays", "3"}, {"--strategy", "chess"}, {"--strategy", "dpor", "--preemptions", "2"}} {
		find := func(more ...string) findJSON {
			args := append([]string{"find", "--json"}, search...)
			return runJSON[findJSON](t, dir, 0, append(append(args, more...), "--", prog)...)
		}
		whole := find()
		for _, runs := range []string{"2", "4"} {
			part := find("--resume", "--runs", runs)
			if _, err := os.Stat(saved); err != nil || part.Ended != "runs" {
				t.Fatalf("%v: ended with %q, %v", search, part.Ended, err)
			}
		}
		rest := find("--resume")
		if _, err := os.Stat(saved); err == nil {
			t.Errorf("%v: the file of a search that has ended remains", search)
		}
		if whole.Coverage == nil || !whole.Coverage.Complete || !reflect.DeepEqual(rest.Coverage, whole.Coverage) || rest.Executions != whole.Executions || rest.Ended != whole.Ended {
			t.Errorf("%v: %d executions, %+v, ended with %q; without an interruption %d, %+v, %q",
				search, rest.Executions, rest.Coverage, rest.Ended, whole.Executions, whole.Coverage, whole.Ended)
		}
	}
	runJSON[findJSON](t, dir, 0, "find", "--json", "--preemptions", "2", "--resume", "--runs", "20", "--", prog)
	for want, args := range map[string][]string{
		"other options":                    {"--preemptions", "1", "--resume", "--", prog},
		"give the same program":            {"--preemptions", "2", "--resume", "--", prog, "word"},
		"does not go with --races=fail":    {"--preemptions", "2", "--resume", "--races=fail", "--", prog},
		"--races=fail: races of":           {"--preemptions", "2", "--resume", "--races-fail", "--", prog},
		`(--races "report", now "ignore")`: {"--preemptions", "2", "--resume", "--races=ignore", "--", prog},
		`(--watchdog "10s", now "3s")`:     {"--preemptions", "2", "--resume", "--watchdog=3s", "--", prog},
	} {
		out, err := heddleCommand(t, dir, nil, append([]string{"find"}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v, %s; want %q", args, err, out, want)
		}
	}
}
