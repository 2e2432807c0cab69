package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// testScheduleString: the schedule of a trace as a string, without the trace, leads the program
// to the same failure. No flag of heddle find is needed.
func testScheduleString(t *testing.T, dir, file string, e expectation, prog string) {
	t.Helper()
	text := runJSON[scheduleJSON](t, dir, exitNothing, "show", "--json", "--schedule", file).Schedule
	tr, err := trace.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 100_000 {
		t.Logf("the schedule of %s is longer than an argument may be: %d characters", file, len(text))
		return
	}
	args := []string{"replay", "--json", "--schedule", text}
	for _, call := range tr.Header.Omit {
		args = append(args, "--without", call)
	}
	r := runJSON[replayJSON](t, dir, exitFound, slices.Concat(args, []string{"--", prog}, e.args)...)
	if r.Finding == nil || r.Finding.Kind != tr.Ending.Kind.String() || r.Events == 0 {
		t.Errorf("the schedule of %s gives %+v, recorded %v", file, r.Finding, tr.Ending.Kind)
	}
}
