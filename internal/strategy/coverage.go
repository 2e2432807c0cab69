package strategy

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Coverage is what an exhaustive search has enumerated.
type Coverage struct {
	// Complete means that nothing is left to execute: all schedules with at most Preemptions
	// preemptions, or of every behaviour of the program one, if that is negative. With both a bound and
	// Reduced, the executions reach every state that a thread reaches in a schedule within the bound. It
	// is never set if Missing is not empty.
	Complete    bool `json:"complete"`
	Preemptions int  `json:"preemptions"`
	Delays      bool `json:"delays,omitempty"` // Preemptions counts delays instead: schedules with at most so many
	// Executions are those of the enumeration, and Behaviours is the number of their behaviours, by
	// schedule.Outcome.Signature. Redundant executions, which are equivalent to one of them, and
	// those made with a smaller set of scheduling points do not count.
	Executions int `json:"executions"`
	Behaviours int `json:"behaviours"`
	Redundant  int `json:"redundant,omitempty"`
	// Reduced means that of executions that order conflicting operations in the same way only one
	// was made.
	Reduced bool `json:"reduced"`
	// Fair means that schedules were left out in which a thread that yields runs again before
	// others that could run.
	Fair bool `json:"fair,omitempty"`
	// Missing says why executions may exist that the search does not enumerate.
	Missing []string `json:"missing,omitempty"`
	// Departed is where the first execution left its schedule that did, with NotFollowed in Missing.
	Departed *schedule.Divergence `json:"-"`
}

// NotFollowed is the entry of Coverage.Missing for an execution that left its schedule.
const NotFollowed = "an execution did not follow its schedule, so the program depends on more than the schedule"

// Bound returns the bound in words: "2 preemptions".
func (c *Coverage) Bound() string {
	if c.Delays {
		return wording.Count(c.Preemptions, "delay")
	}
	return wording.Count(c.Preemptions, "preemption")
}

// Exhaustive is a Strategy that can say what it has enumerated.
type Exhaustive interface {
	Strategy
	// Coverage is valid once Next has returned false with nothing in flight, and before that for
	// smaller bounds on preemptions. ok is false if there is nothing to say.
	Coverage() (c Coverage, ok bool)
}

// enumeration is what the exhaustive searches share: the scheduling points, the threads, and what
// they cannot enumerate.
type enumeration struct {
	Points  []trace.Site `json:"points,omitempty"`
	Dir     directory    `json:"threads"`
	Missing []string     `json:"missing,omitempty"`
	// Departed is that of Coverage.
	Departed *schedule.Divergence `json:"departed,omitempty"`
	Unfair   bool                 `json:"unfair,omitempty"`
	Waits    bool                 `json:"waits,omitempty"` // an operation may have a time limit
	Rounds   int                  `json:"rounds"`
	// Seen are the signatures of the executions with the present scheduling points.
	Seen map[uint64]bool `json:"seen,omitempty"`
}

// look reads an outcome. It returns nil if the outcome cannot be used; the reason is then in Missing.
func (x *enumeration) look(o *Observation) *recorded {
	switch out := o.Outcome; {
	case out == nil:
		x.miss("an execution was not made")
		return nil
	case out.Trace == nil:
		x.miss("an execution could not be recorded")
		return nil
	case out.Ending.Kind == trace.Diverged:
		x.miss(NotFollowed)
		if x.Departed == nil {
			x.Departed = out.Diverged
		}
		return nil
	case out.Ending.Kind == trace.Hang, out.Ending.Kind == trace.Livelock, out.Ending.Kind == trace.Unfinished:
		x.miss("an execution did not end within the step budget")
	}
	if x.Seen == nil {
		x.Seen = map[uint64]bool{}
	}
	x.Seen[o.Outcome.Signature] = true
	r := x.Dir.read(o.Outcome)
	for _, why := range r.missing {
		x.miss(why)
	}
	x.Unfair, x.Waits = x.Unfair || r.unfair, x.Waits || r.waits
	switch seen := o.Seen; {
	case seen == nil:
		x.miss("an execution could not be watched for races")
	case seen.Incomplete != "" || seen.More:
		x.miss("an execution had too many accesses to watch all of them for races")
	}
	return r
}

func (x *enumeration) miss(why string) {
	if !slices.Contains(x.Missing, why) {
		x.Missing = append(x.Missing, why)
	}
}

// raced adds the instructions that raced in an execution to the scheduling points, and reports
// whether there are new ones: the space to search is then another one.
func (x *enumeration) raced(o *Observation) bool {
	if o.Seen == nil {
		return false
	}
	n := len(x.Points)
	for _, site := range slices.Concat(race.Sites(o.Seen.Races), o.Seen.Handlers) {
		if i, ok := slices.BinarySearch(x.Points, site); !ok {
			x.Points = slices.Insert(slices.Clone(x.Points), i, site)
		}
	}
	if len(x.Points) == n {
		return false
	}
	x.Rounds++
	x.Seen = nil
	return true
}
