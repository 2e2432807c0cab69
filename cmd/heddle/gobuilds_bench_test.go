package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/testing/goprograms"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// BenchmarkGoBuilds is executions per second of a small test (bench/rounds) and of one with
// 2,000 goroutines (bench/two_thousand): in the build without Go's race detector and with
// it, many in a process and one in each, and by plain go test -race -count beside them. One
// turn takes about two seconds for each figure; only ratios are checked.
func BenchmarkGoBuilds(b *testing.B) {
	needRaceDetector(b)
	want := func(p goprograms.Program) bool { return p.Name == "rounds" || p.Name == "two_thousand" }
	builds := map[string]builtGo{
		"plain":    buildGo(b, "", patch.Options{}, want),
		"detector": buildGo(b, "", patch.Options{Sanitizer: true}, want),
	}
	for _, name := range []string{"rounds", "two_thousand"} {
		b.Run(name, func(b *testing.B) {
			var gotest, in, fresh = 0.0, map[string]float64{}, map[string]float64{}
			for range b.N {
				gotest += goTestRace(b, "bench/"+name)
				for kind, built := range builds {
					g := built.start(b, "bench/"+name)
					in[kind] += perSecond(func(until time.Time) (n int) {
						err := g.Stream(b.Context(), func() (schedule.Plan, bool) {
							return schedule.Plan{Policy: schedule.Random, Seed: uint64(n), Repeat: 50}, time.Now().Before(until)
						}, func(_ schedule.Plan, o schedule.Outcome) bool {
							n++
							if o.Ending.Kind != trace.Clean {
								b.Fatalf("%v %s", o.Ending.Kind, o.Ending.Message)
							}
							return true
						})
						if err != nil {
							b.Fatal(err)
						}
						return n
					})
					fresh[kind] += perSecond(func(until time.Time) (n int) {
						for ; time.Now().Before(until); n++ {
							o, err := g.Run(b.Context(), schedule.Plan{Policy: schedule.Random, Seed: uint64(n)})
							if err != nil || o.Ending.Kind != trace.Clean {
								b.Fatalf("%v %v %s", err, o.Ending.Kind, o.Ending.Message)
							}
						}
						return n
					})
					g.Close()
				}
			}
			n := float64(b.N)
			b.ReportMetric(gotest/n, "go-test-race/s")
			b.ReportMetric(in["plain"]/gotest, "vs-go-test-race")
			for kind := range builds {
				b.ReportMetric(in[kind]/n, kind+"-in-process/s")
				b.ReportMetric(fresh[kind]/n, kind+"-fresh/s")
				if name == "rounds" && in[kind] < 3*fresh[kind] {
					b.Errorf("%s: %.0f executions/s in a process, %.0f in fresh ones", kind, in[kind]/n, fresh[kind]/n)
				}
			}
			if in["plain"] < in["detector"] {
				b.Errorf("%.0f executions/s with the race detector, %.0f without", in["detector"]/n, in["plain"]/n)
			}
		})
	}
}

// BenchmarkGoRates is executions per second of heddle test's search on the passing test programs,
// divided by those of plain go test -race -count, one program after the other. Only the ratios mean
// something: the two take turns on the same machine.
func BenchmarkGoRates(b *testing.B) {
	needRaceDetector(b)
	built := buildGo(b, "", patch.Options{}, func(p goprograms.Program) bool { return !p.Main && p.Clean() })
	var ratios []float64
	for range b.N {
		for _, name := range built.names("pass") {
			g := built.start(b, name)
			opts := goOptions(b, symbol.New(g.Modules(), symbol.Options{}))
			opts.Time, opts.Stale = time.Second, 0
			began := time.Now()
			r, err := engine.Find(b.Context(), g, opts, nil)
			ours := float64(r.Executions) / time.Since(began).Seconds()
			g.Close()
			if err != nil || r.Finding != nil {
				b.Fatalf("%s: %v %+v", name, err, r.Finding)
			}
			theirs := goTestRace(b, name)
			ratios = append(ratios, ours/theirs)
			b.Logf("%s: %.0f/s, go test -race %.0f/s: %.2f", name, ours, theirs, ours/theirs)
		}
	}
	b.ReportMetric(slices.Min(ratios), "vs-go-test-race(min)")
	b.ReportMetric(median(ratios), "vs-go-test-race(median)")
}

// perSecond does something for two seconds, as often as f says.
func perSecond(f func(until time.Time) int) float64 {
	began := time.Now()
	n := f(began.Add(2 * time.Second))
	return float64(n) / time.Since(began).Seconds()
}

// goTestRace is how many times per second plain go test -race runs a test, the start of the
// process omitted.
func goTestRace(b *testing.B, name string) float64 {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "plain.test")
	cmd := exec.Command("go", "test", "-race", "-c", "-vet=off", "-o", binary, "./"+name)
	cmd.Dir = filepath.Join(repository(b), "testdata", "goprograms")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	run := func(count int) time.Duration {
		began := time.Now()
		cmd := exec.Command(binary, "-test.count="+strconv.Itoa(count))
		cmd.Env = append(cmd.Environ(), "GORACE=atexit_sleep_ms=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return time.Since(began)
	}
	start := run(1)
	for count := 10; ; count *= 4 {
		if took := run(count) - start; took > time.Second {
			return float64(count) / took.Seconds()
		}
	}
}
