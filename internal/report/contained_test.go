package report

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// The numbers of events in a trace of the same execution with fewer: none is given where two are possible.
func TestContained(t *testing.T) {
	ev := func(lines ...int) *trace.Trace {
		t := &trace.Trace{}
		for _, l := range lines {
			t.Events = append(t.Events, trace.Event{Site: trace.MakeSite(0, uint64(l)), Op: trace.OpRead})
		}
		return t
	}
	for _, c := range []struct {
		all, some *trace.Trace
		want      []int
	}{
		{ev(1, 2, 3), ev(1, 3), []int{0, -1, 1}},
		{ev(1, 2, 2, 3), ev(1, 2, 3), []int{0, -1, -1, 2}},
		{ev(1, 2, 3), ev(1, 2, 3), []int{0, 1, 2}},
		{ev(1, 2, 3), ev(1, 4), []int{-1, -1, -1}},
		{ev(1, 2), ev(), []int{-1, -1}},
	} {
		if got := Contained(c.all, c.some); !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
