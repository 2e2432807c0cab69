package target_test

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
)

// placed is a target that has an ability; the rest of it is never called.
type placed struct{ target.Target }

func (placed) Position() (target.Position, bool) { return target.Position{Points: 7}, true }
func (placed) Expire(target.Position)            {}

// watching is a target that says whether it watches.
type watching struct {
	target.Target
	answer bool
}

func (w watching) WatchesRaces() bool { return w.answer }

// wrapper wraps a target without having its abilities.
type wrapper struct{ target.Target }

func (w wrapper) Unwrap() target.Target { return w.Target }

// closed embeds a target but does not say so.
type closed struct{ target.Target }

func TestAs(t *testing.T) {
	for _, test := range []struct {
		name string
		t    target.Target
		ok   bool
	}{
		{"none", nil, false},
		{"itself", placed{}, true},
		{"wrapped twice", wrapper{wrapper{placed{}}}, true},
		{"nothing inside", wrapper{}, false},
		{"embedded only", closed{placed{}}, false},
		{"without the ability", wrapper{closed{}}, false},
	} {
		s, ok := target.As[target.Positioned](test.t)
		if ok != test.ok {
			t.Errorf("%s: %v, %v", test.name, s, ok)
		} else if ok {
			if at, ok := s.Position(); !ok || at.Points != 7 {
				t.Errorf("%s: %+v", test.name, at)
			}
		}
	}
	if target.Watches(placed{}) || target.Watches(watching{answer: false}) || !target.Watches(wrapper{watching{answer: true}}) {
		t.Error("a target watches without saying so, or does not although it says so")
	}
	if _, ok := target.As[target.Omitter](placed{}); ok {
		t.Error("another ability was found")
	}
}
