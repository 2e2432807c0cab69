package engine

import (
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// remote is a worker at the other end of a connection, which carries plans and outcomes in
// marshalled form only.
type remote struct {
	out *gob.Encoder
	in  *gob.Decoder
}

type wireJob struct {
	Plan    []byte
	Observe bool
}

type wireExecution struct {
	Tag     uint64
	Outcome []byte // empty if the plan ended early
	Last    bool
	Seen    []byte // JSON
}

// connect starts the other end of a connection, with its own target.
func connect(t *testing.T, program simprog.Program) Worker {
	ours, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve(theirs, Local(simprog.New(program))) }()
	t.Cleanup(func() {
		ours.Close()
		if err := <-served; err != nil {
			t.Errorf("the remote worker: %v", err)
		}
	})
	return &remote{out: gob.NewEncoder(ours), in: gob.NewDecoder(ours)}
}

// serve carries out jobs one after the other until the connection is closed.
func serve(conn net.Conn, w Worker) error {
	in, out := gob.NewDecoder(conn), gob.NewEncoder(conn)
	for {
		var j wireJob
		if err := in.Decode(&j); err != nil {
			return nil // closed
		}
		var plan schedule.Plan
		if err := plan.UnmarshalBinary(j.Plan); err != nil {
			return err
		}
		given := false
		var failed error
		err := w.Work(context.Background(), func() (Job, bool) {
			first := !given
			given = true
			return Job{Plan: plan, Observe: j.Observe}, first
		}, func(x *Execution) bool {
			wire := wireExecution{Tag: x.Tag, Last: x.Last}
			if x.Outcome != nil {
				wire.Outcome, failed = x.Outcome.MarshalBinary()
			}
			if x.Seen != nil && failed == nil {
				wire.Seen, failed = json.Marshal(x.Seen)
			}
			if failed == nil {
				failed = out.Encode(wire)
			}
			return failed == nil
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
}

func (r *remote) Work(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
	for {
		j, ok := next()
		if !ok {
			return ctx.Err()
		}
		plan, err := j.Plan.MarshalBinary()
		if err == nil {
			err = r.out.Encode(wireJob{plan, j.Observe})
		}
		wanted := true
		for last := false; err == nil && !last; {
			var wire wireExecution
			if err = r.in.Decode(&wire); err != nil {
				break
			}
			x := Execution{Tag: wire.Tag, Last: wire.Last}
			if wire.Outcome != nil {
				x.Outcome = new(schedule.Outcome)
				err = x.Outcome.UnmarshalBinary(wire.Outcome)
			}
			if wire.Seen != nil && err == nil {
				x.Seen = new(observe.Observation)
				err = json.Unmarshal(wire.Seen, x.Seen)
			}
			last = wire.Last
			wanted = wanted && err == nil && done(&x)
		}
		if err != nil || !wanted {
			return err
		}
	}
}

// backwards is a worker that takes as many jobs as it can and reports the last one first.
type backwards struct{ Worker }

func (b backwards) Work(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
	for {
		var jobs []Job
		for len(jobs) < 50 {
			j, ok := next()
			if !ok {
				break
			}
			jobs = append(jobs, j)
		}
		if len(jobs) == 0 {
			return ctx.Err()
		}
		for len(jobs) > 0 {
			j := jobs[len(jobs)-1]
			jobs = jobs[:len(jobs)-1]
			given, wanted := false, true
			err := b.Worker.Work(ctx, func() (Job, bool) {
				first := !given
				given = true
				return j, first
			}, func(x *Execution) bool {
				wanted = wanted && done(x)
				return wanted
			})
			if err != nil || !wanted {
				return err
			}
		}
	}
}

// slow is a worker that delays results, some more than others.
type slow struct{ Worker }

func (s slow) Work(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
	return s.Worker.Work(ctx, next, func(x *Execution) bool {
		time.Sleep(time.Duration(x.Tag*2654435761%29) * time.Microsecond)
		return done(x)
	})
}

// TestWorkers: the report does not depend on which worker runs a plan, nor on the order of
// outcomes.
func TestWorkers(t *testing.T) {
	searches := map[string]func(strategy.Setting) strategy.Strategy{
		"portfolio": nil,
		"chess":     func(s strategy.Setting) strategy.Strategy { return newChess(s, true) },
		"feedback":  func(s strategy.Setting) strategy.Strategy { return newFeedback(s) },
	}
	for _, program := range []simprog.Program{simprog.LostUpdate(4), simprog.ABBA(), simprog.TwoStage(), simprog.StandStill(10), lateRace(), crossing(1)} {
		local := func() Worker { return Local(simprog.New(program)) }
		for name, search := range searches {
			if name == "chess" && program.Name != "abba" && program.Name != "crossing-1" {
				continue // its threads do not all end
			}
			for seed := range uint64(3) {
				opts := Options{Seed: seed, Runs: 700, Races: Races(seed), Search: search}
				want := find(t, simprog.New(program), opts)
				for kind, workers := range map[string][]Worker{
					"two":       {local(), local()},
					"five":      {slow{local()}, local(), slow{local()}, local(), local()},
					"backwards": {backwards{local()}},
					"remote":    {connect(t, program)},
					"all kinds": {slow{backwards{local()}}, connect(t, program), slow{connect(t, program)}, backwards{connect(t, program)}, local()},
				} {
					opts.Workers = workers
					got := find(t, simprog.New(program), opts)
					if a, b := stripped(want), stripped(got); a != b {
						t.Errorf("%s, %s, seed %d, %s:\n%s, want\n%s", program.Name, name, seed, kind, b, a)
					} else if want.Finding != nil && !reflect.DeepEqual(want.Finding.Recorded.Events, got.Finding.Recorded.Events) {
						t.Errorf("%s, %s, seed %d, %s: another execution", program.Name, name, seed, kind)
					}
				}
			}
		}
	}
}

// TestWorkersShare: no worker takes all the plans.
func TestWorkersShare(t *testing.T) {
	var mu sync.Mutex
	did := make([]int, 3)
	opts := Options{Runs: 5000}
	for i := range did {
		w := slow{Local(simprog.New(simprog.LockedUpdate(3)))}
		opts.Workers = append(opts.Workers, workerFunc(func(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
			return w.Work(ctx, next, func(x *Execution) bool {
				mu.Lock()
				did[i]++
				mu.Unlock()
				return done(x)
			})
		}))
	}
	if r := find(t, simprog.New(simprog.LockedUpdate(3)), opts); r.Executions != 5000 {
		t.Errorf("%+v", r)
	}
	for _, n := range did {
		if n < 500 {
			t.Errorf("the workers did %v executions", did)
		}
	}
}

type workerFunc func(context.Context, func() (Job, bool), func(*Execution) bool) error

func (f workerFunc) Work(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
	return f(ctx, next, done)
}

// TestWorkerFails: an error of one worker ends the search, regardless of the others; so does a
// worker that breaks its contract.
func TestWorkerFails(t *testing.T) {
	lost := errors.New("the worker was lost")
	program := simprog.LockedUpdate(2)
	for _, test := range []struct {
		name, want string
		work       workerFunc
	}{
		{"lost", "the worker was lost", func(ctx context.Context, next func() (Job, bool), _ func(*Execution) bool) error {
			next()
			return lost
		}},
		{"forgets", "has not carried out a plan that it took", func(ctx context.Context, next func() (Job, bool), _ func(*Execution) bool) error {
			next()
			return nil
		}},
		{"invents", "of a plan that it was not given", func(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
			next()
			done(&Execution{Tag: 1 << 40, Outcome: &schedule.Outcome{}})
			return nil
		}},
	} {
		for _, others := range []int{0, 2} {
			opts := Options{Runs: 3000, Workers: []Worker{test.work}}
			for range others {
				opts.Workers = append(opts.Workers, slow{Local(simprog.New(program))})
			}
			r, err := Find(context.Background(), simprog.New(program), opts, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || r.Outcome != Failed {
				t.Errorf("%s, with %d others: %v, %+v", test.name, others, err, r)
			}
		}
	}
}

// TestPlanEndsEarly: the search does not wait for the remaining executions of a plan that a
// worker ends early, and the strategy learns of it.
func TestPlanEndsEarly(t *testing.T) {
	program := simprog.LockedUpdate(2)
	w := Local(simprog.New(program))
	short := workerFunc(func(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
		return w.Work(ctx, func() (Job, bool) {
			j, ok := next()
			if j.Plan.Repeat > 2 {
				j.Plan.Repeat = 2 // the plan then ends before the loop expects it
			}
			return j, ok
		}, func(x *Execution) bool {
			if x.Last && x.Tag%2 == 0 {
				x.Last = false
				return done(x) && done(&Execution{Tag: x.Tag, Last: true})
			}
			return done(x)
		})
	})
	r := find(t, simprog.New(program), Options{Runs: 400, Workers: []Worker{short}})
	if r.Outcome != Nothing || r.Executions != 400 || r.Ended != ByRuns {
		t.Errorf("%+v", r)
	}
}

// TestLocalReportsPlansThatEnded: when a target continues with the next plan, the previous one has
// ended; when its stream ends, all have.
func TestLocalReportsPlansThatEnded(t *testing.T) {
	plans := []schedule.Plan{{Tag: 1, Repeat: 3}, {Tag: 2, Repeat: 1}, {Tag: 3, Repeat: 2}, {Tag: 4, Repeat: 2}}
	w := Local(streamFunc{simprog.New(simprog.ABBA()), func(next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) {
		for range plans {
			next()
		}
		done(plans[0], schedule.Outcome{Index: 0})
		done(plans[1], schedule.Outcome{Index: 0})
		done(plans[3], schedule.Outcome{Index: 0})
	}})
	n := 0
	var got []Execution
	err := w.Work(context.Background(), func() (Job, bool) {
		if n == len(plans) {
			return Job{}, false
		}
		n++
		return Job{Plan: plans[n-1]}, true
	}, func(x *Execution) bool {
		c := *x
		if c.Outcome != nil {
			c.Outcome = &schedule.Outcome{}
		}
		got = append(got, c)
		return true
	})
	o := &schedule.Outcome{}
	want := []Execution{{Tag: 1, Outcome: o}, {Tag: 1, Last: true}, {Tag: 2, Outcome: o, Last: true}, {Tag: 3, Last: true}, {Tag: 4, Outcome: o}, {Tag: 4, Last: true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %+v, want %+v", err, got, want)
	}
}

type streamFunc struct {
	*simprog.Target
	stream func(func() (schedule.Plan, bool), func(schedule.Plan, schedule.Outcome) bool)
}

func (s streamFunc) Stream(_ context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	s.stream(next, done)
	return nil
}

// TestPlansHaveInCommon: with every strategy, all plans of a search stop at a failure, have the
// user's settings, and are distinguishable.
func TestPlansHaveInCommon(t *testing.T) {
	eight := int32(8)
	tags := map[uint64]bool{}
	w := Local(simprog.New(simprog.ExitStatus()))
	spied := workerFunc(func(ctx context.Context, next func() (Job, bool), done func(*Execution) bool) error {
		return w.Work(ctx, func() (Job, bool) {
			j, ok := next()
			p := &j.Plan
			if ok && (tags[p.Tag] || !p.Stop || p.MaxSteps != 77 || p.ExpectStatus != 8 || !p.Spurious || p.Delays != schedule.AnyDelays || p.Repeat < 1) {
				t.Errorf("%+v", p)
			}
			tags[p.Tag] = true
			return j, ok
		}, done)
	})
	r := find(t, simprog.New(simprog.ExitStatus()), Options{ExpectStatus: &eight, MaxSteps: 77, Spurious: true, EarlyTimeouts: true, Workers: []Worker{spied}, NoSimplify: true})
	if r.Outcome != Bug || r.Finding.Kind != trace.Exit.String() {
		t.Errorf("%+v", r)
	}
}
