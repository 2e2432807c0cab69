package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// until waits for ctx, like a target whose execution does not end.
func until(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// patient is a target that a test can make slow.
type patient struct {
	meddler
	slow func(context.Context, schedule.Plan) error
}

func (p *patient) Run(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
	if err := p.slow(ctx, plan); err != nil {
		return schedule.Outcome{}, err
	}
	return p.meddler.Run(ctx, plan)
}

func (p *patient) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	if err := p.slow(ctx, schedule.Plan{}); err != nil {
		return err
	}
	return p.meddler.Stream(ctx, next, done)
}

// TestUnfinished: an exploration in which no execution ended makes no statement about the program.
func TestUnfinished(t *testing.T) {
	target := &patient{meddler{Target: simprog.New(simprog.LockedUpdate(2))}, func(ctx context.Context, _ schedule.Plan) error { return until(ctx) }}
	// Without the limit it would not end.
	r, err := Find(context.Background(), target, Options{Time: 10 * time.Millisecond}, nil)
	if err != nil || r.Outcome != Unfinished || r.Ended != ByTime || r.Executions != 0 {
		t.Errorf("%v, %+v", err, r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	r, err = Find(ctx, target, Options{}, nil)
	if !errors.Is(err, context.Canceled) || r.Outcome != Interrupted || r.Executions != 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestCutShort: an execution that runs when the time limit is reached counts if it is the only one, or has gone on for far longer than the
// others; a search with such an execution is not clean.
func TestCutShort(t *testing.T) {
	const limit = 50 * time.Millisecond
	positions := []trace.Waiter{{Thread: 0, Op: trace.OpThreadJoin, Site: trace.MakeSite(0, 1), Holder: 1}, {Thread: 1, Site: trace.MakeSite(0, 2), Holder: -1, Ready: true}}
	for _, test := range []struct {
		name   string
		before int // executions
		points int // of the last one
		quiet  int // its stretches
		still  time.Duration
		counts bool
	}{
		{"first", 0, 3, 0, 0, true}, {"ordinary", 5, 100, 10, 0, false}, {"long", 5, 20_000, 0, 0, true}, {"walks", 5, 3, 40, 0, true},
		{"without points", 5, 3, 0, 2 * time.Second, true},
	} {
		for _, interrupt := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", test.name, interrupt), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				calls := 0
				p := &meddler{Target: simprog.New(simprog.LockedUpdate(2)), before: func(schedule.Plan) error {
					if calls++; calls <= test.before {
						return nil
					}
					if interrupt {
						cancel()
					} else {
						time.Sleep(2 * limit)
					}
					o := schedule.Outcome{Points: test.points, Stretches: test.quiet, Ending: trace.Ending{Kind: trace.Unfinished, Message: trace.CutByTime, Waiters: positions}}
					return &target.CutError{Outcome: o, Still: test.still, Err: context.Canceled}
				}}
				r, err := Find(ctx, p, Options{Time: limit}, nil)
				u := r.Unfinished
				if (u != nil) != test.counts || (err != nil) != interrupt {
					t.Fatalf("%v, %+v", err, r)
				}
				want := Nothing
				switch {
				case interrupt:
					want = Interrupted
				case test.counts:
					want = Unfinished
				}
				if r.Outcome != want {
					t.Errorf("outcome %v, want %v", r.Outcome, want)
				}
				if u == nil {
					return
				}
				if u.Execution != test.before+1 || r.Executions != test.before+1 || u.Points != test.points || len(u.Threads) != 2 ||
					u.Threads[0].Text != "blocked in pthread_join of T1" || !u.Threads[0].Blocked || u.Threads[1].Text != "runs" || u.Threads[1].Blocked {
					t.Errorf("%+v, %d executions", u, r.Executions)
				}
			})
		}
	}
}

// TestTurningEndsInTime: an execution that does not end while a race is turned ends with the time limit.
func TestTurningEndsInTime(t *testing.T) {
	turned := false
	tg := &patient{meddler{Target: simprog.New(simprog.LostUpdate(2))}, func(ctx context.Context, p schedule.Plan) error {
		if len(p.Holds) == 0 || p.Policy != schedule.Random || p.Mode != schedule.NoScript {
			return nil
		}
		turned = true
		<-ctx.Done()
		return &target.CutError{Outcome: schedule.Outcome{Points: 20_000, Ending: trace.Ending{Kind: trace.Unfinished, Message: trace.CutByTime}}, Err: ctx.Err()}
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	found, r, err := FindRaces(ctx, tg, Options{Seed: 1, Runs: 1, Time: 400 * time.Millisecond}, nil)
	if err != nil || ctx.Err() != nil || len(found) == 0 {
		t.Fatalf("%v, %+v", err, found)
	}
	if !turned || r.Unfinished == nil || r.Unfinished.Points != 20_000 {
		t.Errorf("turned %v, %+v", turned, r.Unfinished)
	}
}

// TestGraceIsShared: what outlasts a context that has ended for longer than Grace ends at once.
func TestGraceIsShared(t *testing.T) {
	ctx, cancel := limited(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	e := ctx.Value(endingKey{}).(*ending)
	e.passed(time.Now())
	e.at = e.at.Add(-Grace)
	later, stop := outlasting(ctx)
	defer stop()
	select {
	case <-later.Done():
	case <-time.After(Grace / 2):
		t.Error("it goes on")
	}
	if !outOfTime(later) {
		t.Error(context.Cause(later))
	}
}

// TestNotConfirmed: a failure whose confirmation is interrupted or runs out of time is reported as
// found but not confirmed, and its trace is written.
func TestNotConfirmed(t *testing.T) {
	for _, interrupt := range []bool{false, true} {
		for _, test := range []struct {
			name  string
			stuck func(schedule.Plan) bool // plans that do not end
			trace bool
		}{
			{"recording", func(p schedule.Plan) bool { return p.Record && p.Mode == schedule.NoScript }, false},
			{"replay", func(p schedule.Plan) bool { return p.Mode == schedule.Strict }, true},
		} {
			t.Run(fmt.Sprintf("%s/%v", test.name, interrupt), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				confirming := false
				opts := Options{Seed: 3, Time: 300 * time.Millisecond}
				if interrupt {
					opts.Time = 0
				}
				// The failing execution is not recorded when it is found.
				target := &patient{meddler{Target: simprog.New(simprog.LostUpdate(2)), after: func(p *schedule.Plan, o *schedule.Outcome) {
					if p.Mode == schedule.NoScript && o.Ending.Kind.Failed() && !confirming {
						confirming = true
						o.Trace = nil
					}
				}}, nil}
				target.slow = func(ctx context.Context, p schedule.Plan) error {
					if !confirming || !test.stuck(p) {
						return nil
					}
					if interrupt {
						cancel()
					}
					return until(ctx)
				}
				file := filepath.Join(t.TempDir(), "bug.hdl")
				opts.Keep = keepIn(file, "")
				r, err := Find(ctx, target, opts, nil) // stuck plans end only with the limit or the interrupt
				if interrupt != errors.Is(err, context.Canceled) || !interrupt && err != nil {
					t.Errorf("error %v", err)
				}
				if r.Outcome != Bug || r.Finding.Confirmed || r.Simplified != nil || r.Finding.Kind != "assertion" || r.Finding.Execution == 0 {
					t.Fatalf("%+v, %+v", r, r.Finding)
				}
				why := map[bool]string{false: "time limit reached", true: "interrupted"}[interrupt]
				if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "not confirmed: "+why+" before ") }) {
					t.Errorf("notes %q", r.Notes)
				}
				if got := r.Finding.Trace != ""; got != test.trace {
					t.Fatalf("trace %q", r.Finding.Trace)
				}
				if !test.trace {
					return
				}
				tr, err := trace.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := Replay(context.Background(), simprog.New(simprog.LostUpdate(2)), tr); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestErrorWhileConfirming: if heddle itself fails, a failure of the program is still reported.
func TestErrorWhileConfirming(t *testing.T) {
	lost := errors.New("the target was lost")
	target := &meddler{Target: simprog.New(simprog.ABBA()), before: func(p schedule.Plan) error {
		if p.Mode == schedule.Strict {
			return lost
		}
		return nil
	}}
	r, err := Find(context.Background(), target, Options{}, nil)
	if !errors.Is(err, lost) || r.Outcome != Bug || r.Finding.Confirmed || r.Finding.Recorded == nil {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestSimplifyTime: a long simplification ends at its own limit or that of the search, with the
// best result so far.
func TestSimplifyTime(t *testing.T) {
	for _, opts := range []Options{
		{Seed: 1, Simplify: SimplifyOptions{Time: 200 * time.Millisecond}},
		{Seed: 1, Time: 500 * time.Millisecond},
	} {
		target := &meddler{Target: simprog.New(simprog.LostUpdate(6)), after: func(p *schedule.Plan, _ *schedule.Outcome) {
			if p.Mode == schedule.Tolerant {
				time.Sleep(10 * time.Millisecond)
			}
		}}
		r := find(t, target, opts)
		if r.Outcome != Bug || !r.Finding.Confirmed {
			t.Fatalf("%+v", r)
		}
		if s := r.Simplified; s == nil || !s.Cut || s.Complete || !s.Confirmed {
			t.Errorf("%+v %q", s, r.Notes)
		}
	}
}

// TestEnds: a report says why the exploration ended.
func TestEnds(t *testing.T) {
	for _, test := range []struct {
		opts Options
		want End
	}{
		{Options{Runs: 10}, ByRuns},
		{Options{Time: 20 * time.Millisecond}, ByTime},
		{Options{Stale: 300}, Stale},
	} {
		if r := find(t, simprog.New(simprog.LockedUpdate(2)), test.opts); r.Ended != test.want || r.Outcome != Nothing || r.Newest == 0 || r.Unseen == nil {
			t.Errorf("want %s: %+v", test.want, r)
		}
	}
	if r := find(t, simprog.New(simprog.ABBA()), Options{NoSimplify: true}); r.Ended != ByFailure {
		t.Errorf("%+v", r)
	}
}

// TestInterrupted: the report holds the results so far, at any moment.
func TestInterrupted(t *testing.T) {
	for _, at := range []int{0, 1, 10, 100} {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		target := &meddler{Target: simprog.New(simprog.LockedUpdate(2)), before: func(schedule.Plan) error {
			if n++; n > at {
				cancel()
			}
			return nil
		}}
		if at == 0 {
			cancel()
		}
		r, err := Find(ctx, target, Options{}, nil)
		if !errors.Is(err, context.Canceled) || r == nil || r.Outcome != Interrupted || r.Executions < min(at, 1) || r.Executions > at+1 {
			t.Errorf("after %d: %v, %+v", at, err, r)
		}
	}
	// During simplification, the finding is kept, with the simplest execution so far.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	simplifying := 0
	target := &meddler{Target: simprog.New(simprog.LostUpdate(4)), before: func(p schedule.Plan) error {
		if p.Mode == schedule.Tolerant {
			if simplifying++; simplifying == 5 {
				cancel()
			}
		}
		return nil
	}}
	file := filepath.Join(t.TempDir(), "bug.hdl")
	r, err := Find(ctx, target, Options{Keep: keepIn(file, "")}, nil)
	if !errors.Is(err, context.Canceled) || r.Outcome != Bug || r.Finding.Trace != file || r.Simplified == nil || !r.Simplified.Cut {
		t.Errorf("while simplifying: %v, %+v", err, r)
	}
	if _, err := trace.ReadFile(file); err != nil {
		t.Error(err)
	}
}

// TestTime ends the exploration without an error.
func TestTime(t *testing.T) {
	r := find(t, simprog.New(simprog.LockedUpdate(2)), Options{Time: 30 * time.Millisecond})
	if r.Outcome != Nothing || r.Executions == 0 || r.Seconds > 5 {
		t.Errorf("%+v", r)
	}
	// A failure found in time is confirmed, and not simplified after the limit.
	late := false
	target := &meddler{Target: simprog.New(simprog.LostUpdate(3)), after: func(_ *schedule.Plan, o *schedule.Outcome) {
		if o.Ending.Kind.Failed() && !late {
			late = true
			time.Sleep(time.Second) // long past the limit, even if the machine stood still for a while
		}
	}}
	r = find(t, target, Options{Time: 300 * time.Millisecond})
	if !late || r.Outcome != Bug || !r.Finding.Confirmed || r.Simplified != nil || !slices.Equal(r.Notes, []string{"not simplified: time limit reached before a simpler execution was found"}) {
		t.Errorf("%+v", r)
	}
}

// The exploration ends after the smallest part of the time that was asked for.
func TestEndSooner(t *testing.T) {
	bounded, cancel := limited(t.Context(), time.Hour)
	defer cancel()
	ctx, end := context.WithCancelCause(bounded)
	defer end(nil)
	s := &search{opts: &Options{Time: time.Hour}, began: time.Now().Add(-50 * time.Minute)}
	sooner := s.shortens(end)
	sooner(0.9)
	if ctx.Err() != nil {
		t.Error("ended after 50 of 54 minutes")
	}
	sooner(0.75)
	<-ctx.Done()
	if !outOfTime(ctx) || outOfTime(bounded) {
		t.Errorf("%v, %v", context.Cause(ctx), context.Cause(bounded))
	}
}
