package pattern

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

func TestReusedDescriptor(t *testing.T) {
	events := []trace.Event{
		{Thread: 0, Op: trace.OpFdOpen, Object: 1, Aux: 3},
		{Thread: 0, Op: trace.OpFdClose, Object: 1, Aux: 3},
		{Thread: 0, Op: trace.OpFdOpen, Object: 2, Aux: 3},
		{Thread: 1, Op: trace.OpFdWrite, Object: 2, Aux: 3},
	}
	of := func(closed uint64) string {
		own := append([]trace.Event{}, events...)
		own[1].Aux = closed
		return Of(&Execution{Trace: &trace.Trace{Events: own}, Order: &Order{First: 2, Second: 3}}).Pattern.Name
	}
	if got := of(3); got != ReusedDescriptor {
		t.Errorf("%s, want %s", got, ReusedDescriptor)
	}
	m := Of(&Execution{Trace: &trace.Trace{Events: events}, Order: &Order{First: 2, Second: 3}})
	if got, want := m.Fact(words{&Execution{Trace: &trace.Trace{Events: events}}}), "T1's fd write#3 comes after T0's fd close at #1, and fd open at #2 has reused the number"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	closes := &Execution{Trace: &trace.Trace{Events: events}, Order: &Order{First: 1, Second: 3}}
	if got, want := Of(closes).Fact(words{closes}), m.Fact(words{closes}); got != want {
		t.Errorf("of the close and the use, it says %q, want %q", got, want)
	}
	if got := Of(&Execution{Trace: &trace.Trace{Events: events}, Order: &Order{First: 0, Second: 1}}); got != nil && got.Pattern.Name == ReusedDescriptor {
		t.Error("a descriptor is closed once")
	}
	if got := of(4); got != OrderViolation {
		t.Errorf("another descriptor is closed: %s, want %s", got, OrderViolation)
	}
}
