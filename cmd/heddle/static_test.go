package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target/cprog"
)

// Reordering first never ends with more context switches than executing alone, and saves
// executions over the programs together.
func TestStaticMergingFirst(t *testing.T) {
	library := sharedRuntime(t)
	with, without, used := 0, 0, 0
	for _, e := range expectations(t, "fail") {
		if e.partly {
			t.Logf("%s: simplifying it to the end takes longer than a test may", e.name)
			continue
		}
		prog := filepath.Join(t.TempDir(), e.name)
		compileProgram(t, e, "gcc", "-O1", prog)
		tg, err := cprog.Start(t.Context(), cprog.Config{Path: prog, Args: append([]string{prog}, e.args...), Dir: filepath.Dir(prog), Runtime: library})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(2) {
			r, err := engine.Find(t.Context(), tg, engine.Options{Seed: seed + 1, Runs: 20000, NoSimplify: true, Spurious: slices.Contains(e.options, "--spurious"), Races: engine.RacesReported}, nil)
			if err != nil || r.Finding == nil || r.Finding.Recorded == nil {
				t.Errorf("%s: not found (%v)", e.name, err)
				continue
			}
			a, err := engine.Simplify(t.Context(), tg, r.Finding.Recorded, engine.SimplifyOptions{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := engine.Simplify(t.Context(), tg, r.Finding.Recorded, engine.SimplifyOptions{NoStatic: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if a.Switches > b.Switches {
				t.Errorf("%s, seed %d: %d switches with reordering first, %d without", e.name, seed+1, a.Switches, b.Switches)
			}
			t.Logf("%s seed %d: %d/%d in %d with, %d/%d in %d without", e.name, seed+1, a.Switches, a.Preemptions, a.Executions, b.Switches, b.Preemptions, b.Executions)
			with += a.Executions
			without += b.Executions
			if len(a.Details.Operations) > 0 && a.Details.Operations[0].Operation == engine.StaticMerge {
				used++
			}
		}
		tg.Close()
	}
	t.Logf("%d executions with, %d without; reordering gained something for %d traces", with, without, used)
	if with >= without || used == 0 {
		t.Errorf("reordering first saves nothing: %d executions with, %d without", with, without)
	}
}
