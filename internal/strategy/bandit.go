package strategy

import "github.com/heddle-dev/heddle/schedule"

// A portfolio's arms share its executions by probability matching (Goldberg, "Probability Matching, the
// Magnitude of Reinforcement, and Classifier System Bidding", Machine Learning 1990), with the
// rewards of past turns discounted, since what an arm yields falls as the search goes on: of a turn's
// executions, an arm gets a part in proportion to its reward per unit of cost, and never less than its
// part of spread.
//
// The reward is new behaviours: orders of conflicting operations, and pairs of a write and a read that
// reads from it. UCB1 and EXP3 would move nearly all effort to the arm with the largest reward. But a
// new behaviour only stands for the chance of a new failure, and arms that yield equally many differ in
// which failures they show.
//
// The cost is an estimate of time that is the same on every machine, so that a search depends on its
// seed alone.
const (
	// keptReward is the part of the sums that is kept from one turn to the next. Turns double at first,
	// so there the last turn counts for most of it.
	keptReward = 0.5
	// spread is the part of the executions that all arms share equally, so that none starves: what
	// shows little that is new may still be what shows the failure.
	spread = 0.25
	// pairReward is the reward of an execution that shows a new reads-from pair, in new behaviours.
	// Pairs are of instructions, and so a program has few of them.
	pairReward = 8

	// The cost of an execution, in scheduling points: restoring the program's memory and handing over
	// the outcome cost executionCost, a plan costs planCost, and each point of a recorded execution
	// costs eventCost more. On claimed_stack (testdata/programs/families), with about 75 points, an
	// execution of a random walk took 12 to 16 µs, one of race-directed search, with a plan for each
	// execution, 30 µs, and one of feedback, which is recorded as well, 48 µs.
	executionCost, planCost, eventCost = 100, 250, 5
)

// tally is what an arm has yielded.
type tally struct {
	// Reward and Cost are discounted sums.
	Reward float64 `json:"reward"`
	Cost   float64 `json:"cost"`
	// The rest are sums over the whole search: executions, those that showed a new behaviour, those that
	// showed a new reads-from pair, and those that failed.
	Executions int `json:"executions"`
	New        int `json:"new"`
	Pairs      int `json:"pairs"`
	Failures   int `json:"failures"`
}

// saw adds an execution. pair says that it showed a new reads-from pair.
func (t *tally) saw(o *Observation, pair bool) {
	t.Executions++
	t.Cost += cost(&o.Request.Plan, o.Outcome)
	if o.Outcome.Ending.Kind.Failed() {
		t.Failures++
	}
	if o.New {
		t.New++
		t.Reward++
	}
	if pair {
		t.Pairs++
		t.Reward += pairReward
	}
}

// discount is called at the end of a turn.
func (t *tally) discount() {
	t.Reward *= keptReward
	t.Cost *= keptReward
}

// cost estimates the time of an execution, in scheduling points.
func cost(p *schedule.Plan, o *schedule.Outcome) float64 {
	c := executionCost + float64(o.Points) + planCost/float64(max(1, p.Repeat))
	if o.Trace != nil {
		c += eventCost * float64(o.Points)
	}
	return c
}

// averageYield returns the reward per unit of cost of all arms together.
func averageYield(tallies []*tally) float64 {
	reward, cost := 0.0, 0.0
	for _, t := range tallies {
		reward, cost = reward+t.Reward, cost+t.Cost
	}
	if reward == 0 {
		return 0
	}
	return reward / cost
}

// yield estimates an arm's reward per unit of cost, relative to the average: it is the mean of the rate's
// posterior distribution if rewards come by chance and its prior distribution is that of one reward at the
// average rate. Few rewards thus say little, and an arm without a past is an average one.
func (t *tally) yield(average float64) float64 { return (t.Reward + 1) / (t.Cost*average + 1) }

// shares divides n executions among arms, at least one for each.
func shares(tallies []*tally, n int) []int {
	rates, sum := make([]float64, len(tallies)), 0.0
	average := averageYield(tallies)
	for i, t := range tallies {
		rates[i] = t.yield(average)
		sum += rates[i]
	}
	out := make([]int, len(tallies))
	for i, rate := range rates {
		part := spread/float64(len(tallies)) + (1-spread)*rate/sum
		out[i] = max(1, int(part*float64(n)))
	}
	return out
}
