package strategy

import (
	"encoding/json"
	"fmt"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Finishing is find's default search: a sampling search, and beside it a DPOR, which gets a share of
// the executions. If the program is small, DPOR executes all of its behaviours, and the search is
// complete once the sampling search has made a number of executions, too: DPOR reverses what it sees
// to be dependent, and does not see accesses in code without access hooks, or that unloading a library
// depends on its threads. DPOR is given up when it meets something that it does not enumerate, or when
// its tree is estimated to be large.
//
// Turns alternate at the ends of the sampling search's rounds, so plans of the two are never in
// flight together: DPOR's next plan depends on its last outcome, and would wait for a whole window
// of the others.
type Finishing struct {
	setting  Setting
	sampling Strategy
	dpor     *DPOR
	state    finishingState
}

type finishingState struct {
	// Sampling and Exhaustive count executions. Flying counts the plans of the sampling search in
	// flight; Waits means that it has none to give until these are observed.
	Sampling   int    `json:"sampling"`
	Exhaustive int    `json:"exhaustive"`
	Flying     int    `json:"flying"`
	Waits      bool   `json:"waits"`
	GivenUp    string `json:"givenUp,omitempty"`
	Enumerated bool   `json:"enumerated"` // DPOR has executed all behaviours, and nothing speaks against ending
}

const (
	// exhaustiveShare is the part of the executions that DPOR gets: one in so many. They are recorded
	// and watched, which makes each several times as expensive.
	exhaustiveShare = 4
	// beforeFirst is how many executions the sampling search makes before DPOR's first turn.
	beforeFirst = 64
	// firstTurn is how many executions DPOR may make in its first turn.
	firstTurn = 16
	// smallTree is how many executions the search may need, by an estimate made from the first
	// enoughToEstimate on.
	smallTree        = 50_000
	enoughToEstimate = 500
	// longExecution is the number of decisions among several threads from which an execution is too long: a
	// tree of such executions is not small unless hardly any of them depend on one another. longestExecution is that
	// of all decisions, which each plan repeats.
	longExecution    = 500
	longestExecution = 5000
	// sampled is how many executions the sampling search makes before the search is complete.
	sampled = 1000
	// exhaustiveKey is the Request.Key of DPOR's plans. The sampling search uses smaller ones.
	exhaustiveKey = 1 << 62
)

// NewFinishing returns a search that tries to finish what the sampling search explores.
func NewFinishing(s Setting, sampling Strategy) *Finishing {
	return &Finishing{setting: s, sampling: sampling, dpor: NewDPOR(s)}
}

func (f *Finishing) String() string { return f.sampling.String() + " dpor" }

// Stage implements Strategy: that of the sampling search.
func (f *Finishing) Stage() Stage { return f.sampling.Stage() }

// Coverage implements Exhaustive.
func (f *Finishing) Coverage() (Coverage, bool) {
	c, ok := f.dpor.Coverage()
	return c, ok && c.Complete
}

// Next implements Strategy.
func (f *Finishing) Next(left int) (Request, bool) {
	s := &f.state
	if s.Enumerated && s.Sampling >= sampled {
		return Request{}, false
	}
	if f.dpor.flying {
		return Request{}, false
	}
	if s.GivenUp == "" && !s.Enumerated && s.Flying == 0 && s.Waits && s.Sampling >= beforeFirst && s.Exhaustive < max(firstTurn, s.Sampling/exhaustiveShare) {
		if r, ok := f.dpor.Next(left); ok {
			r.Key = exhaustiveKey
			return r, true
		}
	}
	r, ok := f.sampling.Next(left)
	s.Waits = !ok
	if ok {
		s.Flying++
	}
	return r, ok
}

// Observe implements Strategy.
func (f *Finishing) Observe(o *Observation) {
	s := &f.state
	if o.Request.Key == exhaustiveKey {
		s.Exhaustive++
		f.dpor.Observe(o)
		f.judge()
		return
	}
	f.sampling.Observe(o)
	if o.Request.Key == First {
		s.Waits = false
		if o.Outcome != nil && o.Outcome.Trace != nil && long(o.Outcome.Trace) {
			s.GivenUp = "its executions are long"
			return
		}
		if o.Outcome != nil && o.Outcome.Cut {
			s.GivenUp = "executions are cut"
			return
		}
		f.dpor.Observe(o)
		f.judge()
		return
	}
	if o.Outcome != nil {
		s.Sampling++
	}
	if o.Last {
		s.Flying--
	}
}

// long reports whether an execution is too long to enumerate its like. What main does before it creates a thread
// does not count.
func long(t *trace.Trace) bool {
	alone := 0
	for alone < len(t.Events) && ops.Does(t.Events[alone].Op) != ops.Create {
		alone++
	}
	return len(t.Events)-alone > longExecution || len(t.Events) > longestExecution
}

// judge decides whether DPOR has executed all behaviours, or is to be given up.
func (f *Finishing) judge() {
	s, d := &f.state, &f.dpor.state
	c, _ := f.dpor.Coverage()
	switch estimate := f.dpor.estimate(); {
	case s.GivenUp != "":
	case d.Done && c.Complete:
		// A wait may have a time limit that no execution has reached; the sampling search lets it
		// pass early.
		s.Enumerated = !d.Waits || f.setting.NoEarlyTimeouts
	case len(d.Missing) > 0:
		s.GivenUp = d.Missing[0]
	case d.Unfair:
		s.GivenUp = "a thread yields"
	case len(d.Stack) > longestExecution || f.dpor.choices() > longExecution:
		s.GivenUp = "its executions are long"
	case s.Exhaustive >= enoughToEstimate && estimate > smallTree:
		s.GivenUp = fmt.Sprintf("it has more than %d behaviours, by an estimate", int64(smallTree))
	}
	if s.GivenUp != "" {
		d.Stack = nil
	}
}

// estimate returns how many executions the search will make: those made, divided by the part of the
// tree that they cover if at each node all branches have equally many executions below them (Knuth,
// "Estimating the Efficiency of Backtrack Programs", 1975). Branches that are not known yet are not
// counted.
func (d *DPOR) estimate() float64 {
	s := &d.state
	made := float64(s.Executions + s.Redundant)
	if s.Done {
		return made
	}
	part, weight := 0.0, 1.0
	for _, n := range s.Stack {
		done := len(n.Done)
		all := float64(done + 1 + len(n.Todo))
		part += weight * float64(done) / all
		weight /= all
	}
	if part == 0 {
		part = weight
	}
	return made / part
}

// finishingSaved is the form of MarshalBinary.
type finishingSaved struct {
	State    finishingState `json:"state"`
	Sampling []byte         `json:"sampling"`
	DPOR     []byte         `json:"dpor"`
}

// MarshalBinary implements Strategy.
func (f *Finishing) MarshalBinary() ([]byte, error) {
	out := finishingSaved{State: f.state}
	var err error
	if out.Sampling, err = f.sampling.MarshalBinary(); err != nil {
		return nil, err
	}
	if out.DPOR, err = f.dpor.MarshalBinary(); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// UnmarshalBinary implements Strategy.
func (f *Finishing) UnmarshalBinary(data []byte) error {
	var in finishingSaved
	if err := strict(data, &in); err != nil {
		return err
	}
	if err := f.sampling.UnmarshalBinary(in.Sampling); err != nil {
		return err
	}
	f.state = in.State
	return f.dpor.UnmarshalBinary(in.DPOR)
}
