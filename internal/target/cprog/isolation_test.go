package cprog

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// startAt is start with an isolation.
func startAt(t testing.TB, prog string, isolation Isolation, threads bool, args ...string) *Target {
	t.Helper()
	return startKnowing(t, prog, isolation, threads, nil, args...)
}

// startKnowing is startAt with the modules of a recording.
func startKnowing(t testing.TB, prog string, isolation Isolation, threads bool, modules []trace.Module, args ...string) *Target {
	t.Helper()
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{
		Path: prog, Args: append([]string{prog}, args...), Dir: filepath.Dir(prog), Runtime: lib, Isolation: isolation, Threads: threads, Modules: modules,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// samePlans gives n different plans with all policies; a Go program's points do not matter.
func samePlans(n int, base schedule.Outcome) (plans []schedule.Plan) {
	policies := []schedule.Policy{schedule.Fair, schedule.Random, schedule.PCT, schedule.POS}
	points := racySites(base.Trace)
	for i := range n {
		plans = append(plans, schedule.Plan{
			Policy: policies[i%4], Seed: uint64(i), Depth: 3, Length: base.Points, Record: true, Points: points,
			Accesses: i%3 == 0, Timeouts: i%2 == 0,
		})
	}
	return plans
}

// stream runs plans and gives their outcomes.
func stream(t testing.TB, tg *Target, plans []schedule.Plan) (out []schedule.Outcome) {
	t.Helper()
	next := 0
	err := tg.Stream(t.Context(), func() (schedule.Plan, bool) {
		if next == len(plans) {
			return schedule.Plan{}, false
		}
		next++
		return plans[next-1], true
	}, func(_ schedule.Plan, o schedule.Outcome) bool {
		out = append(out, o)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(plans) {
		t.Fatalf("%d plans, %d outcomes", len(plans), len(out))
	}
	return out
}

// sameOutcome reports the first difference between two executions of one plan.
func sameOutcome(t testing.TB, what string, a, b schedule.Outcome) {
	t.Helper()
	ea, eb := a.Trace.Events, b.Trace.Events
	for i := range min(len(ea), len(eb)) {
		if !reflect.DeepEqual(ea[i], eb[i]) {
			t.Fatalf("%s: event %d is\n%+v, was\n%+v", what, i, eb[i], ea[i])
		}
	}
	if len(ea) != len(eb) {
		t.Fatalf("%s: %d events, were %d", what, len(eb), len(ea))
	}
	a.Trace.Header.Isolation, b.Trace.Header.Isolation = "", ""
	if !reflect.DeepEqual(a.Trace, b.Trace) {
		t.Fatalf("%s: another trace:\n%+v\n%+v", what, b.Trace.Ending, a.Trace.Ending)
	}
	a.Trace, b.Trace = nil, nil
	a.Coverage, b.Coverage = 0, 0 // of addresses: means something within one kind of process
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%s: outcome\n%+v, was\n%+v", what, b, a)
	}
}

// sameUnderEach runs n plans of one program under each isolation that can carry it, and with
// kernel threads, fewer of them where each takes a process; their traces must be the same.
func sameUnderEach(t testing.TB, prog string, n, few int, args ...string) {
	t.Helper()
	reference := Snapshot
	first := startAt(t, prog, Snapshot, false, args...)
	base := run(t, first, schedule.Plan{Record: true, Accesses: true})
	if base.Ending.Kind == trace.Unsupported {
		reference = Fork
		first = startAt(t, prog, Fork, false, args...)
		base = run(t, first, schedule.Plan{Record: true, Accesses: true})
	}
	if base.Ending.Kind == trace.Unsupported {
		t.Fatalf("no isolation carries it: %s", base.Ending.Message)
	}
	plans := samePlans(n, base)
	want := stream(t, first, plans)
	first.Close()
	for _, how := range []struct {
		name      string
		isolation Isolation
		threads   bool
		n         int
	}{{"fork", Fork, false, n}, {"process", Process, false, few}, {"threads", Process, true, few}} {
		if how.isolation == reference {
			continue
		}
		tg := startKnowing(t, prog, how.isolation, how.threads, base.Trace.Modules, args...)
		for i, got := range stream(t, tg, plans[:how.n]) {
			w := want[i]
			tr := *w.Trace
			w.Trace = &tr
			sameOutcome(t, how.name+", "+plans[i].Policy.String(), w, got)
			if err := trace.Validate(got.Trace); err != nil {
				t.Errorf("%s: %v", how.name, err)
			}
		}
		tg.Close()
	}
}

// The same plan gives the same execution, whatever lies between executions and whether
// threads are fibers or the kernel's.
func TestSameUnderEachIsolation(t *testing.T) {
	t.Run("mixed", func(t *testing.T) { sameUnderEach(t, compile(t, mixed), 100, 20) })
	for i, file := range testPrograms(t) {
		// A sample; BenchmarkSameUnderEachIsolation has all.
		if name := filepath.Base(file); i%6 == 5 || strings.HasPrefix(name, "fork_") || strings.HasPrefix(name, "shared_") || strings.HasPrefix(name, "plugin_") {
			t.Run(filepath.Base(filepath.Dir(file))+"/"+name, func(t *testing.T) { sameUnderEach(t, compileFile(t, file), 20, 4) })
		}
	}
}

// compileFile builds one of testPrograms.
func compileFile(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, plugin, found := strings.Cut(string(b), "\n// plug-in: ")
	if !found {
		return compile(t, file)
	}
	prog := compile(t, file, "-rdynamic")
	name, _, _ := strings.Cut(plugin, "\n")
	compilePlugin(t, file, filepath.Join(filepath.Dir(prog), name))
	return prog
}

// testPrograms are the C programs in testdata that need no arguments or flags.
func testPrograms(t testing.TB) (files []string) {
	t.Helper()
	for _, dir := range []string{"fail", "pass"} {
		all, err := filepath.Glob(filepath.Join(testProgram(dir), "*.c"))
		if err != nil || len(all) < 40 {
			t.Fatalf("%d programs in %s, %v", len(all), dir, err)
		}
		for _, file := range all {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(b), "\n// args:") && (!strings.Contains(string(b), "\n// flags:") || strings.Contains(string(b), "\n// plug-in:")) {
				files = append(files, file)
			}
		}
	}
	return files
}

// All test programs: 100 plans each, 10 of them where every execution is launched.
func BenchmarkSameUnderEachIsolation(b *testing.B) {
	for _, file := range testPrograms(b) {
		b.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(b *testing.B) {
			prog := compileFile(b, file)
			for b.Loop() {
				sameUnderEach(b, prog, 100, 10)
			}
		})
	}
}
