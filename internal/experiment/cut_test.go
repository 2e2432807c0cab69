package experiment

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestOutlived: an execution that was cut passes only if the thread that failed came beyond where it had failed.
func TestOutlived(t *testing.T) {
	at := func(thread trace.ThreadID, op trace.Op, line uint64) trace.Event {
		return trace.Event{Thread: thread, Op: op, Site: trace.MakeSite(0, line)}
	}
	lock, again := at(1, trace.OpMutexLock, 5), at(1, trace.OpMutexLock, 7)
	failing := &trace.Trace{
		Threads: []trace.Thread{{ID: 0, Name: 10}, {ID: 1, Name: 11}},
		Events:  []trace.Event{lock, again, lock, at(0, trace.OpMutexLock, 9), at(1, trace.OpAbort, 6)},
		Ending:  trace.Ending{Kind: trace.Assertion, Thread: 1},
	}
	for _, test := range []struct {
		name   string
		events []trace.Event
		ended  bool
		want   bool
	}{
		{"before", []trace.Event{lock, again}, false, false},
		{"there", []trace.Event{lock, again, lock}, false, false},
		{"another thread went on", []trace.Event{lock, again, lock, at(0, trace.OpMutexLock, 9)}, false, false},
		{"without the operation", []trace.Event{lock, again, again, again, again}, false, false},
		{"an access", []trace.Event{lock, again, lock, at(1, trace.OpRead, 6)}, false, false},
		{"beyond", []trace.Event{lock, again, lock, again}, false, true},
		{"ended", []trace.Event{lock}, true, true},
	} {
		x := New(Setting{Recorded: failing})
		met := &trace.Trace{Threads: []trace.Thread{{ID: 0, Name: 10}, {ID: 1, Name: 11, Ended: test.ended}}, Events: test.events}
		if got := x.outlived(met); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	failing.Ending = trace.Ending{Kind: trace.Deadlock, Waiters: []trace.Waiter{{Thread: 0}, {Thread: 1}}}
	met := &trace.Trace{Threads: failing.Threads, Events: []trace.Event{lock, again, lock, again}}
	if New(Setting{Recorded: failing}).outlived(met) {
		t.Error("a thread of the deadlock did nothing")
	}
}
