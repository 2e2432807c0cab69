package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// masked is a lost update, asserted before two threads take two locks in opposite orders: an
// execution that loses the update never gets to the deadlock.
//
//go:noinline
func masked() simprog.Program {
	return simprog.Program{Name: "masked", Main: func(t *simprog.Thread) {
		counter, a, b := t.Var(0), t.Mutex(), t.Mutex()
		add := func(t *simprog.Thread) { t.Write(counter, t.Read(counter)+1) }
		one, two := t.Go(add), t.Go(add)
		t.Join(one)
		t.Join(two)
		t.Assert(t.Read(counter) == 2, "counter == 2")
		one = t.Go(func(t *simprog.Thread) {
			t.Lock(a)
			t.Lock(b)
			t.Unlock(b)
			t.Unlock(a)
		})
		two = t.Go(func(t *simprog.Thread) {
			t.Lock(b)
			t.Lock(a)
			t.Unlock(a)
			t.Unlock(b)
		})
		t.Join(one)
		t.Join(two)
	}}
}

// keysOf returns the keys of masked's two bugs.
func keysOf(t *testing.T) (assertion, deadlock string) {
	t.Helper()
	r := find(t, simprog.New(masked()), Options{Seed: 1, Runs: 5000, All: true, NoSimplify: true})
	for _, f := range r.Findings {
		switch f.Finding.Kind {
		case "assertion":
			assertion = f.Finding.Key
		case "deadlock":
			deadlock = f.Finding.Key
		}
	}
	if len(r.Findings) != 2 || !finding.IsKey(assertion) || !finding.IsKey(deadlock) {
		t.Fatalf("found %+v: %q, %q", r.Findings, assertion, deadlock)
	}
	return assertion, deadlock
}

// TestIgnore: an ignored finding does not end the search and is counted, and no execution after it
// is lost: neither the rest of a repeated plan nor a plan.
func TestIgnore(t *testing.T) {
	assertion, deadlock := keysOf(t)
	for seed := range uint64(3) {
		opts := Options{Seed: seed, Runs: 5000, NoSimplify: true, Ignore: []string{assertion}}
		r := find(t, simprog.New(masked()), opts)
		if r.Outcome != Bug || r.Finding.Key != deadlock || !r.Finding.Confirmed || len(r.Ignored) != 1 || r.Ignored[0].Key != assertion {
			t.Fatalf("ignoring the assertion: %+v, %+v", r, r.Finding)
		}
		opts.Workers = []Worker{Local(simprog.New(masked())), Local(simprog.New(masked())), connect(t, masked())}
		if w := find(t, simprog.New(masked()), opts); stripped(w) != stripped(r) {
			t.Errorf("three workers:\n%s, want\n%s", stripped(w), stripped(r))
		}

		opts = Options{Seed: seed, Runs: 1234, Ignore: []string{deadlock, assertion}}
		target := simprog.New(masked())
		r = find(t, target, opts)
		if r.Outcome != Nothing || r.Ended != ByRuns || r.Executions != 1234 || target.Executions() != 1234 {
			t.Errorf("ignoring both: %+v, %d executions made", r, target.Executions())
		}
		n := 0
		for _, i := range r.Ignored {
			if i.Executions == 0 {
				t.Errorf("no execution is counted for %s", i.Key)
			}
			n += i.Executions
		}
		if n != r.Masked || n >= r.Executions {
			t.Errorf("%d ignored, %d masked, %d executions", n, r.Masked, r.Executions)
		}
	}
}

// TestIgnoreIsExact: another finding's key changes nothing about what is found.
func TestIgnoreIsExact(t *testing.T) {
	want := find(t, simprog.New(masked()), Options{Seed: 4, NoSimplify: true})
	got := find(t, simprog.New(masked()), Options{Seed: 4, NoSimplify: true, Ignore: []string{"hang#00000000"}})
	if want.Finding.Key != got.Finding.Key || want.Executions != got.Executions || got.Ignored[0].Executions != 0 {
		t.Errorf("%+v, want %+v", got.Finding, want.Finding)
	}
}

// TestOnlyIgnored: a program that never gets past an ignored finding is not called clean.
func TestOnlyIgnored(t *testing.T) {
	program := simprog.Program{Name: "always", Main: func(t *simprog.Thread) {
		v := t.Var(0)
		t.Join(t.Go(func(t *simprog.Thread) { t.Write(v, 1) }))
		t.Assert(t.Read(v) == 0, "v == 0")
	}}
	first := find(t, simprog.New(program), Options{Runs: 10, NoSimplify: true})
	r := find(t, simprog.New(program), Options{Runs: 50, Ignore: []string{first.Finding.Key}})
	if r.Outcome != OnlyIgnored || r.Executions != 50 || r.Masked != 50 || r.Ignored[0].Executions != 50 {
		t.Errorf("%+v", r)
	}
}

// TestAll: both bugs are found, each confirmed, written and simplified, with any number of workers.
func TestAll(t *testing.T) {
	for seed := range uint64(3) {
		var kept []string
		opts := Options{Seed: seed, Runs: 5000, All: true, Keep: func(tr *trace.Trace, original string) (string, error) {
			name := fmt.Sprintf("%v %v", tr.Ending.Kind, original != "")
			kept = append(kept, name)
			return name, nil
		}}
		r := find(t, simprog.New(masked()), opts)
		if r.Outcome != Bug || r.Ended != ByRuns || r.Executions != 5000 || len(r.Findings) != 2 || r.Finding != r.Findings[0].Finding {
			t.Fatalf("%+v", r)
		}
		again := 0
		for _, f := range r.Findings {
			if !f.Finding.Confirmed || f.Simplified == nil || !f.Simplified.Complete || f.Executions == 0 {
				t.Errorf("%+v", f)
			}
			again += f.Executions - 1
			for _, tr := range []*trace.Trace{f.Finding.Recorded, f.Simplified.Recorded} {
				if _, err := Replay(context.Background(), simprog.New(masked()), tr); err != nil {
					t.Error(err)
				}
			}
		}
		if again != r.Masked {
			t.Errorf("%d executions ended in a finding found before, %d are masked", again, r.Masked)
		}
		slices.Sort(kept)
		if fmt.Sprint(kept) != "[assertion false assertion true deadlock false deadlock true]" {
			t.Errorf("kept %v", kept)
		}
		opts.Keep = nil
		one := find(t, simprog.New(masked()), opts)
		opts.Workers = []Worker{Local(simprog.New(masked())), connect(t, masked())}
		two := find(t, simprog.New(masked()), opts)
		if a, b := stripped(one), stripped(two); a != b {
			t.Errorf("two workers:\n%s, want\n%s", b, a)
		}
	}
}

// TestAllResumes: an interrupted search for all findings continues, and reports those that the
// first part did not.
func TestAllResumes(t *testing.T) {
	opts := Options{Seed: 2, Runs: 3000, All: true, NoSimplify: true}
	want := find(t, simprog.New(masked()), opts)
	for _, at := range []int{1, 40, 700} {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		half := &meddler{Target: simprog.New(masked()), after: func(*schedule.Plan, *schedule.Outcome) {
			if n++; n == at {
				cancel()
			}
		}}
		var state []byte
		first := opts
		first.Save = func(b []byte) error {
			state = b
			return nil
		}
		r, err := Find(ctx, half, first, nil)
		if !errors.Is(err, context.Canceled) || state == nil {
			t.Fatalf("at %d: %v, %+v", at, err, r)
		}
		rest := opts
		rest.Resume = state
		got := find(t, simprog.New(masked()), rest)
		found := slices.Concat(r.Findings, got.Findings)
		if len(found) != len(want.Findings) || got.Executions != want.Executions || got.Masked != want.Masked {
			t.Errorf("at %d: %d findings, %d executions, %d masked; want %d, %d, %d", at, len(found), got.Executions, got.Masked, len(want.Findings), want.Executions, want.Masked)
			continue
		}
		for i, f := range found {
			if f.Finding.Key != want.Findings[i].Finding.Key || f.Finding.Execution != want.Findings[i].Finding.Execution {
				t.Errorf("at %d: finding %d is %+v, want %+v", at, i, f.Finding, want.Findings[i].Finding)
			}
		}
	}
}

// TestIgnoreRaces: an ignored race does not hide another race of the same execution.
func TestIgnoreRaces(t *testing.T) {
	program := simprog.Program{Name: "two-races", Main: func(t *simprog.Thread) {
		x, y := t.Var(0), t.Var(0) // they race in every execution
		other := t.Go(func(t *simprog.Thread) {
			t.Write(x, 1)
			t.Write(y, 1)
		})
		t.Write(x, 2)
		t.Write(y, 2)
		t.Join(other)
	}}
	all := find(t, simprog.New(program), Options{Runs: 2000, Races: RacesFail, All: true, NoSimplify: true})
	if len(all.Findings) != 2 || all.Findings[0].Finding.Kind != "data race" || all.Findings[1].Finding.Kind != "data race" {
		t.Fatalf("%+v", all)
	}
	keys := []string{all.Findings[0].Finding.Key, all.Findings[1].Finding.Key}
	for i, key := range keys {
		r := find(t, simprog.New(program), Options{Runs: 2000, Races: RacesFail, NoSimplify: true, Ignore: []string{key}})
		if r.Finding == nil || r.Finding.Key != keys[1-i] {
			t.Errorf("ignoring %s: %+v", key, r.Finding)
		}
	}
	r := find(t, simprog.New(program), Options{Runs: 2000, Races: RacesFail, Ignore: keys})
	if r.Outcome != Nothing || r.Masked != 0 || r.Ignored[0].Executions == 0 || r.Ignored[1].Executions == 0 {
		t.Errorf("ignoring both: %+v", r)
	}
}

// TestIgnoreNeedsRecording: if the outcome alone cannot say in which call of a library function a
// thread waits, the recorded execution decides.
func TestIgnoreNeedsRecording(t *testing.T) {
	recorded := false
	locate := func(s trace.Site) finding.Location {
		return finding.Location{Text: "lock", Func: "lock", Place: "mutex.h:1", Library: true}
	}
	opts := Options{Seed: 1, Runs: 400, NoSimplify: true, Locate: locate}
	first := find(t, simprog.New(simprog.ABBA()), opts)
	target := &meddler{Target: simprog.New(simprog.ABBA()), before: func(p schedule.Plan) error {
		recorded = recorded || p.Record && p.Script == nil && p.Repeat == 1
		return nil
	}}
	opts.Ignore = []string{first.Finding.Key}
	r := find(t, target, opts)
	if r.Outcome != Nothing || r.Executions != 400 || r.Ignored[0].Executions == 0 || r.Masked != r.Ignored[0].Executions || !recorded {
		t.Errorf("%+v", r)
	}
}

// TestIgnoreRunsWholePlans: an execution that ends in an ignored finding does not end its plan.
func TestIgnoreRunsWholePlans(t *testing.T) {
	assertion, deadlock := keysOf(t)
	wanted, got, failed := map[uint64]int{}, map[uint64]int{}, map[uint64]bool{}
	target := &meddler{Target: simprog.New(masked()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		wanted[p.Tag] = max(1, p.Repeat)
		got[p.Tag]++
		failed[p.Tag] = failed[p.Tag] || o.Ending.Kind.Failed() && got[p.Tag] < p.Repeat
	}}
	r := find(t, target, Options{Runs: 3000, Ignore: []string{assertion, deadlock}})
	if r.Outcome != Nothing || r.Executions != 3000 {
		t.Fatalf("%+v", r)
	}
	repeated := 0
	for tag, n := range wanted {
		if got[tag] != n {
			t.Errorf("plan %d: %d executions, want %d", tag, got[tag], n)
		}
		if failed[tag] {
			repeated++
		}
	}
	if repeated == 0 {
		t.Error("no plan of several executions had a failure before its last one")
	}
}

// TestReserved: whatever the search does, some of its time is left for the cause, and most is its own.
func TestReserved(t *testing.T) {
	for all, want := range map[time.Duration]time.Duration{
		time.Second: time.Second / 4, 3 * time.Second: 3 * time.Second / 4, 6 * time.Second: time.Second, 16 * time.Second: 2 * time.Second, time.Hour: whyTime,
	} {
		if got := reserved(all); got != want {
			t.Errorf("of %v: %v, want %v", all, got, want)
		}
	}
}

// TestShare: simplifying leaves some of a search's time to the search for the cause, and of one of several findings to the others.
func TestShare(t *testing.T) {
	const all = 12 * time.Hour
	for name, c := range map[string]struct {
		opts  Options
		given time.Duration
		most  time.Duration
	}{
		"cause":         {Options{Time: all, Why: &report.Running{}}, 0, 8 * time.Hour},
		"less is given": {Options{Time: all, Why: &report.Running{}}, time.Hour, time.Hour},
		"no cause":      {Options{Time: all}, 0, 0},
		"several":       {Options{Time: all, All: true, Why: &report.Running{}}, 0, 3 * time.Hour},
		"no limit":      {Options{Why: &report.Running{}}, 0, 0},
		"late":          {Options{Time: 240 * time.Hour, Why: &report.Running{}}, 0, 8 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := &search{opts: &c.opts, began: time.Now().Add(min(all-c.opts.Time, 0))}
			opts := SimplifyOptions{Time: c.given}
			if s.share(&opts); opts.Time > c.most || opts.Time < c.most-time.Hour {
				t.Errorf("%v, want %v", opts.Time, c.most)
			}
		})
	}
}
