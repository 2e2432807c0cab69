package main

import "fmt"

// leakJSON is a goroutine that a test left behind; docs/json.md.
type leakJSON struct {
	Created    string `json:"created"`
	Op         string `json:"op"`
	Where      string `json:"where"`
	Running    bool   `json:"running,omitempty"`
	Executions int    `json:"executions"`
	// Known: an earlier test of the package left one of this go statement.
	Known bool `json:"known,omitempty"`
}

// packageLeakJSON is a go statement whose goroutines tests of a package left behind.
type packageLeakJSON struct {
	Created string   `json:"created"`
	Tests   []string `json:"tests"`
}

// sentence says what is known of the goroutine.
func (l leakJSON) sentence() string {
	how := "left"
	if l.Running {
		how = "still running when the test ended"
	}
	s := fmt.Sprintf("a goroutine is %s (%s at %s)", how, l.Op, l.Where)
	if !l.Running {
		s += ", and nothing can wake it"
	}
	if l.Created != "" {
		s += "; started at " + l.Created
	}
	return s
}

// countLeaks adds a test's leaks to those of its package, where each go statement counts once.
func (s *suite) countLeaks(out *testResult, r *packageJSON) {
	for i := range out.Leaks {
		l := &out.Leaks[i]
		tests := s.left[l.Created]
		l.Known = tests != nil
		s.left[l.Created] = append(tests, out.Test)
		if !l.Known {
			s.leaks++
			r.Leaks = append(r.Leaks, packageLeakJSON{Created: l.Created})
		}
	}
	for i := range r.Leaks {
		r.Leaks[i].Tests = s.left[r.Leaks[i].Created]
	}
}
