package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target/cprog"
)

// TestNoFalseComplete: of two calls that share state, a search that calls itself complete has executed both orders.
func TestNoFalseComplete(t *testing.T) {
	dpor, err := strategy.ParseSearch([]string{"dpor"}, strategy.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	library := sharedRuntime(t)
	complete := 0
	for _, c := range []struct {
		name, flag string
		byDefault  []string // the pairs that the default search is tried on, too, as it takes longer
	}{
		{"pairs", "-DKNOWN", []string{"fgetc_ftell", "setname_getname", "key_create"}},
		{"unknown", "-DUNKNOWN", nil},
	} {
		dir := t.TempDir()
		prog := filepath.Join(dir, c.name)
		compileProgram(t, expectation{source: filepath.Join(repository(t), "testdata/complete/pairs.c"), flags: []string{"-w", "-Wl,--no-as-needed", "-lm", c.flag}}, "gcc", "-O1", prog)
		names, err := exec.CommandContext(t.Context(), prog).Output()
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(string(names)) {
			for by, search := range map[string]func(strategy.Setting) strategy.Strategy{"dpor": dpor, "default": nil} {
				if by == "default" && !slices.Contains(c.byDefault, name) {
					continue
				}
				tg, err := cprog.Start(t.Context(), cprog.Config{Path: prog, Args: []string{prog, name}, Dir: dir, Runtime: library})
				if err != nil {
					t.Fatal(err)
				}
				r, err := engine.Find(t.Context(), tg, engine.Options{
					Search: search, Seed: 1, Time: 20 * time.Second, Stale: 1000, All: true, NoSimplify: true, Races: engine.RacesIgnored,
				}, nil)
				tg.Close()
				if err != nil {
					t.Errorf("%s by %s: %v", name, by, err)
					continue
				}
				other := 0
				for _, f := range r.Findings {
					other += f.Executions
				}
				whole := r.Coverage != nil && r.Coverage.Complete
				if whole && (other == 0 || other == r.Executions) {
					t.Errorf("%s by %s: complete, but %d of %d executions came out the other way", name, by, other, r.Executions)
				}
				if whole {
					complete++
				}
				if c.name == "unknown" && (r.Coverage == nil || !strings.Contains(strings.Join(r.Coverage.Missing, "\n"), "signgam")) && by == "dpor" {
					t.Errorf("%s by %s: %+v", name, by, r.Coverage)
				}
			}
		}
	}
	if complete < 20 {
		t.Errorf("only %d searches were complete: the pairs of descriptors and files are enumerated", complete)
	}
}
