package gotest

import "github.com/heddle-dev/heddle/internal/result"

// left is a go statement whose goroutines tests of the package leaked.
type left struct {
	created string
	tests   []string // their names
}

// countLeaks adds a test's leaks to its package's, where each go statement counts once.
func (s *suite) countLeaks(out *result.Test, r *result.Package) {
	for i := range out.Leaks {
		l := &out.Leaks[i]
		at := s.left[l.Statement]
		if l.Known = at != nil; !l.Known {
			at = &left{created: l.Created}
			s.left[l.Statement] = at
			s.inOrder = append(s.inOrder, at)
			s.totals.Leaks++
		}
		at.tests = append(at.tests, out.Test)
	}
	r.Leaks = r.Leaks[:0]
	for _, at := range s.inOrder {
		r.Leaks = append(r.Leaks, result.PackageLeak{Created: at.created, Tests: at.tests})
	}
}
