package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// feedback is a small search by reads-from feedback, after RFF (Wolff et al., ASPLOS 2024): it
// keeps the schedules in which some read returned the value of a write for the first time, and
// follows them up to a random decision. It shows that the loop already supports such a search.
type feedback struct {
	setting strategy.Setting
	source  *rand.PCG
	rand    *rand.Rand
	state   feedbackState
}

type feedbackState struct {
	Random []byte
	Made   uint64
	Flying int
	Points []trace.Site
	Pairs  map[string]bool // reads-from pairs seen
	Corpus [][]schedule.Step
	Names  [][]trace.Thread // threads named in the scripts of Corpus
}

// mutants is how many plans are made before their outcomes are observed.
const mutants = 8

func newFeedback(s strategy.Setting) *feedback {
	f := &feedback{setting: s, source: rand.NewPCG(s.Seed, 3)}
	f.rand = rand.New(f.source)
	f.state.Pairs = map[string]bool{}
	return f
}

func (f *feedback) String() string { return "feedback" }

func (f *feedback) Stage() strategy.Stage { return strategy.Stage{Points: len(f.state.Points)} }

func (f *feedback) MarshalBinary() (b []byte, err error) {
	if f.state.Random, err = f.source.MarshalBinary(); err != nil {
		return nil, err
	}
	return json.Marshal(f.state)
}

func (f *feedback) UnmarshalBinary(b []byte) error {
	if err := json.Unmarshal(b, &f.state); err != nil {
		return err
	}
	return f.source.UnmarshalBinary(f.state.Random)
}

func (f *feedback) Next(int) (strategy.Request, bool) {
	if f.state.Flying == mutants {
		return strategy.Request{}, false
	}
	f.state.Flying++
	f.state.Made++
	p := schedule.Plan{Policy: schedule.Random, Seed: f.setting.FirstSeed() + f.state.Made, Repeat: 1, Points: f.state.Points, Record: true, Accesses: true}
	if n := len(f.state.Corpus); n > 0 && f.rand.IntN(4) > 0 {
		k := f.rand.IntN(n)
		script := f.state.Corpus[k]
		p.Mode, p.Script, p.Threads = schedule.Tolerant, script[:f.rand.IntN(len(script))], f.state.Names[k]
	}
	return strategy.Request{Plan: p, Observe: true}, true
}

func (f *feedback) Observe(o *strategy.Observation) {
	if o.Request.Key != strategy.First {
		f.state.Flying--
	}
	t := o.Outcome.Trace
	writes := map[trace.Object]trace.Site{}
	fresh := false
	for _, e := range t.Events {
		switch e.Op.Class() {
		case trace.ClassWrite, trace.ClassAStore, trace.ClassARMW:
			writes[e.Object] = e.Site
		case trace.ClassRead, trace.ClassALoad:
			if pair := fmt.Sprint(writes[e.Object], e.Site); !f.state.Pairs[pair] {
				f.state.Pairs[pair], fresh = true, true
			}
		}
	}
	if fresh {
		f.state.Corpus, f.state.Names = append(f.state.Corpus, schedule.ScriptOf(t)), append(f.state.Names, t.Threads)
	}
	for _, s := range race.Sites(o.Seen.Races) {
		known := false
		for _, p := range f.state.Points {
			known = known || p == s
		}
		if !known {
			f.state.Points = append(f.state.Points[:len(f.state.Points):len(f.state.Points)], s)
		}
	}
}

// TestFeedback: what an execution has shown changes what is tried next, and bugs behind a second
// race are found.
func TestFeedback(t *testing.T) {
	for _, program := range []simprog.Program{simprog.LostUpdate(3), simprog.ABBA(), simprog.TwoStage(), simprog.OrderViolation()} {
		for seed := range uint64(3) {
			var f *feedback
			r := find(t, simprog.New(program), Options{Seed: seed, Runs: 5000, NoSimplify: true, Search: func(s strategy.Setting) strategy.Strategy {
				f = newFeedback(s)
				return f
			}})
			if r.Outcome != Bug || !r.Finding.Confirmed {
				t.Errorf("%s, seed %d: %+v", program.Name, seed, r)
			}
			if program.Name == "two-stage" && (len(f.state.Corpus) < 2 || len(f.state.Points) == 0) {
				t.Errorf("%s, seed %d: %d schedules kept, %d points", program.Name, seed, len(f.state.Corpus), len(f.state.Points))
			}
		}
	}
}

// raceDirected is race-directed search (Sen, PLDI 2008) as far as plans with scripts allow: for
// each race that a recording shows, either the thread of the second access runs up to that access
// while the other thread waits before the first, or the schedule is kept up to the first access and
// the rest is random.
type raceDirected struct {
	setting strategy.Setting
	queue   []schedule.Plan
	known   map[[2]race.Access]bool
	made    uint64
}

func (d *raceDirected) String() string                 { return "race-directed" }
func (d *raceDirected) Stage() strategy.Stage          { return strategy.Stage{Round: len(d.known)} }
func (d *raceDirected) MarshalBinary() ([]byte, error) { return nil, nil }
func (d *raceDirected) UnmarshalBinary([]byte) error   { return nil }

func (d *raceDirected) Next(int) (strategy.Request, bool) {
	if len(d.queue) == 0 {
		return strategy.Request{}, false
	}
	p := d.queue[0]
	d.queue = d.queue[1:]
	return strategy.Request{Plan: p, Observe: true}, true
}

func (d *raceDirected) Observe(o *strategy.Observation) {
	t := o.Outcome.Trace
	if o.Seen == nil {
		return
	}
	points := race.Sites(o.Seen.Races)
	for _, r := range o.Seen.Races {
		if d.known[r.Pair] {
			continue
		}
		d.known[r.Pair] = true
		first, second := r.Witness[0], r.Witness[1]
		var before, ahead []trace.Event
		at := 0
		for ; at < len(t.Events) && !(t.Events[at].Thread == first.Thread && t.Events[at].Site == first.Site); at++ {
			before = append(before, choice(t.Events[at], points)...)
		}
		for _, e := range t.Events[at:] {
			if e.Thread == second.Thread {
				ahead = append(ahead, choice(e, points)...)
				if e.Site == second.Site {
					break
				}
			}
		}
		for range 4 {
			for _, events := range [][]trace.Event{before, append(before[:len(before):len(before)], ahead...)} {
				d.made++
				d.queue = append(d.queue, schedule.Plan{
					Mode: schedule.Tolerant, Script: schedule.Steps(events), Threads: t.Threads, Policy: schedule.Random,
					Seed: d.setting.FirstSeed() + d.made, Points: points, Record: true, Accesses: true,
				})
			}
		}
	}
}

// choice returns the event if it is a decision when sites are scheduling points.
func choice(e trace.Event, sites []trace.Site) []trace.Event {
	for _, s := range sites {
		if e.Site == s {
			e.Flags &^= trace.FlagNoDecision
		}
	}
	if e.Flags&trace.FlagNoDecision != 0 {
		return nil
	}
	return []trace.Event{e}
}

// TestRaceDirected: a search that only reverses races finds the resulting bugs in a few executions,
// and ends when no races are left.
func TestRaceDirected(t *testing.T) {
	search := func(s strategy.Setting) strategy.Strategy {
		return &raceDirected{setting: s, known: map[[2]race.Access]bool{}}
	}
	for _, program := range []simprog.Program{simprog.LostUpdate(2), simprog.OrderViolation(), simprog.TwoStage()} {
		for seed := range uint64(5) {
			r := find(t, simprog.New(program), Options{Seed: seed, NoSimplify: true, Search: search})
			if r.Outcome != Bug || r.Executions > 40 {
				t.Errorf("%s, seed %d: %+v", program.Name, seed, r)
			}
		}
	}
	if r := find(t, simprog.New(simprog.LockedUpdate(2)), Options{Search: search}); r.Ended != Complete || r.Executions != 1 {
		t.Errorf("without a race: %+v", r)
	}
}

// strictly is a strategy with one plan, which must be followed strictly.
type strictly struct {
	plan     schedule.Plan
	made     bool
	diverged *schedule.Divergence
	outcomes int
}

func (s *strictly) String() string                 { return "strictly" }
func (s *strictly) Stage() strategy.Stage          { return strategy.Stage{} }
func (s *strictly) MarshalBinary() ([]byte, error) { return nil, nil }
func (s *strictly) UnmarshalBinary([]byte) error   { return nil }

func (s *strictly) Next(int) (strategy.Request, bool) {
	first := !s.made
	s.made = true
	return strategy.Request{Plan: s.plan}, first
}

func (s *strictly) Observe(o *strategy.Observation) {
	if o.Request.Key != strategy.First {
		s.outcomes++
		s.diverged = o.Outcome.Diverged
	}
}

// TestDivergence: if a strict plan cannot be followed, its strategy observes that; it is neither a
// failure nor the end of the search. For a plan without a script it is a bug in heddle.
func TestDivergence(t *testing.T) {
	s := &strictly{plan: schedule.Plan{Mode: schedule.Strict, Script: []schedule.Step{{Thread: 0, Op: trace.OpBarrierWait, Wake: -1}}, Threads: []trace.Thread{{Name: 1, Parent: -1}}}}
	r := find(t, simprog.New(simprog.LockedUpdate(2)), Options{Search: func(strategy.Setting) strategy.Strategy { return s }})
	if r.Ended != Complete || r.Executions != 2 || r.Finding != nil || s.outcomes != 1 || s.diverged == nil || s.diverged.Step != 0 {
		t.Errorf("%+v, %+v", r, s)
	}
	lies := &meddler{Target: simprog.New(simprog.LockedUpdate(2)), after: func(_ *schedule.Plan, o *schedule.Outcome) { o.Ending.Kind = trace.Diverged }}
	if _, err := Find(context.Background(), lies, Options{Runs: 3}, nil); err == nil || !strings.Contains(err.Error(), "left its script, but it had none") {
		t.Error(err)
	}
}
