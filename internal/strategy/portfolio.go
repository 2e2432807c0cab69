package strategy

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Portfolio is find's default search: samplers take turns, first over synchronisation alone, then
// with racing instructions as scheduling points too. It works in rounds. A round is planned once
// the previous one has been observed completely, so that instructions that raced in its recorded
// executions are scheduling points in the next.
type Portfolio struct {
	setting  Setting
	samplers []Sampler
	source   *rand.PCG
	rand     *rand.Rand

	arms   []*arm
	next   uint64 // executions planned so far
	plans  int    // plans made so far
	round  int
	queue  []Request // of the round, not yet given out
	flying int       // plans in flight
	points []trace.Site
	// racing are the memory instructions that are scheduling points; fresh are those that become
	// scheduling points in the next round: instructions that have raced, and those between which a
	// handler may run.
	racing map[trace.Site]bool
	fresh  []trace.Site
	// seen summarises the executions without and with memory instructions as scheduling points.
	seen [2]Seen
	// known are the last recordings, from which the number of scheduling points follows for any set
	// of instructions.
	known []recording
	// skip is how many accesses the next round's watched executions omit: where the target sends
	// accesses to heddle and executions have too many, each round begins where the previous one
	// ended.
	skip int
}

// A round tries every arm: each sampler over synchronisation alone, then each with the memory
// instructions known so far. Rounds begin small, since most bugs are found within a few executions
// and each round uses what the previous one has shown, and double up to some hundred executions per
// arm.
const (
	firstBatch = 4
	lastBatch  = 256
	// sameParameters is how many executions share one draw of a sampler's parameters.
	sameParameters = 16
	// Watched executions per round, and what they may cost in total (recording.Cost): programs with
	// millions of accesses are watched less often.
	recordings   = 4
	recordedCost = 2_000_000
	// cheapCost is the cost up to which every other plan is watched if races are failures: only a
	// watched execution shows them.
	cheapCost = 5000
	// inPlace is how many accesses that the target examines cost as much as an event that it sends.
	inPlace = 64
)

// arm is a sampler with one of the two sets of scheduling points.
type arm struct {
	sampler Sampler
	memory  bool
	// executions of its last round, and how many of them showed a new behaviour (fresh).
	executions, fresh int
}

// recording summarises a watched execution for the choice of scheduling points.
type recording struct {
	// Cost is what watching cost, in events sent from the program to heddle.
	Cost, Threads int
	Sync          int                // scheduling points for any set
	Accesses      map[trace.Site]int // by instruction
}

// NewPortfolio returns a search by the given samplers; without any, by Samplers.
func NewPortfolio(s Setting, samplers ...Sampler) *Portfolio {
	if len(samplers) == 0 {
		samplers = Samplers()
	}
	source := source(s.Seed)
	// The first execution has been planned: it counts as one.
	p := &Portfolio{setting: s, samplers: samplers, source: source, rand: rand.New(source), next: 1, plans: 1, racing: map[trace.Site]bool{}}
	for _, memory := range []bool{false, true} {
		for _, s := range samplers {
			p.arms = append(p.arms, &arm{sampler: s, memory: memory})
		}
	}
	p.grow(s.Points)
	return p
}

// String returns "portfolio" and the names of the samplers.
func (p *Portfolio) String() string {
	words := []string{"portfolio"}
	for _, s := range p.samplers {
		words = append(words, s.String())
	}
	return strings.Join(words, " ")
}

// Stage implements Strategy.
func (p *Portfolio) Stage() Stage {
	return Stage{Round: p.round, Points: len(p.points), Waiting: len(p.fresh)}
}

// Next implements Strategy.
func (p *Portfolio) Next(left int) (Request, bool) {
	if len(p.queue) == 0 {
		if p.flying > 0 {
			return Request{}, false
		}
		p.grow(p.fresh)
		p.fresh = nil
		if p.queue = within(p.nextRound(), left); len(p.queue) == 0 {
			return Request{}, false
		}
	}
	r := p.queue[0]
	p.queue = p.queue[1:]
	p.flying++
	return r, true
}

// within cuts a round to left executions; negative means any number.
func within(round []Request, left int) []Request {
	if left < 0 {
		return round
	}
	for i := range round {
		if n := &round[i].Plan.Repeat; *n >= left {
			*n = left
			if left > 0 {
				i++
			}
			return round[:i]
		}
		left -= round[i].Plan.Repeat
	}
	return round
}

// Observe implements Strategy.
func (p *Portfolio) Observe(o *Observation) {
	if o.Last && o.Request.Key != First {
		p.flying--
	}
	out := o.Outcome
	if out == nil {
		return
	}
	// A race does not end an execution: one with no other failure ended well.
	well := !out.Ending.Kind.Failed() || out.Ending.Kind == trace.Race
	if o.Request.Key != First {
		a := p.arms[o.Request.Key]
		a.executions++
		if o.New {
			a.fresh++
		}
		if well {
			p.saw(a.memory, out.Points, out.Threads)
		}
	}
	if o.Seen == nil {
		return
	}
	p.window(o.Seen)
	for _, s := range slices.Concat(race.Sites(o.Seen.Races), o.Seen.Handlers) {
		if !p.racing[s] {
			p.racing[s] = true
			p.fresh = append(p.fresh, s)
		}
	}
	if well {
		threads := out.Threads
		if out.Trace != nil {
			threads = len(out.Trace.Threads)
		}
		p.recorded(o.Seen, threads)
	}
}

// plan fills in what all plans of the portfolio share. Seeds of executions are consecutive, so that
// no two executions of a search share one.
func (p *Portfolio) plan(plan schedule.Plan, arm, repeat int) Request {
	plan.Seed = p.setting.FirstSeed() + p.next
	p.next += uint64(repeat)
	plan.Repeat = repeat
	// Every second plan may let timed waits time out early: early time-outs must not hide what
	// happens without them. Programs without timed waits are not affected. Rounds alternate
	// too, since in the early ones every arm has one plan.
	p.plans++
	plan.Timeouts = (p.plans+p.round)%2 == 0 && !p.setting.NoEarlyTimeouts
	if p.arms[arm].memory {
		plan.Points = p.points
	}
	return Request{Plan: plan, Key: arm}
}

// nextRound returns the next round's plans: watched executions, then the batches.
func (p *Portfolio) nextRound() []Request {
	n := lastBatch
	if p.round < 6 {
		n = firstBatch << p.round
	}
	arms := p.arms
	if len(p.points) == 0 {
		arms = arms[:len(arms)/2]
	}
	recorded := p.recordings()
	plans := make([]Request, 0, recorded+len(arms)*(n+sameParameters-1)/sameParameters)
	for i := range recorded {
		// Every arm gets its turn over the rounds, those with memory instructions first:
		// they are more likely to show new behaviours.
		k := len(arms) - 1 - (p.round*recordings+i)%len(arms)
		r := p.plan(p.draw(k), k, 1)
		r.Plan.Record, r.Observe, r.Plan.SkipAccesses = true, true, p.skip
		plans = append(plans, r)
	}
	cheap := p.setting.RacesFail && p.longest() < cheapCost
	for k, a := range arms {
		for left := p.share(a, arms, n); left > 0; left -= sameParameters {
			r := p.plan(p.draw(k), k, min(left, sameParameters))
			// Early time-outs alternate with every plan, so this makes all four combinations occur.
			r.Observe = cheap && p.plans/2%2 == 0
			plans = append(plans, r)
		}
	}
	for _, a := range arms {
		a.executions, a.fresh = 0, 0
	}
	p.round++
	return plans
}

// draw draws the parameters of an arm's next plan.
func (p *Portfolio) draw(arm int) schedule.Plan {
	a := p.arms[arm]
	return a.sampler.Plan(p.rand, p.seen[set(a.memory)])
}

// recordings returns how many executions of the next round are watched.
func (p *Portfolio) recordings() int {
	return max(1, min(recordings, recordedCost/p.longest()))
}

// longest returns the cost of the longest of the last watched executions, at least 1.
func (p *Portfolio) longest() int {
	longest := 1
	for _, r := range p.known {
		longest = max(longest, r.Cost)
	}
	return longest
}

// share returns how many of a batch's executions an arm gets: half, if in the last round it found
// less than half as many new behaviours per execution as all arms together.
func (p *Portfolio) share(a *arm, arms []*arm, n int) int {
	executions, fresh := 0, 0
	for _, b := range arms {
		executions += b.executions
		fresh += b.fresh
	}
	if a.executions > 0 && 2*a.fresh*executions < fresh*a.executions {
		return max(1, n/2)
	}
	return n
}

// set returns the index of a set of scheduling points in Portfolio.seen.
func set(memory bool) int {
	if memory {
		return 1
	}
	return 0
}

// grow makes sites scheduling points from now on. Lengths of executions with the old set no longer
// count; those of the last recordings, with the new set, do.
func (p *Portfolio) grow(sites []trace.Site) {
	if len(sites) == 0 {
		return
	}
	for _, s := range sites {
		p.racing[s] = true
	}
	p.points = slices.Sorted(maps.Keys(p.racing))
	p.seen[1] = Seen{}
	for _, r := range p.known {
		n := r.Sync
		for _, s := range p.points {
			n += r.Accesses[s]
		}
		p.saw(true, n, r.Threads)
	}
}

// saw records an execution that ended well.
func (p *Portfolio) saw(memory bool, points, threads int) {
	s := &p.seen[set(memory)]
	s.Points, s.Threads = max(s.Points, points), max(s.Threads, threads)
}

// recorded records an execution that was observed.
func (p *Portfolio) recorded(o *observe.Observation, threads int) {
	r := recording{Cost: o.Sent + (o.Events-o.Sent)/inPlace, Threads: threads, Accesses: o.Accesses, Sync: o.Sync}
	p.saw(false, r.Sync, r.Threads)
	if p.known = append(p.known, r); len(p.known) > recordings {
		p.known = p.known[1:]
	}
}

// window moves skip on to accesses that have not been examined.
func (p *Portfolio) window(o *observe.Observation) {
	if o.More {
		p.skip += o.Shown
	} else {
		p.skip = 0
	}
}
