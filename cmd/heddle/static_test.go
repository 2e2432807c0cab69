package main

import (
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target/cprog"
)

// Reordering first never ends with more context switches than executing alone, and saves
// executions in the geometric mean of the traces in which it gains something.
func TestStaticMergingFirst(t *testing.T) {
	library := sharedRuntime(t)
	var mu sync.Mutex // of the counts
	with, without, used, ratio := 0, 0, 0, 0.0
	t.Run("programs", func(t *testing.T) {
		for k, e := range expectations(t, "fail") {
			if k%2 != amount(0, k%2) {
				continue
			}
			if e.partly {
				t.Logf("%s: simplifying it to the end takes longer than a test may", e.name)
				continue
			}
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				prog := filepath.Join(t.TempDir(), e.name)
				compileProgram(t, e, "gcc", "-O1", prog)
				tg, err := cprog.Start(t.Context(), cprog.Config{Path: prog, Args: append([]string{prog}, e.args...), Dir: filepath.Dir(prog), Runtime: library})
				if err != nil {
					t.Fatal(err)
				}
				defer tg.Close()
				for seed := range uint64(amount(1, 2)) {
					r, err := engine.Find(t.Context(), tg, engine.Options{Seed: seed + 1, Runs: 20000, NoSimplify: true, Spurious: slices.Contains(e.options, "--spurious"), Races: engine.RacesReported}, nil)
					if err != nil || r.Finding == nil || r.Finding.Recorded == nil {
						t.Errorf("not found (%v)", err)
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
						t.Errorf("seed %d: %d switches with reordering first, %d without", seed+1, a.Switches, b.Switches)
					}
					t.Logf("seed %d: %d/%d in %d with, %d/%d in %d without", seed+1, a.Switches, a.Preemptions, a.Executions, b.Switches, b.Preemptions, b.Executions)
					mu.Lock()
					with += a.Executions
					without += b.Executions
					if len(a.Details.Operations) > 0 && a.Details.Operations[0].Operation == engine.StaticMerge {
						used++
						ratio += math.Log(float64(a.Executions) / float64(b.Executions))
					}
					mu.Unlock()
				}
			})
		}
	})
	// Of a sum, twenty_threads alone is a tenth, and chance decides how long its search takes.
	ratio = math.Exp(ratio / float64(max(used, 1)))
	t.Logf("%d executions with, %d without; reordering gained something for %d traces, for which it takes %.2f of the executions", with, without, used, ratio)
	if ratio >= 0.98 || used == 0 {
		t.Errorf("reordering first saves nothing: it takes %.2f of the executions in the geometric mean", ratio)
	}
}
