package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/trace"
)

// BenchmarkRecord measures what each kind of recording costs, as multiples of recording scheduling points
// only. The kinds run alternately, so the load of the machine has little effect on the ratios.
func BenchmarkRecord(b *testing.B) {
	for _, p := range []struct{ file, size string }{
		{"kmeans.c", "-DPOINTS=24000"}, {"swaptions.cc", "-DTRIALS=3000"}, {"recursion.c", "-DROUNDS=5000"}, {"kmeans_go", "60000"},
	} {
		b.Run(p.file, func(b *testing.B) {
			dir := b.TempDir()
			prog, recorded := filepath.Join(dir, "prog"), filepath.Join(dir, "prog.hdl")
			file := filepath.Join(repository(b), "testdata/sanitize/same", p.file)
			kinds, program := []string{"", "--accesses", "--values", "--functions"}, []string{prog}
			if strings.HasSuffix(p.file, "_go") {
				dir = filepath.Dir(file)
				kinds, program = kinds[:3], []string{"./" + p.file, p.size}
			} else {
				e := readExpectation(b, file)
				e.flags = append(e.flags, p.size)
				compileProgram(b, e, "gcc", "-O1", prog)
			}
			took, events, size := make([]time.Duration, len(kinds)), make([]int, len(kinds)), make([]int64, len(kinds))
			if out, err := heddleCommand(b, dir, nil, append([]string{"record", "-o", recorded, "--"}, program...)...).CombinedOutput(); err != nil { // may compile the runtime
				b.Fatalf("%v\n%s", err, out)
			}
			for b.Loop() {
				for i, kind := range kinds {
					cmd := heddleCommand(b, dir, nil, slices.Concat([]string{"record", "-o", recorded}, strings.Fields(kind), []string{"--"}, program)...)
					began := time.Now()
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%v: %v\n%s", cmd.Args, err, out)
					}
					took[i] += time.Since(began)
					tr, err := trace.ReadFile(recorded)
					if err != nil {
						b.Fatal(err)
					}
					info, err := os.Stat(recorded)
					if err != nil {
						b.Fatal(err)
					}
					events[i], size[i] = len(tr.Events), info.Size()
				}
			}
			for i, kind := range kinds {
				if name := strings.TrimPrefix(kind, "--"); name != "" {
					b.ReportMetric(float64(took[i])/float64(took[0]), name+"-time")
					b.ReportMetric(float64(events[i]), name+"-events")
					b.ReportMetric(float64(size[i])/1024, name+"-KiB")
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
