package engine

import (
	"context"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// heldRace is the race that is the finding if the search finds nothing worse (RacesReported).
type heldRace struct {
	finding *Finding // confirmed by a replay; nil until then
	trace   *trace.Trace
	missed  int // races that did not reproduce
}

// maxMissed is how many races that do not reproduce a search with RacesReported tries to confirm. In a
// program that depends on more than its schedule every watched execution may show another.
const maxMissed = 10

// wantsRace reports whether an execution with a race is a failure at present.
func (s *search) wantsRace() bool {
	switch s.opts.Races {
	case RacesFail:
		return true
	case RacesReported:
		return s.opts.All || s.held.finding == nil && s.held.missed < maxMissed
	}
	return false
}

// holds keeps a confirmed finding back if it is a race and the search continues to look for
// consequences. It reports whether it did.
func (s *search) holds(r *Finding, o *schedule.Outcome) bool {
	if s.opts.Races != RacesReported || s.opts.All || o.Ending.Kind != trace.Race || !r.Confirmed || o.Trace == nil {
		return false
	}
	s.held.finding, s.held.trace = r, o.Trace
	return true
}

// reportRace makes the race held back the finding if nothing worse was found, writes its trace and
// simplifies it. The exploration has ended, perhaps because ctx did.
func (s *search) reportRace(ctx context.Context) error {
	r := s.held.finding
	if r == nil || s.report.Finding != nil {
		return nil
	}
	s.report.Finding = r
	if err := s.keep(r, s.held.trace); err != nil {
		return err
	}
	if s.opts.NoSimplify || ctx.Err() != nil {
		return nil
	}
	left := time.Duration(0)
	if s.opts.Time > 0 {
		left = max(s.opts.Time-time.Since(s.began), 1)
	}
	bounded, cancel := limited(ctx, left)
	defer cancel()
	return s.unlessTime(bounded, s.simplify(bounded, s.held.trace))
}
