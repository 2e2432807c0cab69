package engine

import (
	"context"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Libraries of Options.Untold order threads in ways that the analyses do not know, but only threads that
// visit them. An execution that raced while such a library was loaded is repeated with each visit ordered
// after all before it (schedule.Plan.Visits). What races then races whatever the libraries do.

// maxDoubts is how many executions with a race a search repeats in vain to confirm the race.
const maxDoubts = 10

// promising returns those of an execution's races that may be confirmed.
func (s *search) promising(races []race.Race) (out []race.Race) {
	if len(s.doubts) == 0 {
		return races
	}
	for _, r := range races {
		if s.doubts[r.Pair] < maxDoubts {
			out = append(out, r)
		}
	}
	return out
}

// certain repeats an execution that raced, with visits ordered. It reports whether the execution still has a race, and
// makes that one the failure.
func (s *search) certain(ctx context.Context, f *failure) (bool, error) {
	if _, ok := target.As[target.Visited](s.target); !ok {
		return true, nil
	}
	last, cancel := outlasting(ctx)
	defer cancel()
	v := verdict{expect: s.expect, outputs: s.outputs, where: s.caller, races: true, like: &f.outcome.Ending, anyEnding: true}
	o, err := judged(s.target, v)(last, f.plan)
	if err != nil {
		return false, err
	}
	raced := o.Ending.Kind == trace.Race
	if raced {
		f.outcome = o
	} else if len(s.untold()) == 0 { // asked only now: another target may have made the first execution, and loaded libraries
		return true, nil
	}
	for pair, x := range s.races {
		switch {
		case !samePair(f.outcome.Ending.Accesses, x.Race):
		case raced:
			x.certain = true
			s.races[pair] = x
		default:
			s.doubts[pair]++
		}
	}
	return raced, nil
}

// settleRaces sets raced.certain: it repeats the executions that showed the races. It takes at most Grace if
// Options.Time bounds the search; the races left are not certain.
func (s *search) settleRaces(ctx context.Context) {
	if len(s.races) == 0 || len(s.untold()) == 0 {
		return
	}
	last, cancelLast := outlasting(ctx)
	defer cancelLast()
	left := time.Duration(0)
	if s.opts.Time > 0 || ctx.Err() != nil {
		left = Grace
	}
	bounded, cancel := limited(last, left)
	defer cancel()
	x := s.experiment(nil)
	for _, pair := range s.sortedPairs() {
		if s.races[pair].certain {
			continue
		}
		r, err := x.Run(bounded, s.withVisits(s.races[pair].plan))
		if err != nil {
			return // a race that cannot be repeated is not confirmed
		}
		for i := range r.Races {
			if y, ok := s.races[r.Races[i].Pair]; ok {
				y.certain = true
				s.races[r.Races[i].Pair] = y
			}
		}
	}
}

// withVisits returns p so that it shows the races that no library has ordered.
func (s *search) withVisits(p schedule.Plan) schedule.Plan {
	p = s.watched(p)
	p.Visits, p.SkipAccesses = true, 0
	return p
}
