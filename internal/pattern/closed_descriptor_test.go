package pattern

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

func TestClosedDescriptor(t *testing.T) {
	events := []trace.Event{
		{Thread: 0, Op: trace.OpFdOpen, Object: 1, Aux: 3},
		{Thread: 0, Op: trace.OpFdClose, Object: 1, Aux: 3},
		{Thread: 1, Op: trace.OpFdWrite, Object: 2, Aux: 3, Result: ops.NotOpen},
	}
	x := &Execution{Trace: &trace.Trace{Events: events}, Passing: &trace.Trace{Events: events}, Order: &Order{First: 2, Second: -1}}
	m := Of(x)
	if m.Pattern.Name != ClosedDescriptor || m.Fact(words{x}) != "T1's fd write#2 comes after T0's fd close#1" {
		t.Errorf("%s, %v", m.Pattern.Name, m)
	}
	events[1].Thread = 1
	if got := Of(x).Pattern.Name; got != OrderViolation {
		t.Errorf("closed by the thread itself: %s, want %s", got, OrderViolation)
	}
}
