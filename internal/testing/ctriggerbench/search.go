package main

import (
	"context"
	"errors"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// search is how CTrigger goes on one backend.
type search struct {
	// Profiling, Analysis and Testing are seconds until the bug, the medians of the searches (Table 5).
	Profiling float64 `json:"profiling_s"`
	Analysis  float64 `json:"analysis_s"`
	Testing   float64 `json:"testing_s"`

	// Instructions access memory of several threads. Potential and Feasible count interleavings, and the
	// instructions that are c in one of them (Table 7). They and what follows are those of the first seed.
	Instructions     int `json:"instructions"`
	Potential        int `json:"potential"`
	Feasible         int `json:"feasible"`
	Currents         int `json:"currents"`
	FeasibleCurrents int `json:"feasible_currents"`

	// Targets interleavings are to be forced. The first with a bug is number Rank by rank and number
	// FirstCome as they were seen (§6.6); 0: none.
	Targets   int `json:"targets"`
	Rank      int `json:"rank"`
	FirstCome int `json:"first_come"`
	// Ranked and Unranked are phase two until the first failure, in either order.
	Ranked   phaseTwo `json:"ranked"`
	Unranked phaseTwo `json:"unranked"`

	// Recordings has how many interleavings each recording exercised that none before had (Figure 4).
	Recordings []int `json:"recordings"`
	// Forced interleavings, which no recording of the search exercised, were exercised by forcing them;
	// Bugs of them made the program fail (Figure 9).
	Forced int `json:"forced"`
	Bugs   int `json:"bugs"`
	// Whole: forcing came to its end before the time limit. Otherwise Forced and Bugs may be more.
	Whole bool `json:"whole"`
	// Forcing is the mean time of an execution of phase two in seconds.
	Forcing float64 `json:"forcing_s"`
}

// phaseTwo is how long phase two takes to expose a bug.
type phaseTwo struct {
	Exposed    bool    `json:"exposed"`
	Executions int     `json:"executions"`
	Seconds    float64 `json:"seconds"`
}

// pruned returns the share of the potential interleavings that are infeasible, in percent.
func (s *search) pruned() float64 {
	if s.Potential == 0 {
		return 0
	}
	return 100 * float64(s.Potential-s.Feasible) / float64(s.Potential)
}

// profile takes the figures of a profile.
func (s *search) profile(p *atomicity.Profile) {
	s.Instructions = p.Shared()
	for _, i := range p.All() {
		s.Potential++
		if i.Feasible {
			s.Feasible++
		}
	}
	s.Currents, s.FeasibleCurrents = p.Currents()
}

// orders finds the first interleaving with a bug in both orders. list is by rank.
func (s *search) orders(list []atomicity.Interleaving, bug func(*atomicity.Interleaving) bool) {
	s.Targets = len(list)
	s.Rank = first(list, bug)
	seen := append([]atomicity.Interleaving(nil), list...)
	atomicity.FirstCome(seen)
	s.FirstCome = first(seen, bug)
}

// first returns the number, from 1, of the first interleaving with a bug, or 0.
func first(list []atomicity.Interleaving, bug func(*atomicity.Interleaving) bool) int {
	for i := range list {
		if bug(&list[i]) {
			return i + 1
		}
	}
	return 0
}

// phases collects what searches took until the bug.
type phases struct{ profiling, analysis, testing []float64 }

func (p *phases) add(profiling, analysis, testing float64) {
	p.profiling, p.analysis, p.testing = append(p.profiling, profiling), append(p.analysis, analysis), append(p.testing, testing)
}

// into stores the medians.
func (p *phases) into(s *search) {
	s.Profiling, s.Analysis, s.Testing = bench.Median(p.profiling), bench.Median(p.analysis), bench.Median(p.testing)
}

// live measures CTrigger with threads in parallel.
func (m *measurement) live(ctx context.Context, x *exposure) (s search, err error) {
	options := func(seed int) engine.LiveOptions {
		return engine.LiveOptions{Time: m.Limit, Seed: uint64(seed), Budget: budget, Watchdog: 10 * time.Second, First: true}
	}
	search := func(o engine.LiveOptions) (*engine.LiveReport, error) {
		return engine.Live(ctx, m.hooked, o, func(engine.LiveProgress) {})
	}
	var control *engine.Control
	var p phases
	for seed := 1; seed <= m.Seeds; seed++ {
		r, err := search(options(seed))
		if err != nil {
			return s, err
		}
		x.add(r.Ended == engine.ByFailure, r.Seconds, r.Executions, failure(r))
		p.add(r.Profiling, r.Analysis, r.Forcing)
		if t, _ := failed(r); control == nil {
			if control = r.PlainControl; t != nil {
				control = t.Control
			}
		}
	}
	p.into(&s)
	if control != nil {
		again, err := engine.Reproduce(ctx, m.hooked, control, 0, m.Replays)
		if err != nil {
			return s, err
		}
		x.Again.Executions, x.Again.Failures, x.Again.Seconds = again.Executions, again.Failures, again.Seconds
	}

	whole := options(1)
	whole.First = false
	r, err := search(whole)
	if err != nil {
		return s, err
	}
	s.profile(r.Profile)
	bugs := map[atomicity.Triple]bool{}
	var list []atomicity.Interleaving
	tried := 0
	for i := range r.Targets {
		t := &r.Targets[i]
		list = append(list, t.Interleaving)
		tried += t.Tried
		if t.Met > 0 {
			s.Forced++
		}
		if t.Failures > 0 {
			s.Bugs++
			bugs[t.Triple] = true
		}
	}
	if tried > 0 {
		s.Forcing = r.Forcing / float64(tried)
	}
	s.Whole = r.Ended == engine.Exhausted
	s.orders(list, func(i *atomicity.Interleaving) bool { return bugs[i.Triple] })
	if s.Rank > 0 {
		for _, order := range []struct {
			firstCome bool
			into      *phaseTwo
		}{{false, &s.Ranked}, {true, &s.Unranked}} {
			o := options(1)
			o.FirstCome = order.firstCome
			r, err := search(o)
			if err != nil {
				return s, err
			}
			t, tried := failed(r)
			*order.into = phaseTwo{t != nil, tried, r.Forcing}
		}
	}
	s.Recordings, err = m.coverage(ctx)
	return s, err
}

// failed returns the first target with a failure, or nil, and the executions made for it and
// those before it.
func failed(r *engine.LiveReport) (t *engine.LiveTarget, tried int) {
	for i := range r.Targets {
		tried += r.Targets[i].Tried
		if r.Targets[i].Failures > 0 {
			return &r.Targets[i], tried
		}
	}
	return nil, tried
}

// failure describes the failure that ended a search.
func failure(r *engine.LiveReport) string {
	if t, _ := failed(r); t != nil {
		return t.Failure
	}
	return r.Plain
}

// coverage returns how many interleavings each recording exercises that none before has.
func (m *measurement) coverage(ctx context.Context) (fresh []int, err error) {
	profile := atomicity.NewProfile()
	for n := range m.Recordings {
		r, err := m.hooked.Run(ctx, m.request(live.Request{Mode: live.Profile, Seed: uint64(n), Most: recorded}))
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, profile.Add(r.Trace, r.Times))
	}
	return fresh, nil
}

// timed is CTrigger, with the time that each part of it took.
type timed struct {
	*strategy.CTrigger
	forcing  time.Time // when phase two began; zero before
	analysis time.Duration
}

// Observe implements strategy.Strategy.
func (t *timed) Observe(o *strategy.Observation) {
	began := time.Now()
	t.CTrigger.Observe(o)
	if t.forcing.IsZero() {
		now := time.Now()
		t.analysis += now.Sub(began)
		if t.Stage().Round == 2 {
			t.forcing = now
		}
	}
}

// find searches the controlled executions of a target, until the first finding unless all is set.
func (m *measurement) find(ctx context.Context, t *cprog.Target, seed int, all bool, search func(strategy.Setting) strategy.Strategy) (*engine.Report, error) {
	r, err := engine.Find(ctx, t, engine.Options{
		Seed: uint64(seed), Time: m.Limit, All: all, NoSimplify: true, Search: search, Where: report.NewRunning(t.Modules).Place,
	}, nil)
	if r.Finding != nil || ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return r, err
}

// controlled measures CTrigger on heddle's scheduler.
func (m *measurement) controlled(ctx context.Context, x *exposure) (s search, err error) {
	var p phases
	for seed := 1; seed <= m.Seeds; seed++ {
		if err := m.expose(ctx, seed, x, &p); err != nil {
			return s, err
		}
	}
	p.into(&s)
	t, err := cprog.Start(ctx, m.config)
	if err != nil {
		return s, err
	}
	defer t.Close()
	var c *strategy.CTrigger
	r, err := m.find(ctx, t, 1, true, func(setting strategy.Setting) strategy.Strategy {
		c = strategy.NewCTrigger(setting)
		return c
	})
	if err != nil {
		return s, err
	}
	s.profile(c.Profile())
	bugs := map[atomicity.Triple]bool{}
	var list []atomicity.Interleaving
	for _, t := range c.Targets() {
		list = append(list, t.Interleaving)
		if t.Forced > 0 {
			s.Forced++
		}
		if t.Failures > 0 {
			s.Bugs++
			bugs[t.Triple] = true
		}
	}
	s.Whole = r.Ended != engine.ByTime
	s.orders(list, func(i *atomicity.Interleaving) bool { return bugs[i.Triple] })
	if s.Rank > 0 {
		seen := append([]atomicity.Interleaving(nil), list...)
		atomicity.FirstCome(seen)
		for _, order := range []struct {
			list []atomicity.Interleaving
			into *phaseTwo
		}{{list, &s.Ranked}, {seen, &s.Unranked}} {
			r, err := m.find(ctx, t, 1, false, func(setting strategy.Setting) strategy.Strategy {
				return strategy.NewForcing(setting, nil, order.list...)
			})
			if err != nil {
				return s, err
			}
			*order.into = phaseTwo{r.Finding != nil, r.Executions, r.Seconds}
		}
	}
	s.Recordings, err = m.controlledCoverage(ctx, t)
	return s, err
}

// expose searches once, and then reproduces the failure.
func (m *measurement) expose(ctx context.Context, seed int, x *exposure, p *phases) error {
	began := time.Now()
	t, err := cprog.Start(ctx, m.config)
	if err != nil {
		return err
	}
	defer t.Close()
	c := &timed{}
	r, err := m.find(ctx, t, seed, false, func(setting strategy.Setting) strategy.Strategy {
		c.CTrigger = strategy.NewCTrigger(setting)
		return c
	})
	if err != nil {
		return err
	}
	ended := time.Now()
	f := r.Finding
	message := ""
	if f != nil {
		message = f.Kind + ": " + f.Message
	}
	x.add(f != nil, ended.Sub(began).Seconds(), r.Executions, message)
	if c.forcing.IsZero() {
		c.forcing = ended
	}
	p.add((c.forcing.Sub(began) - c.analysis).Seconds(), c.analysis.Seconds(), ended.Sub(c.forcing).Seconds())
	if f == nil || f.Recorded == nil || x.Again.Executions > 0 {
		return nil
	}
	began = time.Now()
	for range m.Replays {
		again, err := engine.Replay(ctx, t, f.Recorded)
		if err != nil {
			return err
		}
		x.Again.Executions++
		if again.Ending.Kind.Failed() {
			x.Again.Failures++
		}
	}
	x.Again.Seconds = time.Since(began).Seconds()
	return nil
}

// controlledCoverage is coverage on heddle's scheduler, with the plans of CTrigger's phase one and more of them.
func (m *measurement) controlledCoverage(ctx context.Context, t *cprog.Target) (fresh []int, err error) {
	profile := atomicity.NewProfile()
	c := strategy.NewCTrigger(strategy.Setting{Build: t.Header().BuildID, Seed: 1})
	for n := range m.Recordings {
		plan := c.Recording(uint64(n) + 1)
		plan.OnlyShared = false
		o, err := t.Run(ctx, plan)
		if err != nil {
			return nil, err
		}
		if o.Trace != nil {
			fresh = append(fresh, profile.Add(o.Trace, nil))
		}
	}
	return fresh, nil
}
