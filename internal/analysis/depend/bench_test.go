package depend_test

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// random is the events of random programs that do everything a C program can.
func random(b *testing.B) []*trace.Trace {
	b.Helper()
	var ts []*trace.Trace
	for seed := range uint64(200) {
		ts = append(ts, tracegen.Random(seed, tracegen.Shape{Threads: 4, Length: 40}).Trace)
	}
	return ts
}

func BenchmarkSteps(b *testing.B) {
	ts := random(b)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range ts {
			for s := range depend.Steps(t) {
				n += len(s.Effects)
			}
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	ts := random(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range ts {
			depend.Build(t)
		}
	}
}
