package main

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target/cprog"
)

// BenchmarkSimplify simplifies what each seed finds in every failing program. Of the programs, it
// prints the percentage whose results have the same switches and preemptions for all seeds
// (spread-0), that reach the stated minimum for all seeds, and whose results are all shown to be
// minimal; of the simplifications, the mean executions, those after the last gain, and seconds. It
// logs the results of each program that differ, or miss the stated minimum. Use -benchtime 20x for
// 20 seeds.
func BenchmarkSimplify(b *testing.B) {
	library := sharedRuntime(b)
	programs, same, stated, reached, shown, findings := 0, 0, 0, 0, 0, 0
	var executions, after, seconds float64
	for _, e := range expectations(b, "fail") {
		if e.partly || len(e.options) > 0 {
			continue
		}
		path := filepath.Join(b.TempDir(), e.name)
		compileProgram(b, e, "gcc", "-O1", path)
		opts, err := (&findCommand{Time: 20 * time.Second}).options()
		if err != nil {
			b.Fatal(err)
		}
		costs := map[[2]int]bool{}
		minimal, minimum := true, true
		for i := range b.N {
			tg, err := cprog.Start(b.Context(), cprog.Config{Path: path, Args: append([]string{path}, e.args...), Dir: filepath.Dir(path), Runtime: library})
			if err != nil {
				b.Fatal(err)
			}
			opts.Seed = uint64(i + 1)
			r, err := engine.Find(b.Context(), tg, opts, nil)
			tg.Close()
			if err != nil || r.Simplified == nil {
				continue // it needs options, or more time
			}
			s := r.Simplified
			findings++
			costs[[2]int{s.Switches, s.Preemptions}] = true
			minimal = minimal && s.Complete
			minimum = minimum && s.Switches == e.switches && (e.preemptions < 0 || s.Preemptions == e.preemptions)
			executions += float64(s.Executions)
			after += float64(s.Executions - s.Details.LastGain)
			seconds += s.Seconds
		}
		if len(costs) == 0 {
			continue
		}
		programs++
		same += number(len(costs) == 1)
		shown += number(minimal)
		if len(costs) > 1 || e.minimum && !minimum {
			b.Logf("%s: %v, stated %d/%d (minimum: %t)", e.name, slices.SortedFunc(maps.Keys(costs), func(x, y [2]int) int { return slices.Compare(x[:], y[:]) }), e.switches, e.preemptions, e.minimum)
		}
		if e.minimum {
			stated++
			reached += number(minimum)
		}
	}
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }
	b.ReportMetric(percent(same, programs), "%spread-0")
	b.ReportMetric(percent(reached, stated), "%at-minimum")
	b.ReportMetric(percent(shown, programs), "%shown")
	b.ReportMetric(executions/float64(max(1, findings)), "executions")
	b.ReportMetric(after/float64(max(1, findings)), "after-last-gain")
	b.ReportMetric(seconds/float64(max(1, findings)), "s-each")
	b.ReportMetric(float64(programs), "programs")
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
