package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// BenchmarkPeakMemory runs find on every C and C++ test program, as a process, and prints the
// most memory that heddle or a process of the program's had, over the programs.
func BenchmarkPeakMemory(b *testing.B) {
	sharedRuntime(b)
	var peaks []float64
	for _, kind := range []string{"fail", "pass"} {
		for _, e := range expectations(b, kind) {
			dir := b.TempDir()
			prog := filepath.Join(dir, e.name)
			compileProgram(b, e, "gcc", "-O1", prog)
			_, mb := peak(b, dir, append([]string{"find", "--json", "--runs=2000", "--time=10s", "--", prog}, e.args...)...)
			b.Logf("%s/%s: %d MB", kind, e.name, mb)
			peaks = append(peaks, float64(mb))
		}
	}
	for range b.N {
	}
	b.ReportMetric(median(slices.Clone(peaks)), "MB(median)")
	b.ReportMetric(slices.Max(peaks), "MB(max)")
	b.ReportMetric(float64(len(peaks)), "programs")
}
