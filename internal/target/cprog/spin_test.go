package cprog

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// rests are what a thread does in a loop that waits for another: nothing but look again, a hint
// to the processor, a yield, sleeps of a microsecond and of no time at all.
var rests = []string{"look", "pause", "yield", "microsleep", "nosleep"}

// policies are those of find, and what it does first.
func policies() []schedule.Plan {
	return []schedule.Plan{
		{Policy: schedule.Fair},
		{Policy: schedule.Random},
		{Policy: schedule.Random, Stay: 0.95},
		{Policy: schedule.PCT, Depth: 3, Length: 60},
		{Policy: schedule.POS},
		{Policy: schedule.PCT, Depth: 3, Length: 60, Turns: schedule.Turns{Visits: 16, From: 100, After: 30}},
	}
}

// spinning are the programs of a directory, each with every way to wait. once says that an
// execution takes long.
func spinning(t testing.TB, dir string, each func(name string, tg func(testing.TB) *Target, once bool)) {
	files, err := filepath.Glob(testProgram(dir) + "/*.c*")
	if err != nil || len(files) == 0 {
		t.Fatal("no programs", err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		prog := compile(t, file, "-D_GNU_SOURCE")
		for _, rest := range rests {
			if bytes.Contains(source, []byte("rest()")) || rest == rests[0] {
				each(filepath.Base(file)+"/"+rest, func(t testing.TB) *Target { return start(t, prog, rest) }, bytes.HasPrefix(source, []byte("// once:")))
			}
		}
	}
}

// ends runs executions of a correct program and fails at the first that does not end well.
func ends(t testing.TB, tg *Target, p schedule.Plan, n int) (points int) {
	t.Helper()
	sent, failed := false, ""
	p.Repeat, p.Stop = n, true
	err := tg.Stream(t.Context(), func() (schedule.Plan, bool) {
		first := !sent
		sent = true
		return p, first
	}, func(_ schedule.Plan, o schedule.Outcome) bool {
		if o.Ending.Kind != trace.Clean || o.Ending.Status != 0 {
			failed = fmt.Sprintf("%v stay %v, execution %d: %v: %s (status %d, %d points)", p.Policy, p.Stay, o.Index, o.Ending.Kind, o.Ending.Message, o.Ending.Status, o.Points)
			return false
		}
		points = max(points, o.Points)
		return true
	})
	if err != nil || failed != "" {
		t.Fatal(failed, err)
	}
	return points
}

// A correct program that spins is called a hang under no policy, whether or not the plain
// accesses that race are scheduling points.
func TestSpinningEnds(t *testing.T) {
	spinning(t, "spin", func(name string, tg func(testing.TB) *Target, once bool) {
		t.Run(name, func(t *testing.T) {
			n := 100
			if once {
				n = 2
			}
			spinEnds(t, tg(t), n)
		})
	})
}

// BenchmarkSpinningEnds is the long form, 100,000 executions of each program under each policy.
func BenchmarkSpinningEnds(b *testing.B) {
	spinning(b, "spin", func(name string, tg func(testing.TB) *Target, once bool) {
		b.Run(name, func(b *testing.B) {
			n := 100_000
			if once {
				n = 50
			}
			for range b.N {
				b.ReportMetric(float64(spinEnds(b, tg(b), n)), "points")
			}
		})
	})
}

func spinEnds(t testing.TB, tg *Target, n int) (points int) {
	defer tg.Close()
	first := run(t, tg, schedule.Plan{Record: true, Accesses: n > 2})
	var racy []trace.Site
	if first.Trace != nil {
		racy = racySites(first.Trace)
	}
	for i, p := range policies() {
		p.Seed, p.Timeouts = uint64(i)<<32, i%2 == 0
		if len(racy) == 0 {
			points = max(points, ends(t, tg, p, n))
			continue
		}
		points = max(points, ends(t, tg, p, max(1, n/100))) // 20,000 accesses from one point to the next
		p.Points = racy
		points = max(points, ends(t, tg, p, n))
	}
	return points
}

// Threads that wait for what never comes are a hang, in each execution, and soon, unless they
// sleep in between: then only the step budget says so. The recorded hang is followed.
func TestStuckIsAHang(t *testing.T) {
	spinning(t, "stuck", func(name string, tg func(testing.TB) *Target, _ bool) {
		t.Run(name, func(t *testing.T) {
			tg := tg(t)
			defer tg.Close()
			asleep := strings.HasSuffix(name, "sleep")
			for _, p := range policies() {
				for seed := range uint64(need.Amount(1, 3)) {
					p.Seed = seed
					o := run(t, tg, p)
					want := "no progress"
					// A loop that only takes the lock and looks does not tell that it waits, nor
					// one that writes.
					if asleep || strings.HasPrefix(name, "lost_token.cc") || name == "barrier_one_short.c/look" || name == "barrier_one_short.c/pause" {
						want = "step budget"
					}
					// One that sleeps until a time that is over may tell by what else it looks at.
					tells := strings.HasSuffix(name, "/nosleep") && o.Ending.Message == "no progress"
					if !o.Ending.Kind.Endless() || o.Ending.Message != want && !tells {
						t.Fatalf("%v seed %d: %v %q after %d points, want %q", p.Policy, seed, o.Ending.Kind, o.Ending.Message, o.Points, want)
					}
					if want == "no progress" && o.Points > 80_000 {
						t.Errorf("%v seed %d: %d points", p.Policy, seed, o.Points)
					}
				}
			}
			if asleep {
				return
			}
			p := schedule.Plan{Policy: schedule.POS, Record: true, MaxSteps: 20_000}
			o := run(t, tg, p)
			script := schedule.ScriptOf(o.Trace)
			again := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: script, Threads: o.Trace.Threads, Record: true, MaxSteps: len(script), FairAfter: cmp.Or(o.FairAt, schedule.Never)})
			if again.Ending.Kind != trace.Unfinished || !slices.EqualFunc(o.Trace.Events, again.Trace.Events, func(a, b trace.Event) bool {
				return a.Thread == b.Thread && a.Op == b.Op && a.Site == b.Site && a.Enabled.Equal(b.Enabled) && a.Flags == b.Flags
			}) {
				t.Errorf("replayed as %v: %s", again.Ending.Kind, fmt.Sprint(again.Diverged))
			}
		})
	})
}
