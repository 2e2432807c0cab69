package engine

import (
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
// executions (schedule.Plan.Cut) and spends as many scheduling points on these as on whole ones.
const (
	longFirst = 20_000 // points of the first execution from which on others are cut
	leastCut  = 2_000  // points of an execution that is cut: between these, log-uniform
	mostCut   = 20_000
)

// CutExecutions are executions that the search ended before they were over. Each is judged up to there.
type CutExecutions struct {
	Executions int `json:"executions"`
	Points     int `json:"points"` // the most after which one was cut
}

// cuts decides which executions are cut. Everything follows from the plans and their outcomes, in their order.
type cuts struct {
	Long    int        `json:"long"`    // points of the last whole execution; 0 while none was long
	Planned [2]float64 `json:"planned"` // points of planned executions, whole and cut, since Yields changed
	// Yields is the kind of execution, an index of Planned, that showed the last new race; -1 before the first.
	Yields int           `json:"yields"`
	Cut    CutExecutions `json:"cut"`
	Since  int           `json:"since"` // cut since the last new behaviour
}

// The kinds of executions, as indices of cuts.Planned.
const (
	whole = iota
	cutShort
)

// Of the points that a search plans, each kind gets half at first, and once a kind has shown a new race, yieldShare.
const yieldShare = 0.75

// share returns the part of the points that is for executions that are cut.
func (c *cuts) share() float64 {
	switch c.Yields {
	case whole:
		return 1 - yieldShare
	case cutShort:
		return yieldShare
	}
	return 0.5
}

// shorten decides whether the executions of a plan are cut, and after how many points.
func (s *search) shorten(r *strategy.Request) {
	p, c := &r.Plan, &s.cuts
	fixed := 0
	if s.opts.Cut != nil {
		if fixed = *s.opts.Cut; fixed == 0 {
			return
		}
	}
	if !samples(p) && (fixed == 0 || r.Key != strategy.First) {
		return
	}
	budget := fixed
	if fixed == 0 {
		if c.Long == 0 {
			return
		}
		n := float64(max(1, p.Repeat))
		if share := c.share(); c.Planned[cutShort]*(1-share) > c.Planned[whole]*share {
			c.Planned[whole] += n * float64(c.Long)
			return
		}
		random := rand.New(rand.NewPCG(s.opts.Seed, s.flight.tag))
		budget = int(leastCut * math.Pow(float64(mostCut)/leastCut, random.Float64()))
		c.Planned[cutShort] += n * float64(budget)
	}
	if p.MaxSteps > 0 {
		budget = min(budget, p.MaxSteps)
	}
	// A fair phase would only shorten the part under the plan's policy.
	p.Cut, p.MaxSteps, p.FairAfter = true, budget, schedule.Never
	p.Length = min(p.Length, budget) // where the policy's change points lie
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
func (c *cuts) ran(o *schedule.Outcome, first, fresh bool) {
	switch {
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
func (c *cuts) raced(o *schedule.Outcome) {
	kind := whole
	if o.Cut {
		kind = cutShort
	}
	if c.Yields != kind {
		c.Yields, c.Planned = kind, [2]float64{}
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
	t.Header.Cut = t.Decisions()
}
