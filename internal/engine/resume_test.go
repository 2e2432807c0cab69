package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// course is a loop reduced to the contract of strategies; it can stop after any execution.
type course struct {
	t          *testing.T
	worker     Worker
	window     int
	strategy   strategy.Strategy
	flight     []strategy.InFlight
	plans      []schedule.Plan // made by the strategy
	behaviours map[uint64]bool
	executions int
}

func (c *course) show(r *strategy.Request, x *Execution, index int, last bool) {
	fresh := !c.behaviours[x.Outcome.Signature]
	c.behaviours[x.Outcome.Signature] = true
	c.executions++
	c.strategy.Observe(&strategy.Observation{Request: r, Index: index, Last: last, Outcome: x.Outcome, Seen: x.Seen, New: fresh})
}

// carryOut runs one execution.
func (c *course) carryOut(r *strategy.Request, index int, last bool) {
	given := false
	plan := r.Plan
	plan.Seed += uint64(index)
	plan.Repeat = 1
	err := c.worker.Work(context.Background(), func() (Job, bool) {
		first := !given
		given = true
		return Job{Plan: plan, Observe: r.Observe}, first
	}, func(x *Execution) bool {
		c.show(r, x, index, last)
		return true
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// run continues until the total number of executions is reached, or the search is complete.
func (c *course) run(executions int) {
	for c.executions < executions {
		for len(c.flight) < c.window {
			r, ok := c.strategy.Next(-1)
			if !ok {
				break
			}
			r.Plan.Repeat = max(1, r.Plan.Repeat)
			c.plans = append(c.plans, r.Plan)
			c.flight = append(c.flight, strategy.InFlight{Request: r})
		}
		if len(c.flight) == 0 {
			return
		}
		f := &c.flight[0]
		f.Observed++
		c.carryOut(&f.Request, f.Observed-1, f.Observed == f.Request.Plan.Repeat)
		if f.Observed == f.Request.Plan.Repeat {
			c.flight = c.flight[1:]
		}
	}
}

// TestResume: a search saved after any execution and resumed in another process makes the plans
// that it would have made.
func TestResume(t *testing.T) {
	const executions = 400
	for name, search := range map[string]func(strategy.Setting) strategy.Strategy{
		"portfolio": func(s strategy.Setting) strategy.Strategy { return strategy.NewPortfolio(s) },
		"two": func(s strategy.Setting) strategy.Strategy {
			return strategy.NewPortfolio(s, strategy.PCT{}, strategy.Stay{})
		},
		"chess":         func(s strategy.Setting) strategy.Strategy { return newChess(s, true) },
		"feedback":      func(s strategy.Setting) strategy.Strategy { return newFeedback(s) },
		"reads-from":    func(s strategy.Setting) strategy.Strategy { return strategy.NewFeedback(s) },
		"ctrigger":      func(s strategy.Setting) strategy.Strategy { return strategy.NewCTrigger(s) },
		"race-directed": func(s strategy.Setting) strategy.Strategy { return strategy.NewRaceDirected(s) },
		"surw":          func(s strategy.Setting) strategy.Strategy { return strategy.NewSURW(s) },
	} {
		for _, program := range []simprog.Program{simprog.TwoStage(), simprog.LostUpdate(3), crossing(3)} {
			if name == "chess" && program.Name != "crossing-3" {
				continue // its threads do not all end
			}
			setting := strategy.Setting{Build: program.Name, Seed: 5, RacesFail: name == "two"}
			// A small window leaves plans of a round with the strategy.
			window := map[bool]int{true: 5, false: strategy.Window}[program.Name == "two-stage"]
			begin := func() *course {
				c := &course{t: t, window: window, worker: Local(simprog.New(program)), strategy: search(setting), behaviours: map[uint64]bool{}}
				first := strategy.FirstRequest(&setting)
				c.carryOut(&first, 0, true)
				return c
			}
			whole := begin()
			whole.run(executions)
			for _, at := range []int{1, 2, 17, 64, 111, 250} {
				half := begin()
				half.run(at)
				saved, err := strategy.Save(half.strategy, setting, half.flight)
				if err != nil {
					t.Fatal(err)
				}
				other := &course{t: t, window: window, worker: half.worker, strategy: search(setting), behaviours: half.behaviours, executions: half.executions, plans: half.plans}
				if other.flight, err = strategy.Restore(saved, other.strategy, setting); err != nil {
					t.Fatal(err)
				}
				other.run(executions)
				least := 30
				if name == "ctrigger" {
					least = 3 // it ends
				}
				if len(whole.plans) < least || len(other.plans) != len(whole.plans) {
					t.Errorf("%s on %s, from %d on: %d plans, want %d", name, program.Name, at, len(other.plans), len(whole.plans))
					continue
				}
				for i := range whole.plans {
					if a, b := marshalled(t, whole.plans[i]), marshalled(t, other.plans[i]); !bytes.Equal(a, b) {
						t.Errorf("%s on %s, from %d on: plan %d is %+v, want %+v", name, program.Name, at, i, other.plans[i], whole.plans[i])
						break
					}
				}
			}
		}
	}
}

func marshalled(t *testing.T, p schedule.Plan) []byte {
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRestoreRefuses: a state of another search, program or version, or a damaged one, is rejected.
func TestRestoreRefuses(t *testing.T) {
	setting := strategy.Setting{Build: "abc", Seed: 7, Points: []trace.Site{3}}
	p := strategy.NewPortfolio(setting)
	r, _ := p.Next(-1)
	saved, err := strategy.Save(p, setting, []strategy.InFlight{{Request: r}})
	if err != nil {
		t.Fatal(err)
	}
	if flight, err := strategy.Restore(saved, strategy.NewPortfolio(setting), setting); err != nil || len(flight) != 1 || !reflect.DeepEqual(flight[0].Request, r) {
		t.Fatalf("%v, %+v, want %+v", err, flight, r)
	}
	edited := func(change func(map[string]any)) []byte {
		var m map[string]any
		if err := json.Unmarshal(saved, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	other := func(change func(*strategy.Setting)) strategy.Setting {
		s := setting
		change(&s)
		return s
	}
	for _, test := range []struct {
		name    string
		data    []byte
		setting strategy.Setting
		with    []strategy.Sampler
		want    string
	}{
		{"build", saved, other(func(s *strategy.Setting) { s.Build = "def" }), nil, "it is a search of build abc, and this is build def"},
		{"seed", saved, other(func(s *strategy.Setting) { s.Seed = 8 }), nil, "it was started with other options"},
		{"points", saved, other(func(s *strategy.Setting) { s.Points = nil }), nil, "it was started with other options"},
		{"races", saved, other(func(s *strategy.Setting) { s.RacesFail = true }), nil, "it was started with other options"},
		{"strategy", saved, setting, []strategy.Sampler{strategy.POS{}}, `it was made by "portfolio feedback race-directed ctrigger random pct stay pos", and not by "portfolio pos"`},
		{"version", edited(func(m map[string]any) { m["version"] = 1 }), setting, nil, "it is version 1"},
		{"kind", edited(func(m map[string]any) { m["heddle"] = "trace" }), setting, nil, `of "trace"`},
		{"points version", edited(func(m map[string]any) { m["pointsVersion"] = 2 }), setting, nil, "version 2 of scheduling points"},
		{"field", edited(func(m map[string]any) { m["more"] = true }), setting, nil, "unknown field"},
		{"flight", edited(func(m map[string]any) { m["inFlight"].([]any)[0].(map[string]any)["observed"] = 99 }), setting, nil, "99 of 1 executions of a plan have been observed"},
		{"plan", edited(func(m map[string]any) { m["inFlight"].([]any)[0].(map[string]any)["plan"] = "AAAA" }), setting, nil, "plan cannot be read"},
		{"state", edited(func(m map[string]any) { m["state"] = "e30=" }), setting, nil, "its portfolio has 0 arms"},
		{"cut", saved[:len(saved)/2], setting, nil, "unexpected EOF"},
		{"longer", append(bytes.Clone(saved), '1'), setting, nil, "data follows its end"},
		{"empty", nil, setting, nil, "EOF"},
	} {
		_, err := strategy.Restore(test.data, strategy.NewPortfolio(test.setting, test.with...), test.setting)
		if !errors.Is(err, strategy.ErrState) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestFindResumes: a search interrupted at any time and resumed finds what it would have found, in
// the same execution.
func TestFindResumes(t *testing.T) {
	for _, program := range []simprog.Program{simprog.TwoStage(), simprog.StandStill(10), simprog.LockedUpdate(3)} {
		for _, at := range []int{1, 2, 5, 30, 77, 300} {
			opts := Options{Seed: 2, Runs: 600, NoSimplify: true}
			want := find(t, simprog.New(program), opts)
			if want.Finding != nil && want.Executions <= at {
				continue
			}
			ctx, cancel := context.WithCancel(context.Background())
			n := 0
			half := &meddler{Target: simprog.New(program), after: func(*schedule.Plan, *schedule.Outcome) {
				if n++; n == at {
					cancel()
				}
			}}
			var state []byte
			opts.Save = func(b []byte) error {
				state = b
				return nil
			}
			r, err := Find(ctx, half, opts, nil)
			if !errors.Is(err, context.Canceled) || r.Executions != at || state == nil {
				t.Fatalf("%s, at %d: %v, %+v", program.Name, at, err, r)
			}
			opts.Resume = state
			got := find(t, simprog.New(program), opts)
			got.Races = want.Races // the second half does not have races from before the interrupt
			if a, b := stripped(want), stripped(got); a != b {
				t.Errorf("%s, interrupted after %d:\n%s, want\n%s", program.Name, at, b, a)
			}
			zero := int32(0)
			for _, other := range []func(*Options){
				func(o *Options) { o.Spurious = true },
				func(o *Options) { o.ExpectStatus = &zero },
				func(o *Options) { o.Seed = 3 },
				func(o *Options) {
					o.Resume = bytes.Replace(state, fmt.Appendf(nil, `"version":%d`, resumeVersion), []byte(`"version":99`), 1)
				},
				func(o *Options) { o.Resume = state[:len(state)-10] },
			} {
				o := opts
				other(&o)
				if _, err := Find(context.Background(), simprog.New(program), o, nil); !errors.Is(err, strategy.ErrState) {
					t.Errorf("%s: another search goes on: %v", program.Name, err)
				}
			}
		}
	}
}

func TestBehavioursMarshal(t *testing.T) {
	b := newBehaviours()
	for i := range uint64(100) {
		b.add(i*i%37, i/3)
	}
	data, err := b.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again behaviours
	if err := again.UnmarshalBinary(data); err != nil || !reflect.DeepEqual(b, again) {
		t.Errorf("%v, %+v, want %+v", err, again, b)
	}
	for n := range len(data) - 1 {
		if n < 20 || (n-20)%15 != 0 {
			if err := again.UnmarshalBinary(data[:n]); err == nil {
				t.Errorf("%d of %d bytes are enough", n, len(data))
			}
		}
	}
}

// TestResumeRuns: a search in two parts, split by Options.Runs in the middle of plans and turns, shows
// what one search shows.
func TestResumeRuns(t *testing.T) {
	searches := map[string]func(strategy.Setting) strategy.Strategy{
		"samplers": func(s strategy.Setting) strategy.Strategy { return strategy.NewPortfolio(s, strategy.Samplers()...) },
		"default":  nil,
	}
	for name, search := range searches {
		for _, program := range []simprog.Program{simprog.LockedUpdate(4), simprog.LockedUpdate(3)} {
			part := func(runs int, saved []byte) (*Report, []byte) {
				r, err := Find(t.Context(), simprog.NewWatching(program), Options{Seed: 2, Runs: runs, Search: search, Resume: saved, Save: func(b []byte) error { saved = b; return nil }}, nil)
				if err != nil {
					t.Fatal(err)
				}
				return r, saved
			}
			const runs = 1500
			whole, _ := part(runs, nil)
			if whole.Executions != runs || whole.Behaviours < 2 {
				t.Fatalf("%s on %s: %d executions, %d behaviours", name, program.Name, whole.Executions, whole.Behaviours)
			}
			for _, at := range []int{1, 5, 50, 51, 500, 1003} {
				first, saved := part(at, nil)
				second, saved := part(at+1, saved)
				third, _ := part(runs, saved)
				if first.Executions != at || second.Executions != at+1 || third.Executions != runs || third.Behaviours != whole.Behaviours || third.Newest != whole.Newest {
					t.Errorf("%s on %s, from %d on: %d, %d, %d executions, %d behaviours, the last new one in execution %d; want %d behaviours, %d",
						name, program.Name, at, first.Executions, second.Executions, third.Executions, third.Behaviours, third.Newest, whole.Behaviours, whole.Newest)
				}
			}
		}
	}
}
