package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/testing/goprograms"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// needRaceDetector skips where programs cannot be built with Go's race detector.
func needRaceDetector(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc, which builds with Go's race detector need")
	}
}

// choices are what a schedule decides of a recorded execution, with the sites of another
// build.
func choices(tr *trace.Trace, site func(trace.Site) (trace.Site, bool)) (out []string) {
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		at, ok := site(e.Site)
		if !ok {
			at = ^trace.Site(0)
		}
		s := fmt.Sprintf("thread %x %v at %x size %d flags %v enabled %v", tr.Threads[e.Thread].Name, e.Op, at, e.Size, e.Flags, e.Enabled)
		if e.Op == trace.OpSelect {
			s += fmt.Sprintf(" case %d", e.Aux)
		}
		out = append(out, s)
	}
	return out
}

func same(s trace.Site) (trace.Site, bool) { return s, true }

// sameDecisions fails where two executions, of different builds, are different.
func sameDecisions(t *testing.T, what string, a, b *trace.Trace, site func(trace.Site) (trace.Site, bool)) {
	t.Helper()
	x, y := choices(a, site), choices(b, same)
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) || x[i] != y[i] {
			one, other := "nothing", "nothing"
			if i < len(x) {
				one = x[i]
			}
			if i < len(y) {
				other = y[i]
			}
			t.Fatalf("%s: choice %d of %d and %d:\n%s\n%s", what, i, len(x), len(y), one, other)
		}
	}
}

// accesses are the instructions of plain accesses in a trace.
func accesses(tr *trace.Trace) (sites []trace.Site) {
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Op.IsAccess() && e.Flags&trace.FlagAtomic == 0 && !slices.Contains(sites, e.Site) {
			sites = append(sites, e.Site)
		}
	}
	return sites
}

// TestGoSanitizer: the builds with Go's race detector and without are scheduled alike. Plans
// give the same choices in both, and what is recorded in one is followed step by step in the
// other. Where heddle sees a data race, Go's race detector reports one. Of six failing
// programs one, by name, or all programs with make whole.
func TestGoSanitizer(t *testing.T) {
	needRaceDetector(t)
	testGoSanitizer(t, "", func(p goprograms.Program) bool {
		if p.Main || p.Clean() && need.Amount(0, 1) == 0 {
			return false
		}
		n := 0
		for _, c := range p.Name {
			n += int(c)
		}
		return n%need.Amount(6, 1) == 0
	}, need.Amount(2, 20))
}

// TestGoSanitizerReleases does the same with the other releases of Go, for a few programs.
func TestGoSanitizerReleases(t *testing.T) {
	needRaceDetector(t)
	if need.Amount(0, 1) == 0 {
		t.Skip("two more standard libraries are compiled for this: it runs with make whole")
	}
	some := []string{"plain_race", "atomic_value_pair", "map_read_write", "select_priority"}
	for _, release := range need.OtherGoReleases() { // for the one that runs the tests: TestGoSanitizer
		t.Run(release, func(t *testing.T) {
			testGoSanitizer(t, release, func(p goprograms.Program) bool { return slices.Contains(some, p.Name) && !p.Clean() }, 2)
		})
	}
}

func testGoSanitizer(t *testing.T, release string, want func(goprograms.Program) bool, seeds int) {
	without := buildGo(t, release, patch.Options{}, want)
	with := buildGo(t, release, patch.Options{Sanitizer: true}, want)
	for _, name := range append(without.names("fail"), without.names("pass")...) {
		t.Run(name, func(t *testing.T) {
			if release == "" { // else a variable of the environment is set
				t.Parallel()
			}
			b, a := without.start(t, name), with.start(t, name)
			if b.Cold() != a.Cold() {
				t.Fatalf("cold %t, with the race detector %t", b.Cold(), a.Cold())
			}
			forth := counterparts(t, without, with, name)
			back := counterparts(t, with, without, name)
			points := accesses(execute(t, b, schedule.Plan{Record: true, Accesses: true}).Trace)
			for seed := range seeds {
				plan := schedule.Plan{Policy: schedule.Random, Seed: uint64(seed), Record: true, MaxSteps: 20000}
				plan.Points = points
				if seed%2 == 1 {
					plan.Policy, plan.Points = schedule.POS, nil
				}
				recorded := execute(t, b, plan)
				plan.Points = plan.Points[:0:0]
				for _, s := range recorded.Trace.Header.Points {
					there, ok := forth(s)
					if again, _ := back(there); !ok || again != s {
						t.Fatalf("%#x has the counterpart %#x, and that one %#x", s, there, again)
					}
					plan.Points = append(plan.Points, there)
				}
				own := execute(t, a, plan)
				sameDecisions(t, fmt.Sprintf("seed %d", seed), recorded.Trace, own.Trace, forth)
				for _, f := range []struct {
					what string
					in   *goprog.Target
					of   schedule.Outcome
					site func(trace.Site) (trace.Site, bool)
				}{{"followed with the race detector", a, recorded, forth}, {"followed without", b, own, back}} {
					o, err := engine.ReplayElsewhere(t.Context(), f.in, f.of.Trace, f.site)
					if err != nil {
						t.Fatal(err)
					}
					if o.Ending.Kind != f.of.Ending.Kind || o.Ending.Message != f.of.Ending.Message {
						t.Fatalf("seed %d: %s: %v %q, recorded %v %q; %+v", seed, f.what, o.Ending.Kind, o.Ending.Message, f.of.Ending.Kind, f.of.Ending.Message, o.Diverged)
					}
					sameDecisions(t, fmt.Sprintf("seed %d, %s", seed, f.what), f.of.Trace, o.Trace, f.site)
				}
				if strings.HasPrefix(name, "pass/") && len(goprog.RaceReports(own.Ending.Output)) > 0 {
					t.Errorf("a race in a program that has none:\n%s", own.Ending.Output)
				}
			}
			if slices.Contains(without.programs[name].Kinds, trace.Race) {
				testGoRaceReport(t, a, b, forth)
			}
		})
	}
}

// testGoRaceReport finds a data race and has it reported by Go's race detector.
func testGoRaceReport(t *testing.T, a, b *goprog.Target, forth func(trace.Site) (trace.Site, bool)) {
	table := symbol.New(b.Modules(), symbol.Options{})
	opts := goOptions(t, table)
	opts.Time = time.Minute
	r, err := engine.Find(t.Context(), b, opts, nil)
	if err != nil || r.Finding == nil || r.Simplified == nil {
		t.Fatalf("%v, notes %q", err, r.Notes)
	}
	for _, tr := range []*trace.Trace{r.Finding.Recorded, r.Simplified.Recorded} {
		if tr.Ending.Kind != trace.Race {
			t.Logf("found %v: no data race to report", tr.Ending.Kind)
			continue
		}
		o, err := engine.ReplayElsewhere(t.Context(), a, tr, forth)
		if err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, report := range goprog.RaceReports(o.Ending.Output) {
			both := true
			for _, access := range tr.Ending.Accesses {
				f := table.Call(access.Site)[0]
				both = both && strings.Contains(report, fmt.Sprintf("%s:%d ", f.File, f.Line))
			}
			if both {
				said++
			}
		}
		if said == 0 {
			t.Errorf("Go's race detector does not report %q, but %v:\n%s", tr.Ending.Message, o.Ending.Kind, o.Ending.Output)
		}
	}
}

func execute(t *testing.T, g *goprog.Target, p schedule.Plan) schedule.Outcome {
	t.Helper()
	o, err := g.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if o.Trace == nil {
		t.Fatalf("not recorded: %v %s", o.Ending.Kind, o.Ending.Message)
	}
	return o
}

func counterparts(t *testing.T, from, to builtGo, name string) func(trace.Site) (trace.Site, bool) {
	t.Helper()
	c, err := goprog.NewCounterparts(filepath.Join(from.dir, name+".test"), filepath.Join(to.dir, name+".test"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Site
}

// heddle replay --race-report prints Go's report of the race in a kept trace, and one
// sentence where there is no C compiler.
func TestGoRaceReportCommand(t *testing.T) {
	t.Parallel()
	needRaceDetector(t)
	dir := goModule(t, "fail/plain_race")
	tests, _ := runTest(t, dir, nil, exitFound, "./fail/plain_race")
	file := tests[0].Trace
	r := runJSON[raceReportJSON](t, dir, exitFound, "replay", "--json", "--race-report", file)
	if r.Outcome != "found" || len(r.Reports) != 1 || r.Choices == 0 || !strings.HasPrefix(r.Reports[0], "WARNING: DATA RACE\n") ||
		!strings.Contains(r.Reports[0], "plain_race.go:20 ") || !strings.Contains(r.Reports[0], "plain_race.go:25 ") {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		env, args []string
		status    int
		want      string
	}{
		{[]string{"CC=/none/cc"}, []string{"replay", "--race-report", file}, exitFailed, "heddle: Go's race detector needs a C compiler, and /none/cc cannot be run: install gcc, or name another compiler with CC\n"},
		{nil, []string{"replay", "--race-report", "--changed", file}, exitUsage, "--race-report follows the schedule exactly, and once: it cannot be combined with --changed"},
	} {
		cmd := heddleCommand(t, dir, c.env, c.args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.status || !strings.HasSuffix(string(out), c.want) && !strings.Contains(string(out), c.want) {
			t.Errorf("%v: status %d, %s", c.args, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// doctor reports that heddle cannot be added to a Go installation whose runtime it does not
// know, and the anchor it needs.
func TestDoctorGo(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "src", "runtime"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"proc.go", "runtime2.go"} {
		if err := os.WriteFile(filepath.Join(root, "src", "runtime", name), []byte("package runtime\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tool := filepath.Join(root, "go")
	answer := fmt.Sprintf(`{"GOVERSION": "go1.26.8", "GOROOT": %q, "GOFLAGS": "", "GOMODCACHE": "/none", "GOOS": "linux", "GOARCH": "amd64"}`, root)
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho '"+answer+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, _ := heddleCommand(t, root, nil, "doctor", "--go="+tool).CombinedOutput()
	want := "heddle cannot be put into the Go installation at " + root + ": runtime/runtime2.go has no g; it knows " + gotool.Releases + "\n"
	if !strings.Contains(string(out), want) || strings.Contains(string(out), "Go race reports") {
		t.Errorf("%s\nwant %s", out, want)
	}
}
