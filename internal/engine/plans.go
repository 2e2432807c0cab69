package engine

import (
	"math/bits"
	"math/rand/v2"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A round tries every arm: each strategy over synchronisation alone, then each with the
// memory points there are. Rounds begin small, since most bugs are found within a handful
// of executions and each round looks at what the one before has shown, and double up to
// some hundred executions an arm.
const (
	firstBatch = 4
	lastBatch  = 256
	// sameParameters is how many executions share one draw of a strategy's parameters.
	sameParameters = 16
	// recordings of a round, and the events they may have in all: programs with millions
	// of accesses are recorded less often.
	recordings     = 4
	recordedEvents = 2_000_000
	// cheapEvents is up to how many events every other plan is recorded where races are
	// failures: only a recorded execution shows them.
	cheapEvents = 5000
)

// arm is a strategy with one of the two sets of points.
type arm struct {
	strategy strategy.Strategy
	memory   bool
	// executions and fresh are those of its last round: how many, and how many of them
	// showed a behaviour not seen before.
	executions, fresh int
}

// planned is a plan of a round.
type planned struct {
	plan schedule.Plan
	arm  *arm
}

// planner makes the rounds of a campaign.
type planner struct {
	opts   *Options
	expect int32
	rand   *rand.Rand
	arms   []*arm
	next   uint64 // executions planned so far
	plans  int    // plans made so far
	round  int
	points []trace.Site
	// seen is what executions without and with memory points showed.
	seen [2]strategy.Seen
	// known are the last recordings, of which the number of points can be had for any
	// set of them.
	known []recording
	// observer sees the executions that are recorded. Where they are too long for that, each
	// round's recordings begin, with the accesses, where those of the round before ended.
	observer observe.Observer
	skip     int
}

// recording is what a recorded execution would have had for points.
type recording struct {
	events, threads int
	sync            int                // scheduling points whatever the set is
	accesses        map[trace.Site]int // by instruction
}

func newPlanner(opts *Options) *planner {
	p := &planner{opts: opts, rand: rand.New(rand.NewPCG(opts.Seed, 0x68656464))}
	strategies := opts.Strategies
	if strategies == nil {
		strategies = strategy.Portfolio()
	}
	for _, memory := range []bool{false, true} {
		for _, s := range strategies {
			p.arms = append(p.arms, &arm{strategy: s, memory: memory})
		}
	}
	return p
}

// plan fills in what all plans have in common. Seeds of executions are consecutive, so
// that no two executions of a campaign share one.
func (p *planner) plan(plan schedule.Plan, memory bool, repeat int) schedule.Plan {
	plan.Seed = p.seed()
	p.next += uint64(repeat)
	plan.Repeat, plan.Stop = repeat, true
	plan.ExpectStatus, plan.MaxSteps = p.expect, p.opts.MaxSteps
	// A timed wait may run out early in every second plan: it must not hide what happens
	// when none does. It changes nothing for a program without one. Rounds take turns
	// too, since in the early ones every arm has one plan.
	p.plans++
	plan.Timeouts = (p.plans+p.round)%2 == 0 && !p.opts.NoEarlyTimeouts
	plan.Delays = p.opts.delays()
	plan.Spurious = p.opts.Spurious
	if memory {
		plan.Points = p.points
	}
	return plan
}

// seed is that of the next plan.
func (p *planner) seed() uint64 { return bits.RotateLeft64(p.opts.Seed, 32) + p.next }

// first is the plan that shows what the program does when left alone.
func (p *planner) first() schedule.Plan {
	plan := p.plan(schedule.Plan{Policy: schedule.Fair}, true, 1)
	p.watched(&plan)
	return plan
}

// watched makes a plan's executions recorded ones that the observer sees.
func (p *planner) watched(plan *schedule.Plan) {
	plan.Record, plan.Accesses, plan.Watcher = true, true, &p.observer
}

// nextRound is the next round's plans: recorded executions, then the batches.
func (p *planner) nextRound() []planned {
	var plans []planned
	n := lastBatch
	if p.round < 6 {
		n = firstBatch << p.round
	}
	arms := p.arms
	if len(p.points) == 0 {
		arms = arms[:len(arms)/2]
	}
	for i := range p.recordings() {
		// Every arm gets its turn over the rounds; memory points first, where what is
		// still hidden is more likely to show.
		a := arms[len(arms)-1-(p.round*recordings+i)%len(arms)]
		plan := p.plan(a.strategy.Plan(p.rand, p.seen[set(a.memory)]), a.memory, 1)
		p.watched(&plan)
		if p.skip > 0 {
			plan.Accesses, plan.SkipAccesses = false, p.skip // a trace has them from the start or not at all
		}
		plans = append(plans, planned{plan, a})
	}
	cheap := p.opts.RacesFail && p.longest() < cheapEvents
	for _, a := range arms {
		for left := p.share(a, arms, n); left > 0; left -= sameParameters {
			plan := a.strategy.Plan(p.rand, p.seen[set(a.memory)])
			plan = p.plan(plan, a.memory, min(left, sameParameters))
			// Time-outs take every second plan: all four combinations come.
			if cheap && p.plans/2%2 == 0 {
				p.watched(&plan)
			}
			plans = append(plans, planned{plan, a})
		}
	}
	for _, a := range arms {
		a.executions, a.fresh = 0, 0
	}
	p.round++
	return plans
}

// recordings is how many executions of the next round are recorded.
func (p *planner) recordings() int {
	return max(1, min(recordings, recordedEvents/p.longest()))
}

// longest is how many events the longest of the last recordings has, at least 1.
func (p *planner) longest() int {
	longest := 1
	for _, r := range p.known {
		longest = max(longest, r.events)
	}
	return longest
}

// share is how many of a batch's executions an arm gets: half, if in the last round it
// brought less than half as many new behaviours an execution as all arms did together.
func (p *planner) share(a *arm, arms []*arm, n int) int {
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

// set is the index of a set of points in planner.seen.
func set(memory bool) int {
	if memory {
		return 1
	}
	return 0
}

// grown tells the planner of further memory points. Lengths of executions with
// the old ones no longer count; those of the last recordings with the new ones do.
func (p *planner) grown(points []trace.Site) {
	p.points = points
	p.seen[1] = strategy.Seen{}
	for _, r := range p.known {
		n := r.sync
		for _, s := range points {
			n += r.accesses[s]
		}
		p.saw(true, n, r.threads)
	}
}

// saw tells the planner of an execution that ended well.
func (p *planner) saw(memory bool, points, threads int) {
	s := &p.seen[set(memory)]
	s.Points, s.Threads = max(s.Points, points), max(s.Threads, threads)
}

// recorded tells it of one that was observed.
func (p *planner) recorded(o observe.Observation, threads int) {
	r := recording{events: o.Events, threads: threads, accesses: o.Accesses, sync: o.Sync}
	p.saw(false, r.sync, r.threads)
	if p.known = append(p.known, r); len(p.known) > recordings {
		p.known = p.known[1:]
	}
}

// window moves on to the accesses that the observer has not seen.
func (p *planner) window(o observe.Observation) {
	if o.More {
		p.skip += o.Shown
	} else {
		p.skip = 0
	}
}
