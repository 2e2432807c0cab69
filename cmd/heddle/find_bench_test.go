package main

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target/cprog"
)

// BenchmarkFind runs plain find on every failing program, from the program at main to the
// first finding and to the end of simplifying it, and prints medians over the programs.
func BenchmarkFind(b *testing.B) {
	library := sharedRuntime(b)
	type program struct {
		expectation
		path string
	}
	var programs []program
	for _, e := range expectations(b, "fail") {
		p := program{e, filepath.Join(b.TempDir(), e.name)}
		compileProgram(b, e, "gcc", "-O1", p.path)
		programs = append(programs, p)
	}
	var found, executions, simplified, simplifying []float64
	for i := range b.N {
		for _, p := range programs {
			tg, err := cprog.Start(b.Context(), cprog.Config{Path: p.path, Args: append([]string{p.path}, p.args...), Dir: filepath.Dir(p.path), Runtime: library})
			if err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			r, err := engine.Find(b.Context(), tg, engine.Options{Seed: uint64(i + 1), Time: 10 * time.Second}, nil)
			tg.Close()
			if err != nil || r.Finding == nil || r.Simplified == nil {
				b.Errorf("%s, seed %d: not found within 10 s (%v)", p.name, i+1, err)
				continue
			}
			all := time.Since(began).Seconds()
			found = append(found, 1000*(all-r.Simplified.Seconds))
			executions = append(executions, float64(r.Finding.Execution))
			simplified = append(simplified, float64(r.Simplified.Switches))
			simplifying = append(simplifying, 1000*r.Simplified.Seconds)
		}
	}
	b.ReportMetric(median(found), "ms-to-find(median)")
	b.ReportMetric(slices.Max(found), "ms-to-find(max)")
	b.ReportMetric(median(executions), "executions(median)")
	b.ReportMetric(median(simplifying), "ms-to-simplify(median)")
	b.ReportMetric(median(simplified), "switches(median)")
	b.ReportMetric(float64(len(programs)), "programs")
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
