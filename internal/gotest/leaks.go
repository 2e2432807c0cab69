package gotest

import "github.com/heddle-dev/heddle/internal/result"

// countLeaks adds a test's leaks to its package's, where each go statement counts once.
func (s *suite) countLeaks(out *result.Test, r *result.Package) {
	for i := range out.Leaks {
		l := &out.Leaks[i]
		tests := s.left[l.Created]
		l.Known = tests != nil
		s.left[l.Created] = append(tests, out.Test)
		if !l.Known {
			s.totals.Leaks++
			r.Leaks = append(r.Leaks, result.PackageLeak{Created: l.Created})
		}
	}
	for i := range r.Leaks {
		r.Leaks[i].Tests = s.left[r.Leaks[i].Created]
	}
}
