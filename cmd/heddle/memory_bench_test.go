package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/goprograms"
)

// BenchmarkPeakMemory runs find on every C and C++ test program and test on every Go one, as a
// process, and prints the peak memory of the largest process, heddle or the program.
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
	programs, err := goprograms.List(filepath.Join(repository(b), "testdata", "goprograms"))
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range programs {
		if kind := filepath.Base(filepath.Dir(p.Dir)); !p.Main && (kind == "fail" || kind == "pass") {
			dir := b.TempDir()
			copyGoProgram(b, p.Dir, dir)
			_, mb := peak(b, dir, "test", "--json", "--count=2000", "--timeout=10s", ".")
			b.Logf("go %s/%s: %d MB", kind, p.Name, mb)
			peaks = append(peaks, float64(mb))
		}
	}
	for range b.N {
	}
	b.ReportMetric(median(slices.Clone(peaks)), "MB(median)")
	b.ReportMetric(slices.Max(peaks), "MB(max)")
	b.ReportMetric(float64(len(peaks)), "programs")
}

// copyGoProgram copies a package of testdata/goprograms into a module of its own: heddle test
// keeps findings beside the package.
func copyGoProgram(b *testing.B, from, to string) {
	b.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		b.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(repository(b), "testdata", "goprograms", "go.mod"))
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "go.mod"), mod, 0o666); err != nil {
		b.Fatal(err)
	}
}
