package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/result"
)

// TestStringFunctions: libc's functions on strings, bytes, numbers in text and streams count as accesses to what they read and
// write: each races with a write by another thread, and does not if a lock keeps both apart, or if it
// does not touch the byte that is written.
func TestStringFunctions(t *testing.T) {
	work := t.TempDir()
	source := filepath.Join(repository(t), "testdata/races/strings.c")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	apart := []string{"beside", "before", "empty", "second_number", "precision", "mismatch", "one_element", "bsearch"}
	e := readExpectation(t, source)
	e.flags = append(e.flags, "-fno-builtin", "-U_FORTIFY_SOURCE")
	for _, c := range compilers {
		prog := filepath.Join(work, c.name)
		compileProgram(t, e, c.name, c.opt, prog)
		functions := regexp.MustCompile(`(?m)^  CALL\((\w+),`).FindAllStringSubmatch(string(text), -1)
		if len(functions) < 75 {
			t.Fatalf("%d functions", len(functions))
		}
		for _, f := range functions {
			apart := slices.Contains(apart, f[1])
			want := exitFound
			if apart {
				want = exitNothing
			}
			r := runJSON[result.Find](t, work, want, "find", "--json", "--no-simplify", "--runs=100", "--", prog, f[1])
			if got := r.Finding != nil && r.Finding.Kind == "data race"; got == apart || (len(r.Races) > 0) == apart {
				t.Errorf("%s: %s: race %v, %+v", c.name, f[1], got, r.Races)
			}
			r = runJSON[result.Find](t, work, exitNothing, "find", "--json", "--no-simplify", "--runs=100", "--", prog, f[1], "locked")
			if len(r.Races) > 0 {
				t.Errorf("%s: %s under a lock: %+v", c.name, f[1], r.Races)
			}
		}
	}
}
