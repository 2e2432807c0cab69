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

// Portfolio is find's default search: strategies take turns, samplers and searches that direct
// the threads. Samplers schedule synchronisation alone, or with racing instructions as scheduling points
// too. What one strategy's executions show, races above all, serves the others.
//
// It works in turns. A turn is planned once the previous one has been observed completely, so that
// instructions that raced in its watched executions are scheduling points in the next. First comes the
// opening; then each turn divides its executions according to what the arms have yielded (bandit.go).
type Portfolio struct {
	setting  Setting
	samplers []Sampler
	source   *rand.PCG
	rand     *rand.Rand

	arms   []*arm
	next   uint64    // executions planned so far
	plans  int       // plans made so far
	turn   int       // turns planned so far
	round  int       // the same, but the opening counts as one
	queue  []Request // of the turn, not yet given out; see promise
	flying int       // plans in flight
	points []trace.Site
	// racing are the memory instructions that are scheduling points; fresh are those that become
	// scheduling points in the next turn: instructions that have raced, and those between which a
	// handler may run.
	racing map[trace.Site]bool
	fresh  []trace.Site
	// seen summarises the executions without and with memory instructions as scheduling points.
	seen [2]Seen
	// known are the last recordings, from which the number of scheduling points follows for any set
	// of instructions.
	known []recording
	// skip is how many accesses the next turn's watched executions omit: where the target sends
	// accesses to heddle and executions have too many, each turn begins where the previous one
	// ended.
	skip int
}

// Turns after the opening begin small, since most bugs are found within a few executions and each
// turn uses what the previous one has shown, and double up to some hundred executions per arm.
const (
	firstBatch = 4
	lastBatch  = 256
	// sameParameters is how many executions at most share one draw of a sampler's parameters.
	sameParameters = 16
	// draws is how many draws of its parameters a sampler makes in a turn at least, as far as it has
	// executions.
	draws = 4
	// Of a sampler's plans, one in syncAlone has synchronisation alone as scheduling points, since
	// instructions that race may be many and not matter.
	syncAlone = 4
	// Watched executions per turn, and what they may cost in total (recording.Cost): programs with
	// millions of accesses are watched less often.
	recordings   = 4
	recordedCost = 2_000_000
	// cheapCost is the cost up to which every other plan is watched if races are failures, and every
	// plan of the opening: only a watched execution shows races.
	cheapCost = 5000
	// inPlace is how many accesses that the target examines cost as much as an event that it sends.
	inPlace = 64
)

// The opening, of a search that has guides, makes about openingExecutions. Its turns begin with single
// executions, so that each uses what the one before has shown, and grow to a part of 1/openingGrowth of
// what was made.
const (
	openingExecutions = 1000
	openingGrowth     = 64
)

// openingTurns are the turns of the opening, over and over: who gets each part of the turn's executions.
// The parts of a guide that has no more plans are not made, so they go to the others. docs/exploration.md has
// the figures behind this.
var openingTurns = [][]opener{
	{feedbackOpens, racesOpen, ctriggerOpens, feedbackOpens},
	{feedbackOpens, racesOpen, ctriggerOpens, ctriggerOpens, samplerOpens},
}

// opener is a guide, an index of Portfolio.arms, or the sampler whose turn it is.
type opener int

const (
	feedbackOpens opener = iota
	racesOpen
	ctriggerOpens
	samplerOpens opener = -1
)

// arm is a sampler, or a search that makes its own plans.
type arm struct {
	sampler Sampler
	guide   guide // nil for a sampler
	tally   tally
}

// String returns the arm's name.
func (a *arm) String() string {
	if a.guide != nil {
		return a.guide.String()
	}
	return a.sampler.String()
}

// foreign is the Request.Key under which a guide observes an execution of another arm.
const foreign = -2

// guide is a strategy that can be an arm of a portfolio.
type guide interface {
	Strategy
	// eager makes the strategy give plans without waiting for the outcomes of others.
	eager()
	// pairs returns how many reads-from pairs the executions have shown, or 0 if it does not look.
	pairs() int
	// ended reports whether the strategy has no more plans.
	ended() bool
}

// recording summarises a watched execution for the choice of scheduling points.
type recording struct {
	// Cost is what watching cost, in events sent from the program to heddle.
	Cost, Threads int
	Sync          int                // scheduling points for any set
	Accesses      map[trace.Site]int // by instruction
}

// NewPortfolio returns a search by the given samplers; without any, by Samplers and by the searches
// that direct the threads.
func NewPortfolio(s Setting, samplers ...Sampler) *Portfolio {
	var guides []guide
	if len(samplers) == 0 {
		samplers = Samplers()
		guides = []guide{feedbackOpens: NewFeedback(s), racesOpen: NewRaceDirected(s), ctriggerOpens: NewCTrigger(s)}
	}
	source := source(s.Seed)
	// The first execution has been planned: it counts as one.
	p := &Portfolio{setting: s, samplers: samplers, source: source, rand: rand.New(source), next: 1, plans: 1, racing: map[trace.Site]bool{}}
	for _, g := range guides {
		g.eager()
		p.arms = append(p.arms, &arm{guide: g})
	}
	for _, s := range samplers {
		p.arms = append(p.arms, &arm{sampler: s})
	}
	p.grow(s.Points)
	return p
}

// String returns "portfolio" and the names of the arms.
func (p *Portfolio) String() string {
	words := []string{"portfolio"}
	for _, a := range p.arms {
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}

// inOpening reports whether the next turn belongs to the opening.
func (p *Portfolio) inOpening() bool { return p.arms[0].guide != nil && p.next <= openingExecutions }

// Stage implements Strategy. The opening counts as one round, and then each turn.
func (p *Portfolio) Stage() Stage {
	return Stage{Round: p.round, Points: len(p.points), Waiting: len(p.fresh)}
}

// Next implements Strategy.
func (p *Portfolio) Next(left int) (Request, bool) {
	for {
		if len(p.queue) == 0 {
			if p.flying > 0 {
				return Request{}, false
			}
			p.grow(p.fresh)
			p.fresh = nil
			if p.queue = within(p.nextTurn(), left); len(p.queue) == 0 {
				return Request{}, false
			}
		}
		r := p.queue[0]
		ok := true
		if a := p.arms[r.Key]; a.guide == nil {
			p.queue = p.queue[1:]
		} else {
			promised := r.Plan.Repeat
			r, ok = p.guided(r.Key, promised)
			if p.queue[0].Plan.Repeat -= r.Plan.Repeat; !ok || p.queue[0].Plan.Repeat <= 0 {
				p.queue = p.queue[1:]
			}
		}
		if ok {
			// Seeds of executions are consecutive, so that no two executions of a search share one.
			r.Plan.Seed = p.setting.FirstSeed() + p.next
			p.next += uint64(r.Plan.Repeat)
			p.flying++
			return r, true
		}
	}
}

// promise returns the place in a turn of n executions that a guide plans when they are due, so that it
// knows the outcomes observed by then.
func promise(arm, n int) Request { return Request{Key: arm, Plan: schedule.Plan{Repeat: n}} }

// guided returns a guide's next plan. The portfolio's key tells the arm and the guide's own key.
func (p *Portfolio) guided(arm, left int) (Request, bool) {
	r, ok := p.arms[arm].guide.Next(left)
	if p.longest() >= cheapCost && p.next%observeEvery != 0 {
		r.Observe = false
	}
	r.Key = r.Key*len(p.arms) + arm
	return r, ok
}

// within cuts a turn to left executions; negative means any number.
func within(turn []Request, left int) []Request {
	if left < 0 {
		return turn
	}
	for i := range turn {
		if n := &turn[i].Plan.Repeat; *n >= left {
			*n = left
			if left > 0 {
				i++
			}
			return turn[:i]
		}
		left -= turn[i].Plan.Repeat
	}
	return turn
}

// Observe implements Strategy.
func (p *Portfolio) Observe(o *Observation) {
	first := o.Request.Key == First
	if o.Last && !first {
		p.flying--
	}
	var mine *arm
	if !first {
		mine = p.arms[o.Request.Key%len(p.arms)]
	}
	pair := p.guide(o, mine)
	out := o.Outcome
	if out == nil {
		return
	}
	// A race does not end an execution: one with no other failure ended well.
	well := !out.Ending.Kind.Failed() && out.Ending.Kind != trace.Unfinished || out.Ending.Kind == trace.Race
	if mine != nil {
		mine.tally.saw(o, pair)
		if well && (mine.guide == nil || len(o.Request.Plan.Points) == len(p.points)) {
			p.saw(len(o.Request.Plan.Points) > 0, out.Points, out.Threads)
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

// guide shows an execution to the guides that can learn from it, and reports whether it showed a new
// reads-from pair.
func (p *Portfolio) guide(o *Observation, mine *arm) (pair bool) {
	for _, a := range p.arms {
		if a.guide == nil {
			continue
		}
		key := foreign
		switch {
		case a == mine:
			key = o.Request.Key / len(p.arms)
		case o.Seen == nil && (o.Outcome == nil || o.Outcome.Trace == nil):
			continue
		case o.Request.Key == First:
			key = First
		}
		// Copies, which are allocated, only for what a guide sees: most executions are samplers'.
		shown, request := *o, *o.Request
		request.Key, shown.Request = key, &request
		before := a.guide.pairs()
		a.guide.Observe(&shown)
		pair = pair || a.guide.pairs() > before
	}
	return pair
}

// plan returns the next plan of a sampler.
func (p *Portfolio) plan(arm, repeat int) Request {
	memory := len(p.points) > 0 && p.rand.IntN(syncAlone) > 0
	plan := p.arms[arm].sampler.Plan(p.rand, p.seen[set(memory)])
	plan.Repeat = repeat
	if memory {
		plan.Points = p.points
	}
	// Half of the plans may let timed waits time out early: early time-outs must not hide what
	// happens without them. Programs without timed waits are not affected.
	plan.Timeouts = p.rand.IntN(2) == 0 && !p.setting.NoEarlyTimeouts
	p.plans++
	return Request{Plan: plan, Key: arm}
}

// nextTurn returns the next turn's plans: in the opening, one of each of its arms; then watched
// executions, and the arms' shares.
func (p *Portfolio) nextTurn() []Request {
	p.turn++
	if p.inOpening() {
		p.round = 1
		return p.open()
	}
	p.round++
	after := p.round - 1
	n := lastBatch
	if after < 6 {
		n = firstBatch << after
	}
	guides := len(p.arms) - len(p.samplers)
	recorded := p.recordings()
	plans := make([]Request, 0, recorded+len(p.arms)*(n+sameParameters-1)/sameParameters)
	for i := range recorded {
		r := p.plan(guides+(after*recordings+i)%len(p.samplers), 1)
		r.Plan.Record, r.Observe, r.Plan.SkipAccesses = true, true, p.skip
		plans = append(plans, r)
	}
	cheap := p.setting.RacesFail && p.longest() < cheapCost
	var going []int // arms that have plans
	var tallies []*tally
	for i, a := range p.arms {
		if a.guide == nil || !a.guide.ended() {
			going, tallies = append(going, i), append(tallies, &a.tally)
		}
	}
	for i, left := range shares(tallies, n*len(going)) {
		k := going[i]
		if p.arms[k].guide != nil {
			plans = append(plans, promise(k, left))
			continue
		}
		for each := min(sameParameters, (left+draws-1)/draws); left > 0; left -= each {
			r := p.plan(k, min(left, each))
			r.Observe = cheap && p.plans%2 == 0
			plans = append(plans, r)
		}
	}
	for _, a := range p.arms {
		a.tally.discount()
	}
	return plans
}

// open returns a turn of the opening.
func (p *Portfolio) open() (plans []Request) {
	n := 1 + int(p.next)/openingGrowth
	samplers := p.arms[len(p.arms)-len(p.samplers):]
	for _, who := range openingTurns[p.turn%len(openingTurns)] {
		if who != samplerOpens {
			plans = append(plans, promise(int(who), n))
			continue
		}
		k := p.turn / len(openingTurns) % len(samplers)
		plans = append(plans, p.plan(len(p.arms)-len(samplers)+k, n))
	}
	return plans
}

// recordings returns how many executions of the next turn are watched.
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
