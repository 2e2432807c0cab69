package target_test

import (
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/target"
)

// still is a target that has an ability; the rest of it is never called.
type still struct{ target.Target }

func (still) Still() time.Duration { return time.Second }

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
		{"itself", still{}, true},
		{"wrapped twice", wrapper{wrapper{still{}}}, true},
		{"nothing inside", wrapper{}, false},
		{"embedded only", closed{still{}}, false},
		{"without the ability", wrapper{closed{}}, false},
	} {
		s, ok := target.As[target.Stillness](test.t)
		if ok != test.ok || ok && s.Still() != time.Second {
			t.Errorf("%s: %v, %v", test.name, s, ok)
		}
	}
	if target.Watches(still{}) || target.Watches(watching{answer: false}) || !target.Watches(wrapper{watching{answer: true}}) {
		t.Error("a target watches without saying so, or does not although it says so")
	}
	if _, ok := target.As[target.Omitter](still{}); ok {
		t.Error("another ability was found")
	}
}
