package tinertia

// staticMerge reorders the independent operations of the current execution, and executes the result. It is not
// in the paper.
func (s *search) staticMerge() error {
	if s.opts.Reorder == nil || !s.has(StaticMerge) || s.merged == s.cur.trace {
		return nil
	}
	s.merged = s.cur.trace
	reordered, err := s.opts.Reorder(s.ctx, s.cur.trace, s.opts.Kept)
	if err != nil || reordered == s.cur.trace {
		return err
	}
	c := candidate{op: StaticMerge, script: stepsAfter(reordered, s.opts.Kept), threads: reordered.Threads, bound: unbounded}
	if got, err := s.try(&c); got == nil || err != nil {
		return err
	}
	s.merged = s.cur.trace
	return nil
}
