package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// listed returns the races of a program, in both ways in which a target may watch.
func listed(t *testing.T, program simprog.Program, opts Options) [][]RaceFound {
	t.Helper()
	var out [][]RaceFound
	for _, tg := range []target.Target{simprog.New(program), simprog.NewWatching(program)} {
		found, r, err := FindRaces(t.Context(), tg, opts, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Orders[0]+f.Orders[1] == 0 || f.Name == "" || (f.Verdict == Harmful) != (f.Failure >= 0) || f.Failure >= len(r.Findings) || (f.Verdict == RaceUnconfirmed) != (f.Why != "") {
				t.Errorf("%+v", f)
			}
		}
		out = append(out, found)
	}
	return out
}

// TestFindRaces: of the races of a lost update, the failure depends on a read and a write; that of the
// two writes changes nothing.
func TestFindRaces(t *testing.T) {
	for _, found := range listed(t, simprog.LostUpdate(2), Options{Seed: 1, Runs: 2000}) {
		if len(found) != 2 {
			t.Fatalf("%+v", found)
		}
		for _, f := range found {
			writes := f.Sides[0].Op == trace.OpWrite && f.Sides[1].Op == trace.OpWrite
			if want := map[bool]Verdict{true: NoFailure, false: Harmful}[writes]; f.Verdict != want || !writes && f.Turned == 0 {
				t.Errorf("%+v, want %s", f, want)
			}
			if f.Orders[0] == 0 || f.Orders[1] == 0 {
				t.Errorf("not both orders: %v", f.Orders)
			}
			for _, side := range f.Sides {
				if side.Thread < 1 || side.Thread > 2 || side.Locks == nil || len(side.Locks) != 0 || side.Order != "" {
					t.Errorf("%+v", side)
				}
			}
		}
	}
	for _, found := range listed(t, lateRace(), Options{Seed: 1, Runs: 2000}) {
		if len(found) != 1 || found[0].Verdict != NoFailure {
			t.Errorf("%+v", found)
		}
	}
	for _, found := range listed(t, simprog.LockedUpdate(2), Options{Seed: 1, Runs: 1000}) {
		if len(found) != 0 {
			t.Errorf("%+v", found)
		}
	}
}

// TestFindRacesManyThreads: an execution that loses several updates still shows which race is at fault.
func TestFindRacesManyThreads(t *testing.T) {
	for _, threads := range []int{3, 8} {
		for seed := range uint64(3) {
			for _, found := range listed(t, simprog.LostUpdate(threads), Options{Seed: seed, Runs: 500}) {
				if len(found) != 2 {
					t.Fatalf("%d threads, seed %d: %+v", threads, seed, found)
				}
				for _, f := range found {
					writes := f.Sides[0].Op == trace.OpWrite && f.Sides[1].Op == trace.OpWrite
					if want := map[bool]Verdict{true: NoFailure, false: Harmful}[writes]; f.Verdict != want {
						t.Errorf("%d threads, seed %d: %+v, want %s", threads, seed, f, want)
					}
				}
			}
		}
	}
}

// TestFindRacesBystander: a race that turns only together with the one that the failure depends on is
// not harmful.
func TestFindRacesBystander(t *testing.T) {
	bystander := simprog.Program{Name: "bystander", Main: func(t *simprog.Thread) {
		x, y := t.Var(0), t.Var(0)
		update := func(t *simprog.Thread) {
			t.Write(y, 1)
			now := t.Read(x)
			t.Write(x, now+1)
			t.Read(y)
		}
		one, two := t.Go(update), t.Go(update)
		t.Join(one)
		t.Join(two)
		t.Assert(t.Read(x) == 2, "an update was lost")
	}}
	for _, found := range listed(t, bystander, Options{Seed: 1, Runs: 2000}) {
		harmful := slices.DeleteFunc(slices.Clone(found), func(f RaceFound) bool { return f.Verdict != Harmful })
		if len(found) != 4 || len(harmful) != 1 || harmful[0].Sides[0].Op == harmful[0].Sides[1].Op {
			t.Errorf("%d races, harmful: %+v", len(found), harmful)
			continue
		}
		// The other races are of other memory, or of the two writes.
		for _, f := range found {
			if f.Object == harmful[0].Object && f.Verdict == NoFailure && f.Sides[0].Op != f.Sides[1].Op {
				t.Errorf("%+v", f)
			}
		}
	}
}

// TestFindRacesForestalled: a failure that ends the execution before the other access of the race.
func TestFindRacesForestalled(t *testing.T) {
	early := simprog.Program{Name: "early", Main: func(t *simprog.Thread) {
		x := t.Var(0)
		one := t.Go(func(t *simprog.Thread) { t.Write(x, 1) })
		t.Assert(t.Read(x) == 1, "not set yet")
		t.Join(one)
	}}
	for _, found := range listed(t, early, Options{Seed: 1, Runs: 2000}) {
		if len(found) != 1 || found[0].Verdict != Harmful || found[0].Turned != forestallRuns {
			t.Errorf("%+v", found)
		}
	}
}

// TestFindRacesForestalledTwice: behind a failure that ends the execution before the other access of the race
// is another bug, which some executions with the accesses turned meet.
func TestFindRacesForestalledTwice(t *testing.T) {
	twice := simprog.Program{Name: "twice", Main: func(t *simprog.Thread) {
		set, filled := t.Var(0), t.Var(0)
		one := t.Go(func(t *simprog.Thread) {
			t.Write(set, 1)
			t.Write(filled, 1)
		})
		t.Assert(t.Read(set) == 1, "not set yet")
		t.Assert(t.Read(filled) == 1, "not filled yet")
		t.Join(one)
	}}
	for seed := range uint64(10) {
		for _, found := range listed(t, twice, Options{Seed: seed, Runs: 500}) {
			if len(found) != 2 || found[0].Verdict != Harmful || found[1].Verdict != Harmful || found[0].Failure == found[1].Failure {
				t.Errorf("seed %d: %+v", seed, found)
			}
		}
	}
}

// TestFindRacesInterrupted: an interrupt ends the exploration, and what it has shown is judged.
func TestFindRacesInterrupted(t *testing.T) {
	for _, program := range []simprog.Program{simprog.LostUpdate(2), lateRace(), simprog.LockedUpdate(2)} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		found, r, err := FindRaces(ctx, simprog.New(program), Options{Seed: 1}, func(p Progress) {
			if p.Executions > 1000 {
				cancel()
			}
		})
		if err != nil || r.Ended != ByInterrupt || (r.Outcome == Bug) != (len(r.Findings) > 0) || r.Outcome != Bug && r.Outcome != Interrupted {
			t.Errorf("%s: %v, %v, %v", program.Name, err, r.Ended, r.Outcome)
		}
		harmful := slices.ContainsFunc(found, func(f RaceFound) bool { return f.Verdict == Harmful })
		unconfirmed := slices.ContainsFunc(found, func(f RaceFound) bool { return f.Verdict == RaceUnconfirmed })
		if want := map[string]int{"lost-update-2": 2, "late-race": 1}[program.Name]; len(found) != want || harmful != (want == 2) || unconfirmed {
			t.Errorf("%s: %+v", program.Name, found)
		}
	}
}

// TestFindRacesNotJudged: races for which no time is left are listed all the same.
func TestFindRacesNotJudged(t *testing.T) {
	s := newSearch(simprog.New(simprog.LostUpdate(2)), Options{Seed: 1, Runs: 500, All: true, Races: RacesIgnored, WatchMore: true}, nil)
	if _, err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	found, all, err := s.examine(over)
	s.judgedPartly(found, "interrupted")
	if err != nil || all || len(found) != 2 {
		t.Fatalf("%+v, %t, %v", found, all, err)
	}
	for _, f := range found {
		if f.Verdict != RaceUnconfirmed || !strings.HasPrefix(f.Why, "interrupted before ") || f.Name == "" || f.Failure >= 0 || f.Sides[0].Where == "" {
			t.Errorf("%+v", f)
		}
	}
}
