package engine

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A stress test repeats a few operations for 100,000 turns. A bug that is in the operations shows in the first turns as well as in the
// last, and the beginning of an execution costs a fraction of the whole. So if the first execution is long, the search cuts part of the
// executions (schedule.Plan.Cut). A bug of a late turn, or of the end, shows only in executions that get there: of those that run to
// their end, part leave decisions to the policy only in some turns of a loop (schedule.Plan.Turns), so that few decisions lie between
// two that matter. Each of the two gets half of the scheduling points.
const (
	longFirst = 20_000 // points of the first execution from which on others are cut
	leastCut  = 2_000  // points of an execution that is cut: between these, log-uniform
	mostCut   = 20_000
	// Plan.Turns: visits of a window, and points after a visit that is one of an instruction's first, log-uniformly.
	leastTurns, mostTurns = 16, 4096
	// turnVisits is how many points of an execution go with one visit of an instruction in a loop, at the least.
	turnVisits = 4
	// firstDecisions is how many decisions an execution with turns is taken to have before one has run.
	firstDecisions = 1000
	// mostPriorities is the largest depth of PCT in an execution with turns.
	mostPriorities = 4
)

// CutExecutions are executions that the search ended before they were over. Each is judged up to there.
type CutExecutions struct {
	Executions int `json:"executions"`
	Points     int `json:"points"` // the most after which one was cut
}

// cuts decides which executions are cut. Everything follows from the plans and their outcomes, in their order.
type cuts struct {
	Long    int            `json:"long"`    // points of the last whole execution; 0 while none was long
	Planned [kinds]float64 `json:"planned"` // points of planned executions, by kind, since Yields changed
	// Yields is the kind of execution, an index of Planned, that showed the last new race; -1 before the first.
	Yields int           `json:"yields"`
	Cut    CutExecutions `json:"cut"`
	// InTurns is the number of executions with Plan.Turns, and Decisions how many scheduling points of the last one were left to its policy.
	InTurns   int `json:"inTurns"`
	Decisions int `json:"decisions"`
	Since     int `json:"since"` // executions without a behaviour since the last new one
}

// The kinds of executions, as indices of cuts.Planned.
const (
	cutShort = iota
	inTurns
	whole
	kinds
)

// Of the points that a search plans, each kind gets its share at first, and once a kind has shown a new race, yieldShare.
var firstShares = [kinds]float64{cutShort: 0.5, inTurns: 0.25, whole: 0.25}

const yieldShare = 0.75

// share returns the part of the points that is for executions of a kind.
func (c *cuts) share(kind int) float64 {
	switch c.Yields {
	case -1:
		return firstShares[kind]
	case kind:
		return yieldShare
	}
	return (1 - yieldShare) * firstShares[kind] / (1 - firstShares[c.Yields])
}

// next returns the kind that is behind its share, inTurns only with turns: the runtime has to know them, and an execution that is
// recorded is for a search that learns from the orders in it.
func (c *cuts) next(turns bool) int {
	least := whole
	for kind := range kinds {
		if kind == inTurns && !turns {
			continue
		}
		if c.Planned[kind]*c.share(least) < c.Planned[least]*c.share(kind) {
			least = kind
		}
	}
	return least
}

// shorten decides of which kind the executions of a plan are.
func (s *search) shorten(r *strategy.Request) {
	p, c := &r.Plan, &s.cuts
	if s.opts.Cut != nil {
		if n := *s.opts.Cut; n > 0 && (samples(p) || r.Key == strategy.First) {
			cutAt(p, n)
		}
		return
	}
	if !samples(p) || c.Long == 0 {
		return
	}
	random := rand.New(rand.NewPCG(s.opts.Seed, s.flight.tag))
	kind, points := c.next(!p.Record && s.target.Header().Target == "c"), c.Long
	switch kind {
	case cutShort:
		points = logUniform(random, leastCut, mostCut)
		cutAt(p, points)
	case inTurns:
		c.turns(p, random)
	}
	c.Planned[kind] += float64(max(1, p.Repeat)) * float64(points)
}

// cutAt cuts the executions of a plan after n points.
func cutAt(p *schedule.Plan, n int) {
	if p.MaxSteps > 0 {
		n = min(n, p.MaxSteps)
	}
	// A fair phase would only shorten the part under the plan's policy.
	p.Cut, p.MaxSteps, p.FairAfter = true, n, schedule.Never
	p.Length = min(p.Length, n) // where the policy's change points lie
}

// turns leaves decisions to the policy of a plan only in some turns of loops. Among few decisions PCT hits the ones that matter, so half
// of these plans use it.
func (c *cuts) turns(p *schedule.Plan, random *rand.Rand) {
	visits := max(leastTurns+1, c.Long/turnVisits)
	p.Turns = schedule.Turns{Visits: logUniform(random, leastTurns, mostTurns)}
	if random.IntN(2) == 0 {
		p.Turns.From = random.IntN(visits)
	} else {
		p.Turns.From = logUniform(random, leastTurns, visits)
	}
	if random.IntN(2) == 0 {
		p.Turns.After = logUniform(random, leastTurns, mostTurns)
	}
	decisions := cmp.Or(c.Decisions, firstDecisions)
	if p.Policy != schedule.PCT && random.IntN(2) == 0 {
		p.Policy, p.Stay, p.Depth, p.Length = schedule.PCT, 0, 2+random.IntN(mostPriorities-1), decisions
	}
	p.Length = min(p.Length, decisions)
}

// logUniform returns a number from least to most, log-uniformly.
func logUniform(random *rand.Rand, least, most int) int {
	return int(float64(least) * math.Pow(float64(most)/float64(least), random.Float64()))
}

// samples reports whether a plan draws a schedule at random. The others depend on where an execution ends.
func samples(p *schedule.Plan) bool {
	return p.Mode == schedule.NoScript && slices.Contains([]schedule.Policy{schedule.Random, schedule.PCT, schedule.POS}, p.Policy)
}

// uncut returns the plan of an execution that did not come to where it would have been cut, without that.
func (s *search) uncut(p schedule.Plan) schedule.Plan {
	if p.Cut {
		p.Cut, p.MaxSteps = false, s.opts.MaxSteps
	}
	return p
}

// ran counts an execution, which has a behaviour that is new if fresh is set.
func (c *cuts) ran(p *schedule.Plan, o *schedule.Outcome, first, fresh bool) {
	switch {
	case p.Turns.Visits > 0:
		c.InTurns++
		c.Since++
		c.Decisions = o.Points - o.Passed
	case o.Cut:
		c.Cut.Executions++
		c.Since++
		c.Cut.Points = max(c.Cut.Points, o.Points-1) // the execution ends as a thread arrives at the next
		return
	case fresh:
		c.Since = 0
	}
	if o.Ending.Kind.Failed() || o.Ending.Kind == trace.Unfinished {
		return
	}
	if first && o.Points > longFirst || c.Long > 0 {
		c.Long = o.Points
	}
	if first {
		c.Planned[whole] = float64(c.Long)
	}
}

// raced says that an execution has shown a race that none had shown.
func (c *cuts) raced(p *schedule.Plan, o *schedule.Outcome) {
	kind := whole
	switch {
	case o.Cut:
		kind = cutShort
	case p.Turns.Visits > 0:
		kind = inTurns
	}
	if c.Yields != kind {
		c.Yields, c.Planned = kind, [kinds]float64{}
	}
}

// report returns the executions that were cut, nil if none was.
func (c *cuts) report() *CutExecutions {
	if c.Cut.Executions == 0 {
		return nil
	}
	n := c.Cut
	return &n
}

// What varies a recorded execution that was cut is cut as well: after cutRoom points more than twice as many as the recorded one had, so
// that what happened there can still happen after other threads have gone on.
const cutRoom = 1000

// cutAfter returns after how many points an execution is cut that varies a recorded one, or 0 if that is whole.
func cutAfter(recorded *trace.Trace) int {
	if recorded.Header.Cut == 0 {
		return 0
	}
	return max(recorded.Header.Cut, 2*recorded.Decisions()+cutRoom)
}

// like cuts the execution of a plan that varies a recorded one, if that was cut.
func like(recorded *trace.Trace, p schedule.Plan) schedule.Plan {
	if n := cutAfter(recorded); n > 0 {
		p.Cut, p.MaxSteps = true, n
	}
	return p
}

// cutLike returns an experiment's Setting.Cut for a recorded execution.
func cutLike(recorded *trace.Trace) func(schedule.Plan) int {
	n := cutAfter(recorded)
	if n == 0 {
		return nil
	}
	return func(p schedule.Plan) int { return max(n, 2*len(p.Script)+cutRoom) }
}

// upToRace cuts a recording where the thread that made the later access of a race comes to its next scheduling point.
func upToRace(t *trace.Trace, r *race.Race) {
	n, second := min(r.Event, len(t.Events)), &r.Witness[1]
	if n < len(t.Events) && t.Events[n].Thread == second.Thread && t.Events[n].Site == second.Site {
		n++ // the access is an event
	}
	for n < len(t.Events) && t.Events[n].Flags&trace.FlagNoDecision != 0 {
		n++
	}
	t.Events = t.Events[:n]
	t.Allocs = slices.DeleteFunc(slices.Clone(t.Allocs), func(a trace.Alloc) bool { return a.Event > n })
	for i := range t.Allocs {
		if a := &t.Allocs[i]; a.Freed >= n {
			a.Freed = -1
		}
	}
	t.Locals = slices.DeleteFunc(slices.Clone(t.Locals), func(l trace.Local) bool { return l.Event > n })
	t.Mappings = slices.DeleteFunc(slices.Clone(t.Mappings), func(m trace.Mapping) bool { return m.Event > n })
	t.Header.Cut = t.Decisions()
}
