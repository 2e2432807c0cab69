package tinertia

import (
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// widest is how many candidates are executed before the first of them is judged, for each plan that
// can be executed at a time. As long as candidates are rejected, more of them are worth it.
const widest = 4

// window takes the candidates to execute together from a sequence: one if executions are made one at
// a time. rejected is how many candidates of the sequence were rejected, and limit how many executions
// are left.
func (s *search) window(next func() (candidate, bool), rejected, limit int) (out []candidate) {
	n := s.width()
	if n > 1 {
		n = min(n*max(1, min(rejected/n, widest)), max(limit, 1))
	}
	for len(out) < n {
		c, ok := next()
		if !ok {
			break
		}
		out = append(out, c)
	}
	return out
}

func (s *search) width() int {
	if s.batch == nil || s.opts.Width == nil {
		return 1
	}
	return s.opts.Width()
}

// runAhead executes candidates, and those that their next returns, on the assumption that each is
// rejected. The outcomes wait in s.ahead until their turn comes, and count only then.
func (s *search) runAhead(window []candidate, limit int) error {
	if len(window) < 2 {
		return nil
	}
	limit = min(limit, s.opts.MaxExecutions-s.made)
	for level := window; len(level) > 0 && limit > 0; {
		var plans []schedule.Plan
		var keys []uint64
		of := make([]uint64, len(level))
		if s.ahead == nil {
			s.ahead = map[uint64]schedule.Outcome{}
		}
		for i := range level {
			c := &level[i]
			threads := s.threadsOf(c)
			of[i] = hashSchedule(c.script, threads)
			if _, ok := s.ahead[of[i]]; !ok && s.memory.find(c.script, threads) == nil && len(plans) < limit {
				s.ahead[of[i]] = schedule.Outcome{} // not twice
				plans, keys = append(plans, s.planOf(c.script, threads)), append(keys, of[i])
			}
		}
		limit -= len(plans)
		for _, k := range keys {
			delete(s.ahead, k)
		}
		if err := s.batch(s.ctx, plans, nil, func(n int, out schedule.Outcome) bool {
			s.ahead[keys[n]] = out
			return true
		}); err != nil {
			return err
		}
		var following []candidate
		for i := range level {
			c := &level[i]
			v := s.expected(c, of[i])
			if v == nil {
				continue
			}
			if s.acceptable(c, v) {
				break
			}
			if c.next != nil && v.trace != nil {
				following = append(following, c.next(v.trace)...)
			}
		}
		level = following
	}
	return nil
}

// expected returns the verdict that a candidate will get, or nil if its outcome is not known.
func (s *search) expected(c *candidate, key uint64) *verdict {
	if out, ok := s.ahead[key]; ok {
		if out.Trace == nil {
			return nil
		}
		return s.verdictOf(&out)
	}
	return s.memory.find(c.script, s.threadsOf(c))
}

func (s *search) threadsOf(c *candidate) []trace.Thread {
	if c.threads == nil {
		return s.cur.trace.Threads
	}
	return c.threads
}
