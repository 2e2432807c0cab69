package strategy

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Weighted is a random walk that draws each thread in proportion to its remaining events: Zhao and
// others, "Selectively Uniform Concurrency Testing", ASPLOS 2025 (written from its abstract and
// descriptions by others). The remaining events of a thread include those of the threads that it is still
// to create.
//
// Without selection it is the uniform random walk (URW). If each thread has the same events in every
// execution and no operation blocks, all interleavings are equally likely: an interleaving is a linear
// extension of the forest in which each event precedes its thread's next one and the first one of a
// thread that it creates, and the first event of a uniform linear extension belongs to a tree with a
// probability proportional to the tree's size. Where operations block, it is a heuristic.
//
// With selection it is SURW: each plan selects an object, the events of the instructions that
// touched it are interesting, and the walk is uniform over their interleavings alone, under the same
// conditions. In between, threads that stand before other events are chosen with equal probability. The
// more interleavings the whole has, the better the chance of each interleaving of the part that matters.
//
// The numbers of events are those of recorded executions: the first one and one in profileEvery later,
// each of which gives the counts of the plans after it.
type Weighted struct {
	setting   Setting
	selective bool
	source    *rand.PCG
	rand      *rand.Rand
	state     weightedState
}

// weightedState is saved.
type weightedState struct {
	Random  []byte       `json:"random,omitempty"`
	Made    uint64       `json:"made"`
	Points  []trace.Site `json:"points,omitempty"`
	Flying  int          `json:"flying"`
	Batch   int          `json:"batch"` // plans that the present batch has left
	Profile profile      `json:"profile"`
}

// profile is what a recorded execution did.
type profile struct {
	Threads []trace.Thread `json:"threads,omitempty"`
	Totals  []int          `json:"totals,omitempty"` // events, by thread
	// Objects are those that several threads touched and at least one changed, in the order of the first
	// event.
	Objects []contended `json:"objects,omitempty"`
}

// contended is an object that threads contend for.
type contended struct {
	Sites  []trace.Site `json:"sites"`  // the instructions that touched it, ascending
	Counts []int        `json:"counts"` // events of these instructions, by thread
}

// profileEvery is how many executions are made from the counts of one: recording costs several times as
// much as executing.
const profileEvery = 16

// NewURW returns a uniform random walk.
func NewURW(s Setting) *Weighted { return newWeighted(s, false) }

// NewSURW returns a selectively uniform random walk.
func NewSURW(s Setting) *Weighted { return newWeighted(s, true) }

func newWeighted(s Setting, selective bool) *Weighted {
	w := &Weighted{setting: s, selective: selective, source: rand.NewPCG(s.Seed, 0x73757277)}
	w.rand = rand.New(w.source)
	w.state.Points = slices.Clone(s.Points)
	return w
}

// String implements Strategy.
func (w *Weighted) String() string {
	if w.selective {
		return "surw"
	}
	return "urw"
}

// Stage implements Strategy.
func (w *Weighted) Stage() Stage { return Stage{Points: len(w.state.Points)} }

// MarshalBinary implements Strategy.
func (w *Weighted) MarshalBinary() (b []byte, err error) {
	if w.state.Random, err = w.source.MarshalBinary(); err != nil {
		return nil, err
	}
	return json.Marshal(&w.state)
}

// UnmarshalBinary implements Strategy.
func (w *Weighted) UnmarshalBinary(data []byte) error {
	var s weightedState
	if err := strict(data, &s); err != nil {
		return err
	}
	w.state = s
	return w.source.UnmarshalBinary(s.Random)
}

// Next implements Strategy.
func (w *Weighted) Next(left int) (Request, bool) {
	s := &w.state
	if left == 0 || s.Batch == 0 && s.Flying > 0 {
		return Request{}, false
	}
	if s.Batch == 0 {
		s.Batch = batch(s.Made)
	}
	s.Batch--
	s.Flying++
	s.Made++
	r := Request{Observe: s.Made < profileEvery || s.Made%profileEvery == 0, Plan: schedule.Plan{
		Policy: schedule.Walk, Seed: w.setting.FirstSeed() + s.Made, Repeat: 1, Points: s.Points,
		Timeouts: s.Made%2 == 0 && !w.setting.NoEarlyTimeouts,
	}}
	r.Plan.Record = r.Observe
	s.Profile.weigh(&r.Plan, w.selective, w.rand)
	return r, true
}

// Observe implements Strategy.
func (w *Weighted) Observe(o *Observation) {
	s := &w.state
	if o.Last && o.Request.Key != First {
		s.Flying--
	}
	if o.Seen != nil {
		for _, site := range slices.Concat(race.Sites(o.Seen.Races), o.Seen.Handlers) {
			if !slices.Contains(s.Points, site) {
				s.Points = append(slices.Clip(s.Points), site) // plans in flight keep theirs
			}
		}
	}
	if o.Outcome != nil && o.Outcome.Trace != nil {
		s.Profile = profileOf(o.Outcome.Trace)
	}
}

// profileOf counts the events of a recorded execution.
func profileOf(t *trace.Trace) profile {
	p := profile{Totals: make([]int, len(t.Threads))}
	for i := range t.Threads {
		h := &t.Threads[i]
		p.Threads = append(p.Threads, trace.Thread{ID: h.ID, Parent: h.Parent, Nth: h.Nth, Name: h.Name, Entry: h.Entry})
	}
	type object struct {
		sites   []trace.Site
		threads []trace.ThreadID
		changed bool
	}
	var order []*object
	objects := map[trace.Object]*object{}
	at := map[trace.Site][]int{} // events by instruction and thread
	for i := range t.Events {
		e := &t.Events[i]
		if e.Flags&trace.FlagNoDecision != 0 || e.Thread < 0 || int(e.Thread) >= len(t.Threads) {
			continue
		}
		p.Totals[e.Thread]++
		if e.Site == 0 || e.Object == 0 || e.Flags&trace.FlagForced != 0 || e.Op == trace.OpThreadStart {
			continue
		}
		if at[e.Site] == nil {
			at[e.Site] = make([]int, len(t.Threads))
		}
		at[e.Site][e.Thread]++
		x := objects[e.Object]
		if x == nil {
			x = &object{}
			objects[e.Object] = x
			order = append(order, x)
		}
		if !slices.Contains(x.sites, e.Site) {
			x.sites = append(x.sites, e.Site)
		}
		if !slices.Contains(x.threads, e.Thread) {
			x.threads = append(x.threads, e.Thread)
		}
		_, changes := role(e)
		x.changed = x.changed || changes || e.Op.Class() == trace.ClassAcq
	}
	for _, x := range order {
		if len(x.threads) < 2 || !x.changed {
			continue
		}
		slices.Sort(x.sites)
		c := contended{Sites: x.sites, Counts: make([]int, len(t.Threads))}
		for _, s := range x.sites {
			for i, n := range at[s] {
				c.Counts[i] += n
			}
		}
		if !slices.ContainsFunc(p.Objects, func(other contended) bool { return slices.Equal(other.Sites, c.Sites) }) {
			p.Objects = append(p.Objects, c)
		}
	}
	return p
}

// weigh sets the weights of a plan and, with selection, its interesting instructions: those of one object,
// drawn with equal probability.
func (p *profile) weigh(plan *schedule.Plan, selective bool, r *rand.Rand) {
	own := p.Totals
	if selective && len(p.Objects) > 0 {
		c := &p.Objects[r.IntN(len(p.Objects))]
		own, plan.Interesting = c.Counts, c.Sites
	}
	plan.Threads, plan.Weights = p.Threads, slices.Clone(own)
	for i := len(p.Threads) - 1; i > 0; i-- { // threads come after those that created them
		if parent := p.Threads[i].Parent; parent >= 0 && int(parent) < i {
			plan.Weights[parent] += plan.Weights[i]
		}
	}
	if plan.CheckWeights() != nil {
		plan.Weights = nil
	}
}

// Delays is delay-bounded sampling: the policy that does not preempt passes over the thread that it has
// chosen at a few points drawn from the whole execution (Emmi, Qadeer, Rakamarić, POPL 2011, §3; NewDelays
// enumerates such schedules). If a schedule with d delays shows a bug, an execution of k points that
// draws d delays shows it with a probability of at least d!/k^d, for distinct points, or 1/k^d. It does not
// depend on the number of threads.
//
// Plans draw d from 1 to 4, each half as often as the one before.
type Delays struct{}

func (Delays) String() string { return "delay" }

const mostDelays = 4

// Plan draws the number of delays. The length is that of earlier executions.
func (Delays) Plan(r *rand.Rand, seen Seen) schedule.Plan {
	n := 1
	for n < mostDelays && r.IntN(2) == 0 {
		n++
	}
	return schedule.Plan{Policy: schedule.Delay, Depth: n, Length: seen.points()}
}
