package engine

import (
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/schedule"
)

// SetUp says how many executions did not repeat what the program does before it creates its first thread, or why all did.
type SetUp struct {
	Shared  int    `json:"shared"`            // executions that continued from the set-up of an earlier one
	Because string `json:"because,omitempty"` // why executions repeat a set-up that takes long: the cause as a noun
	Where   string `json:"where,omitempty"`   // of the cause
}

// setUp collects what outcomes say of set-ups.
type setUp struct {
	shared  int
	because schedule.SetUp // the first cause
}

func (s *setUp) add(o *schedule.Outcome) {
	if o.SetUp.Continued {
		s.shared++
	}
	if s.because.Because == "" {
		s.because = o.SetUp
	}
}

// report returns nil if nothing is known.
func (s *setUp) report(locate finding.Locate) *SetUp {
	out := SetUp{Shared: s.shared, Because: s.because.Because}
	if s.because.Site != 0 {
		out.Where = locate(s.because.Site).Text
	}
	if out == (SetUp{}) {
		return nil
	}
	return &out
}
