package engine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// watchedPrograms are programs with and without races.
func watchedPrograms() []simprog.Program {
	return []simprog.Program{
		simprog.LostUpdate(3), simprog.LockedUpdate(2), simprog.ABBA(), simprog.LostWakeup(), simprog.OrderViolation(),
		simprog.UseAfterFree(), simprog.ExitStatus(), simprog.TwoStage(), lateRace(),
	}
}

// TestSameSearchInPlace: a search learns the same from a target that watches as from one that sends
// all accesses, so both searches are the same, up to the trace of the finding and the way of its simplification: static merging
// sees in recordings with accesses what depends on what.
func TestSameSearchInPlace(t *testing.T) {
	raced := 0
	for _, program := range watchedPrograms() {
		for seed := range uint64(4) {
			opts := Options{Seed: seed, Runs: 1500, Races: racesFail(seed%2 == 1)}
			sent, inPlace := find(t, simprog.New(program), opts), find(t, simprog.NewWatching(program), opts)
			raced += len(sent.Races)
			for _, r := range []*Report{sent, inPlace} {
				r.Seconds, r.PerSecond = 0, 0
				if r.Finding != nil {
					slices.Sort(r.Finding.Threads) // which comes first is up to the simplification
				}
				if r.Simplified != nil {
					r.Simplified.Seconds, r.Simplified.Executions, r.Simplified.Details = 0, 0, nil
				}
			}
			a, b := asJSON(t, sent), asJSON(t, inPlace)
			if a != b {
				t.Errorf("%s, seed %d: in place\n%s\naccesses sent\n%s", program.Name, seed, b, a)
			}
			if sent.Finding == nil || sent.Finding.Kind != trace.Race.String() {
				continue
			}
			// Only the recordings of a race have accesses, with either kind of target.
			if !hasAccesses(sent.Simplified.Recorded) || !hasAccesses(inPlace.Simplified.Recorded) || !hasAccesses(inPlace.Finding.Recorded) {
				t.Errorf("%s, seed %d: the recording of a race lacks its accesses", program.Name, seed)
			}
		}
	}
	if raced == 0 {
		t.Error("no execution raced")
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSearchRecordsOnDemand: where the target watches, few executions of the exploration record
// accesses that are not scheduling points, and a bounded number of them: the first of race-directed
// testing, from which it predicts, and three from which CTrigger learns. A race's confirmation, its replays and the simplified
// result do, and so do, of a short execution, the trials that show that a result is minimal.
func TestSearchRecordsOnDemand(t *testing.T) {
	program := simprog.NewWatching(lateRace())
	streamed, recorded, watched, found := 0, 0, 0, false
	spy := planSpy{Watching: program, seen: func(p *schedule.Plan, stream bool) {
		switch {
		case p.Watcher != nil:
			t.Error("accesses were sent")
		case !stream:
			found = true // confirmation has begun
			if p.Accesses {
				recorded++
			}
		case p.Accesses && !found:
			if p.MaxAccesses == 0 {
				t.Error("the accesses of an execution of the exploration are not bounded")
			}
			streamed++
		case p.Accesses:
		case p.Watch:
			watched++
		}
	}}
	r := find(t, spy, Options{Seed: 1, Runs: 3000, Races: RacesFail})
	// Confirmation, its replay, the simplified execution, its replay.
	if r.Finding == nil || r.Simplified == nil || streamed > 4 || recorded > 20 || recorded < 2 || watched == 0 {
		t.Errorf("accesses recorded in %d executions of the exploration and %d others, %d watched: %+v", streamed, recorded, watched, r.Finding)
	}
}

// planSpy is a target that watches and shows its plans.
type planSpy struct {
	simprog.Watching
	seen func(p *schedule.Plan, stream bool)
}

func (s planSpy) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	s.seen(&p, false)
	return s.Watching.Run(ctx, p)
}

func (s planSpy) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	return s.Watching.Stream(ctx, func() (schedule.Plan, bool) {
		p, ok := next()
		if ok {
			s.seen(&p, true)
		}
		return p, ok
	}, done)
}

// TestInPlaceIsObservation: for one execution, what a target watches and what an Observer sees is the
// same, whether or not the execution is recorded.
func TestInPlaceIsObservation(t *testing.T) {
	for _, program := range watchedPrograms() {
		for seed := range uint64(20) {
			var o observe.Observer
			plan := schedule.Plan{Seed: seed, Policy: schedule.Random, Record: true, Watcher: &o}
			out, err := simprog.New(program).Run(context.Background(), plan)
			if err != nil {
				t.Fatal(err)
			}
			want := o.Seen()
			points := race.Sites(want.Races)
			for _, record := range []bool{true, false} {
				plan.Record, plan.Watch, plan.Watcher = record, true, nil
				w, err := simprog.NewWatching(program).Run(context.Background(), plan)
				if err != nil {
					t.Fatal(err)
				}
				got := observe.InPlace(&w, nil)
				pairs := func(s observe.Observation) (out [][2]race.Access) {
					for _, r := range s.Races {
						out = append(out, r.Pair)
					}
					return out
				}
				if !slices.Equal(pairs(got), pairs(want)) || !maps.Equal(got.Accesses, want.Accesses) || got.More || got.Incomplete != "" {
					t.Errorf("%s, seed %d: %+v, want %+v", program.Name, seed, got, want)
				}
				if record && got.Sync != want.Sync {
					t.Errorf("%s, seed %d: %d scheduling points of synchronisation, want %d", program.Name, seed, got.Sync, want.Sync)
				}
				slices.SortFunc(got.Races, race.Race.Before)
				slices.SortFunc(want.Races, race.Race.Before)
				if !slices.Equal(pairs(got), pairs(want)) {
					t.Errorf("%s, seed %d: in another order: %+v, want %+v", program.Name, seed, got.Races, want.Races)
				}
				for i, r := range got.Races {
					x := want.Races[i]
					if r.First != -1 || r.Witness != x.Witness || r.Object != x.Object || r.Size != x.Size {
						t.Errorf("%s, seed %d: %+v, want %+v", program.Name, seed, r, x)
					}
				}
			}
			// Without a trace, the plan's own points are not counted either. A thread's start is an
			// event, but none of the points that the outcome counts; a thread in a deadlock has come to
			// a point, but passes it in no event.
			plan.Record, plan.Points = false, points
			w, err := simprog.NewWatching(program).Run(context.Background(), plan)
			if err != nil {
				t.Fatal(err)
			}
			plan.Record, plan.Watch, plan.Watcher = true, false, &o
			if out, err = simprog.New(program).Run(context.Background(), plan); err != nil {
				t.Fatal(err)
			}
			if got, want := observe.InPlace(&w, points).Sync, o.Seen().Sync; out.Points != w.Points || max(got-want, want-got) > len(out.Trace.Threads) {
				t.Errorf("%s, seed %d: %d points of synchronisation without a trace, %d in the trace", program.Name, seed, got, want)
			}
		}
	}
}

// TestStackOfEarlierAccess: the call stack of a race's earlier access is found if the trace has the
// access.
func TestStackOfEarlierAccess(t *testing.T) {
	heap := trace.MakeObject(trace.RegionHeap, 0, 0x40)
	stack := trace.MakeObject(trace.RegionStack, 0, 0x40)
	site := trace.MakeSite(0, 1)
	tr := &trace.Trace{Events: []trace.Event{
		{Thread: 1, Op: trace.OpWriteRange, Site: site, Object: heap, Size: 16, Stack: 1},
		{Thread: 2, Op: trace.OpWriteRange, Site: site, Object: heap, Size: 16, Stack: 2},     // another thread
		{Thread: 1, Op: trace.OpReadRange, Site: site, Object: heap, Size: 16, Stack: 3},      // another operation
		{Thread: 1, Op: trace.OpWriteRange, Site: site, Object: heap + 32, Size: 8, Stack: 4}, // other memory
		{Thread: 1, Op: trace.OpWriteRange, Site: site, Object: stack, Size: 16, Stack: 5},
		{Thread: 0, Op: trace.OpRead, Site: site + 1, Object: heap + 8, Size: 4},
		{Thread: 1, Op: trace.OpWriteRange, Site: site, Object: heap, Size: 16, Stack: 6}, // later
	}}
	for _, test := range []struct {
		object trace.Object
		event  int
		want   uint32
	}{{heap + 8, 5, 1}, {heap + 8, 7, 6}, {heap + 16, 5, 0}, {stack - 8, 5, 5}, {stack + 8, 5, 0}, {heap + 8, 0, 0}, {heap + 8, 99, 6}} {
		r := race.Race{First: -1, Event: test.event}
		r.Witness[0] = trace.Access{Thread: 1, Op: trace.OpWriteRange, Site: site, Object: test.object, Size: 4}
		if got := stackBefore(tr, &r); got != test.want {
			t.Errorf("%#x before event %d: stack %d, want %d", uint64(test.object), test.event, got, test.want)
		}
	}
}
