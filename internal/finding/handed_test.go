package finding

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// A Go mutex may be unlocked by another goroutine than the one that locked it, so one that locks it twice does not wait for
// itself where another one waits for it.
func TestHandedLock(t *testing.T) {
	of := func(op trace.Op, others ...trace.Waiter) string {
		waiters := append([]trace.Waiter{{Thread: 0, Op: op, Site: 10, Object: 8, Holder: 0}}, others...)
		return Of(trace.Ending{Kind: trace.Deadlock, Cycle: []trace.ThreadID{0}, Waiters: waiters}, nil).Message
	}
	waits := trace.Waiter{Thread: 1, Op: trace.OpGmutexLock, Site: 20, Object: 16, Holder: 0}
	if got := of(trace.OpGmutexLock, waits); !strings.HasPrefix(got, "T0 and T1 never return") {
		t.Error(got)
	}
	if got := of(trace.OpGmutexLock); !strings.HasSuffix(got, "waits for itself") {
		t.Error(got)
	}
	waits.Op = trace.OpMutexLock
	if got := of(trace.OpMutexLock, waits); !strings.HasSuffix(got, "waits for itself") {
		t.Error(got)
	}
}
