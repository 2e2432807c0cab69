package strategy

import (
	"encoding/json"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// RaceDirected is race-directed search: RaceFuzzer (Sen, PLDI 2008, §3.2), and the same for the
// contention of locks. For each pair of instructions that raced in some execution seen, or that
// acquired one lock in different threads, it holds a thread before one of them until another stands
// before the other on the same object, and leaves to chance which goes first. A race that only a
// reordering shows thus becomes a pair in its turn.
//
// Races are also predicted, from its first execution, of which it records all accesses: conflicting
// accesses that neither thread creation, join, barriers nor once order, and that no common lock excludes
// (atomicity.Profile.Unordered). That is more than any order of one execution's events predicts, and not
// sound: a predicted pair is a race only once an execution has shown it, which is tried like the others.
//
// The paper holds threads by object and resolves a pair at once. Here the policy, a uniform random
// walk, resolves it, so a third thread may run in between. Every turn of a pair has a new seed.
type RaceDirected struct {
	setting Setting
	source  *rand.PCG
	rand    *rand.Rand
	state   raceState
	known   map[trace.Site]bool
	index   map[[2]trace.Site]int // into Pairs
	waits   bool                  // for the outcomes of a batch before the next
}

// raceState is saved.
type raceState struct {
	Random []byte       `json:"random,omitempty"`
	Made   uint64       `json:"made"`
	Points []trace.Site `json:"points,omitempty"`
	Pairs  []racePair   `json:"pairs,omitempty"` // in the order in which they were seen
	Turn   int          `json:"turn"`            // index into Pairs
	Flying int          `json:"flying"`
	Batch  int          `json:"batch"` // plans that the present batch has left
}

// racePair is two instructions that may be about one object at the same time.
type racePair struct {
	Sites [2]trace.Site `json:"sites"`
	Tried int           `json:"tried"`
	Met   int           `json:"met"` // executions in which threads stood before both
}

const (
	// A pair that did not meet in patience executions gets one turn in rareTurn.
	patience, rareTurn = 4, 8
	// Of later executions one in observeEvery is watched for further races.
	observeAll, observeEvery = 64, 8
	// Races are predicted from so many accesses, and so many of them are tried.
	predictedFrom, mostPredicted, predictedThreads = 200_000, 128, 256
)

// NewRaceDirected returns a race-directed search.
func NewRaceDirected(s Setting) *RaceDirected {
	d := &RaceDirected{setting: s, source: rand.NewPCG(s.Seed, 0x72616365), known: map[trace.Site]bool{}, index: map[[2]trace.Site]int{}, waits: true}
	d.rand = rand.New(d.source)
	d.grow(s.Points)
	return d
}

// String implements Strategy.
func (d *RaceDirected) String() string { return "race-directed" }

func (d *RaceDirected) eager() { d.waits = false }

func (d *RaceDirected) pairs() int { return 0 }

func (d *RaceDirected) ended() bool { return false }

// Stage implements Strategy.
func (d *RaceDirected) Stage() Stage { return Stage{Points: len(d.state.Points)} }

// MarshalBinary implements Strategy.
func (d *RaceDirected) MarshalBinary() (b []byte, err error) {
	if d.state.Random, err = d.source.MarshalBinary(); err != nil {
		return nil, err
	}
	return json.Marshal(&d.state)
}

// UnmarshalBinary implements Strategy.
func (d *RaceDirected) UnmarshalBinary(data []byte) error {
	var s raceState
	if err := strict(data, &s); err != nil {
		return err
	}
	d.state, d.known, d.index = s, map[trace.Site]bool{}, map[[2]trace.Site]int{}
	for _, p := range s.Points {
		d.known[p] = true
	}
	for i := range s.Pairs {
		d.index[s.Pairs[i].Sites] = i
	}
	return d.source.UnmarshalBinary(s.Random)
}

// Next implements Strategy. A plan's key is the number of its pair + 1; 0: without a pair.
func (d *RaceDirected) Next(left int) (Request, bool) {
	s := &d.state
	if left == 0 || d.waits && s.Batch == 0 && s.Flying > 0 {
		return Request{}, false
	}
	if s.Batch == 0 {
		s.Batch = batch(s.Made)
	}
	s.Batch--
	s.Flying++
	s.Made++
	r := Request{Observe: s.Made <= observeAll || s.Made%observeEvery == 0}
	at := d.turn()
	if at >= 0 && s.Pairs[at].Tried < patience {
		r.Observe = true // only a watched execution shows the race
	}
	r.Plan = schedule.Plan{
		Policy: schedule.Random, Seed: d.setting.FirstSeed() + s.Made, Repeat: 1, Record: r.Observe, Points: s.Points,
		Timeouts: s.Made%2 == 0 && !d.setting.NoEarlyTimeouts,
	}
	if !r.Observe && !d.waits && left > 0 {
		// A plan of several executions is cheaper, but many pairs matter more.
		r.Plan.Repeat = max(1, min(sameParameters, left/sameParameters))
	}
	if s.Made == 1 {
		r.Plan.Accesses, r.Plan.MaxAccesses = true, predictedFrom
	}
	if at >= 0 {
		p := &s.Pairs[at]
		p.Tried++
		r.Key = at + 1
		r.Plan.Holds = []schedule.Hold{meets(p.Sites[0], p.Sites[1])}
		if p.Sites[0] != p.Sites[1] {
			r.Plan.Holds = append(r.Plan.Holds, meets(p.Sites[1], p.Sites[0]))
		}
	}
	return r, true
}

// meets returns the hold of threads before one instruction until another stands before the other.
func meets(site, other trace.Site) schedule.Hold {
	return schedule.Hold{Site: site, Thread: schedule.AnyThread, Until: other, When: schedule.Reached, Same: true}
}

// turn returns the pair whose turn it is, -1 for none.
func (d *RaceDirected) turn() int {
	s := &d.state
	for range s.Pairs {
		s.Turn = (s.Turn + 1) % len(s.Pairs)
		if p := &s.Pairs[s.Turn]; p.Met > 0 || p.Tried < patience || d.rand.IntN(rareTurn) == 0 {
			return s.Turn
		}
	}
	return -1
}

// Observe implements Strategy.
func (d *RaceDirected) Observe(o *Observation) {
	if o.Last && o.Request.Key >= 0 {
		d.state.Flying--
	}
	if o.Outcome != nil && o.Request.Key > 0 {
		for _, h := range o.Outcome.Holds {
			if h.Done > 0 {
				d.state.Pairs[o.Request.Key-1].Met++
				break
			}
		}
	}
	if o.Seen != nil {
		d.grow(slices.Concat(race.Sites(o.Seen.Races), o.Seen.Handlers))
		for i := range o.Seen.Races {
			if r := &o.Seen.Races[i]; !r.Allocates() {
				d.pair(r.Pair[0].Site, r.Pair[1].Site)
			}
		}
	}
	if o.Outcome != nil && o.Outcome.Trace != nil {
		if o.Request.Key >= 0 && o.Request.Plan.Accesses {
			d.predict(o.Outcome.Trace)
		}
		d.contention(o.Outcome.Trace.Events)
	}
}

// predict adds the pairs of accesses that may race in another execution.
func (d *RaceDirected) predict(t *trace.Trace) {
	if len(t.Threads) > predictedThreads {
		return // each has a clock of all others
	}
	p := atomicity.NewProfile()
	p.Add(t, nil)
	pairs := p.Unordered()
	for _, x := range pairs[:min(len(pairs), mostPredicted)] {
		d.pair(x[0].Site, x[1].Site)
	}
}

// contention adds pairs of instructions that acquire one lock in different threads.
func (d *RaceDirected) contention(events []trace.Event) {
	// Two of the threads that acquired a lock at an instruction are enough: one of them is another than
	// any third.
	type acquires struct {
		site    trace.Site
		threads [2]trace.ThreadID
	}
	seen := map[trace.Object][]acquires{}
	for i := range events {
		e := &events[i]
		if e.Op.Class() != trace.ClassAcq || e.Object == 0 || e.Site == 0 || e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		all := seen[e.Object]
		at := slices.IndexFunc(all, func(a acquires) bool { return a.site == e.Site })
		switch {
		case at < 0:
			all = append(all, acquires{e.Site, [2]trace.ThreadID{e.Thread, e.Thread}})
			seen[e.Object] = all
		case slices.Contains(all[at].threads[:], e.Thread), all[at].threads[0] != all[at].threads[1]:
			continue
		default:
			all[at].threads[1] = e.Thread
		}
		for _, b := range all {
			if b.threads[0] != e.Thread || b.threads[1] != e.Thread {
				d.pair(b.site, e.Site)
			}
		}
	}
}

// pair adds a pair.
func (d *RaceDirected) pair(a, b trace.Site) {
	sites := [2]trace.Site{min(a, b), max(a, b)}
	if _, ok := d.index[sites]; !ok {
		d.index[sites] = len(d.state.Pairs)
		d.state.Pairs = append(d.state.Pairs, racePair{Sites: sites})
	}
}

// grow adds scheduling points.
func (d *RaceDirected) grow(sites []trace.Site) {
	for _, p := range sites {
		if !d.known[p] {
			d.known[p] = true
			d.state.Points = append(slices.Clip(d.state.Points), p) // plans in flight keep theirs
		}
	}
}
