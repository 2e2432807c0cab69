package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// BenchmarkAlone runs programs without heddle in control: built with heddle
// cc, and with ThreadSanitizer, in turns. heddle's must not take longer. Processor time is
// compared, because the machine may be busy.
func BenchmarkAlone(b *testing.B) {
	for _, p := range []struct{ name, rounds string }{{"alone_accesses", "60"}, {"alone_locks", "2000000"}, {"alone_atomics", "1000000"}} {
		for _, compiler := range []string{"gcc", "clang"} {
			b.Run(p.name+"/"+compiler, func(b *testing.B) {
				source := filepath.Join(repository(b), "testdata/programs/bench", p.name+".c")
				dir := b.TempDir()
				ours, theirs, plain := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs"), filepath.Join(dir, "plain")
				compileProgram(b, expectation{source: source}, compiler, "-O2", ours)
				for out, flags := range map[string][]string{theirs: {"-fsanitize=thread"}, plain: nil} {
					args := append([]string{"-O2", "-g", "-pthread", "-o", out, source}, flags...)
					if msg, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
						b.Fatalf("%s %v: %v\n%s", compiler, args, err, msg)
					}
				}
				var with, without, bare []float64
				for len(with) < max(5, b.N) {
					with = append(with, processorTime(b, ours, p.rounds))
					without = append(without, processorTime(b, theirs, p.rounds))
					bare = append(bare, processorTime(b, plain, p.rounds))
				}
				ratio := slices.Min(with) / slices.Min(without)
				b.ReportMetric(1000*slices.Min(with), "ms")
				b.ReportMetric(slices.Min(with)/slices.Min(bare), "times-plain")
				b.ReportMetric(ratio, "of-ThreadSanitizer's")
				if ratio > 1 {
					b.Errorf("alone it takes %.2f times as long as with ThreadSanitizer", ratio)
				}
			})
		}
	}
}

func processorTime(b *testing.B, program string, args ...string) float64 {
	b.Helper()
	cmd := exec.Command(program, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", program, err, out)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}
