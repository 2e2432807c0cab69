package engine

import (
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/trace"
)

// TestRaceIsTheFinding: a race does not end the search, and is the finding if nothing worse is found.
func TestRaceIsTheFinding(t *testing.T) {
	for name, late := range map[string]target.Target{"accesses sent": simprog.New(lateRace()), "watched in place": simprog.NewWatching(lateRace())} {
		file := filepath.Join(t.TempDir(), "race.hdl")
		r := find(t, late, Options{Seed: 1, Runs: 3000, Races: RacesReported, Keep: keepIn(file, "")})
		if r.Outcome != Bug || r.Ended != ByRuns || r.Executions != 3000 || r.Finding.Kind != "data race" || !r.Finding.Confirmed || r.Simplified == nil {
			t.Fatalf("%s: %+v, finding %+v", name, r, r.Finding)
		}
		written, err := trace.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range []*trace.Trace{written, r.Simplified.Recorded} {
			if _, err := Replay(t.Context(), late, tr); err != nil || tr.Ending.Kind != trace.Race || !hasAccesses(tr) && len(tr.Header.Points) == 0 {
				t.Errorf("%s: %v, %+v", name, err, tr.Ending)
			}
		}
		ended := find(t, late, Options{Seed: 1, Runs: 3000, Races: RacesFail, NoSimplify: true})
		if ended.Ended != ByFailure || ended.Finding.Execution != r.Finding.Execution || ended.Finding.Key != r.Finding.Key {
			t.Errorf("%s: a search that ends at the race finds %+v, and one that does not %+v", name, ended.Finding, r.Finding)
		}
	}
}

// TestRaceAndConsequence: the failure that a race leads to is the finding, though the race is seen first.
func TestRaceAndConsequence(t *testing.T) {
	lost := simprog.LostUpdate(2)
	r := find(t, simprog.New(lost), Options{Seed: 1, Runs: 3000, Races: RacesReported, NoSimplify: true})
	if r.Outcome != Bug || r.Ended != ByFailure || r.Finding.Kind != "assertion" || r.Finding.Execution == 1 || len(r.Races) == 0 {
		t.Errorf("%+v, finding %+v", r, r.Finding)
	}
	if r := find(t, simprog.New(lost), Options{Seed: 1, Runs: 3000, Races: RacesFail, NoSimplify: true}); r.Finding == nil || r.Finding.Kind != "data race" {
		t.Errorf("with RacesFail, the finding is %+v", r.Finding)
	}
	r = find(t, simprog.New(lost), Options{Seed: 1, Runs: 3000, Races: RacesReported, NoSimplify: true, All: true})
	kinds := map[string]int{}
	for _, f := range r.Findings {
		kinds[f.Finding.Kind]++
	}
	if kinds["assertion"] != 1 || kinds["data race"] == 0 || r.Ended != ByRuns {
		t.Errorf("with All: %v", kinds)
	}
	if r := find(t, simprog.New(lost), Options{Seed: 1, Runs: 300, Ignore: []string{r.Findings[0].Finding.Key}}); len(r.Races) == 0 {
		t.Errorf("with RacesIgnored, no race is listed: %+v", r)
	}
}

// TestRaceBehindIgnoredFailure: a race of executions that all end in an ignored failure is a finding,
// and its trace replays and can be simplified.
func TestRaceBehindIgnoredFailure(t *testing.T) {
	asserts := simprog.Program{Name: "asserts", Main: func(t *simprog.Thread) {
		x, m := t.Var(0), t.Mutex()
		one := t.Go(func(t *simprog.Thread) {
			t.Lock(m)
			t.Unlock(m)
			t.Write(x, 1)
		})
		t.Lock(m)
		t.Unlock(m)
		t.Write(x, 2)
		t.Join(one)
		t.Assert(false, "never")
	}}
	for name, failing := range map[string]target.Target{"accesses sent": simprog.New(asserts), "watched in place": simprog.NewWatching(asserts)} {
		assertion := find(t, failing, Options{Runs: 100, Races: RacesReported, NoSimplify: true})
		if assertion.Finding == nil || assertion.Finding.Kind != "assertion" {
			t.Fatalf("%s: %+v", name, assertion)
		}
		for _, races := range []Races{RacesReported, RacesFail} {
			r := find(t, failing, Options{Runs: 500, Races: races, Ignore: []string{assertion.Finding.Key}})
			if r.Outcome != Bug || r.Finding.Kind != "data race" || !r.Finding.Confirmed || r.Simplified == nil || !r.Simplified.Confirmed {
				t.Fatalf("%s, races %d: %+v, finding %+v, simplified %+v", name, races, r, r.Finding, r.Simplified)
			}
			for _, tr := range []*trace.Trace{r.Finding.Recorded, r.Simplified.Recorded} {
				if err := trace.Validate(tr); err != nil {
					t.Error(err)
				}
				if _, err := Replay(t.Context(), failing, tr); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if r := find(t, failing, Options{Runs: 500, Ignore: []string{assertion.Finding.Key}}); r.Outcome != OnlyIgnored {
			t.Errorf("%s: with RacesIgnored: %+v", name, r)
		}
	}
}
