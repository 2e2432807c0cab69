package main

import (
	"path/filepath"
	"testing"
)

// What is handed over through a channel is not a race: none of the accesses becomes a scheduling
// point. In the twin one is announced too early, and does.
func TestChannelsOrder(t *testing.T) {
	for _, c := range []struct {
		dir    string
		status int
		races  bool
	}{{"pass", exitNothing, false}, {"fail", exitFound, true}} {
		dir := t.TempDir()
		e := readExpectation(t, filepath.Join(repository(t), "testdata/programs", c.dir, "channel_handoff.c"))
		prog := filepath.Join(dir, e.name)
		compileProgram(t, e, "gcc", "-O1", prog)
		out := runJSON[findJSON](t, dir, c.status, "find", "--json", "--time", "0", "--runs", "2000", "--", prog)
		if (out.Points > 0) != c.races {
			t.Errorf("%s: %d instructions raced", c.dir, out.Points)
		}
	}
}
