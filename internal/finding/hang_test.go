package finding

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// TestEndless: a verified hang is identified by where each thread waits, but for joins; one that was not verified is like all others.
func TestEndless(t *testing.T) {
	site := func(n uint64) trace.Site { return trace.MakeSite(0, n) }
	hang := func(kind trace.Kind, message string, ws ...trace.Waiter) Finding {
		return Of(trace.Ending{Kind: kind, Message: message, Site: ws[0].Site, Waiters: ws}, nil)
	}
	loop := func(id trace.ThreadID, n uint64) trace.Waiter {
		return trace.Waiter{Thread: id, Op: trace.OpAtomicLoad, Site: site(n), Ready: true}
	}
	joins := trace.Waiter{Thread: 0, Op: trace.OpThreadJoin, Site: site(9)}
	locks := trace.Waiter{Thread: 2, Op: trace.OpMutexLock, Site: site(7)}
	one := hang(trace.Hang, "T1 reads x", loop(1, 5), joins)
	for _, c := range []struct {
		name string
		f    Finding
		same bool
	}{
		{"another thread and message", hang(trace.Hang, "T3 reads x", loop(3, 5)), true},
		{"two threads in the loop", hang(trace.Hang, "T1 reads x", loop(1, 5), loop(2, 5), joins), true},
		{"another loop", hang(trace.Hang, "T1 reads x", loop(1, 6), joins), false},
		{"another thread is blocked", hang(trace.Hang, "T1 reads x", loop(1, 5), locks), false},
		{"a livelock", hang(trace.Livelock, "T1 reads x", loop(1, 5), joins), false},
		{"not verified", hang(trace.Hang, trace.NoProgress, loop(1, 5), joins), false},
	} {
		if got := one.Same(c.f); got != c.same {
			t.Errorf("%s: same %t", c.name, got)
		}
	}
	if a, b := hang(trace.Hang, trace.NoProgress, loop(1, 5)), hang(trace.Hang, trace.NoProgress, loop(2, 6)); !a.Same(b) {
		t.Error("hangs that were not verified differ")
	}
}
