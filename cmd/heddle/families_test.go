package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestFamilies: find's default search finds the bugs of the families of programs at sizes where chance
// would not, and reports none in their correct twins.
func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, size string
		executions int // the most that the search may need, for each seed
	}{
		{"reorder", "THREADS=100", 50},
		{"reorder", "THREADS=200", 50},
		{"two_stage", "THREADS=100", 50},
		{"two_stage", "THREADS=200", 50},
		{"chain", "DEPTH=6", 5_000},
		{"work_stealing", "TASKS=8", 5_000},
		{"reused_node", "THREADS=4", 5_000},
		{"reused_link", "THREADS=4", 5_000},
	} {
		t.Run(test.name+"_"+test.size, func(t *testing.T) {
			t.Parallel()
			for _, compiler := range []string{"gcc", "clang"} {
				dir := t.TempDir()
				for _, kind := range []string{"fail", "pass"} {
					e := readExpectation(t, filepath.Join(repository(t), "testdata/programs/families", kind, test.name+".c"))
					e.flags = append(slices.Clone(e.flags), "-D"+test.size)
					prog := filepath.Join(dir, kind)
					compileProgram(t, e, compiler, "-O1", prog)
					if kind == "pass" {
						out := runJSON[findJSON](t, dir, exitNothing, "find", "--json", "--runs", "500", "--", prog)
						if out.Finding != nil {
							t.Errorf("%s: the correct twin: %+v", compiler, out.Finding)
						}
						continue
					}
					for _, seed := range []string{"1", "2", "3"} {
						out := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--no-simplify", "--seed", seed, "-o", "found.hdl", "--", prog)
						if out.Finding == nil || out.Finding.Execution > test.executions {
							t.Errorf("%s, seed %s: %+v, want a finding within %d executions", compiler, seed, out.Finding, test.executions)
						}
					}
				}
			}
		})
	}
}
