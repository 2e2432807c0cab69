package finding

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// Every kind has its place: a new one must be given one.
func TestSeverity(t *testing.T) {
	order := [][]trace.Kind{
		{trace.Assertion, trace.Signal, trace.Misuse, trace.Exception, trace.Panic, trace.Fatal},
		{trace.Deadlock}, {trace.Hang}, {trace.Test, trace.Exit}, {trace.Race}, {trace.Leak},
		{trace.Clean, trace.Unsupported, trace.Diverged},
	}
	placed := 0
	for want, kinds := range order {
		for _, k := range kinds {
			placed++
			if got := Severity(k); got != want {
				t.Errorf("%v: %d, want %d", k, got, want)
			}
			if k.Failed() != (want < len(order)-1) {
				t.Errorf("%v is with those that are not failures, or the other way round", k)
			}
		}
	}
	if all := int(trace.Race) + 1; placed != all {
		t.Errorf("%d kinds have a place, there are %d", placed, all)
	}
}

func TestLeakMessages(t *testing.T) {
	stuck := waits(1, trace.OpChanSend, prog(1))
	running := stuck
	running.Thread, running.Ready = 2, true
	lost, kept := running, running
	lost.Reach, kept.Reach, kept.Thread = trace.ReachLost, trace.ReachKept, 3
	for _, c := range []struct {
		waiters []trace.Waiter
		want    string
	}{
		{[]trace.Waiter{stuck}, "T1 (channel send) was left, and nothing can wake it"},
		{[]trace.Waiter{stuck, stuck}, "T1 (channel send) and T1 (channel send) were left, and nothing can wake them"},
		{[]trace.Waiter{running}, "T2 (channel send) was still running when the test ended"},
		{[]trace.Waiter{stuck, running}, "T1 (channel send) and T2 (channel send) were still running when the test ended"},
		{[]trace.Waiter{lost}, "T2 (channel send) was left, and nothing can wake it"},
		{[]trace.Waiter{kept}, "T3 (channel send) was still running when the test ended"},
		{[]trace.Waiter{kept, lost}, "T2 (channel send) was left, and nothing can wake it"},
		{nil, "goroutines were left"},
	} {
		if got := Of(leak(0, c.waiters...), modules).Message; got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	kept.Site = prog(2)
	if f := Of(leak(0, kept, lost), modules); f.Site != lost.Site {
		t.Errorf("the place is %v, want that of what is not kept", f.Site)
	}
	if !same(leak(0, stuck), leak(0, running), modules) || !same(leak(0, kept, stuck), leak(0, kept, lost), modules) {
		t.Error("whether it could go on is evidence, not identity")
	}
}
