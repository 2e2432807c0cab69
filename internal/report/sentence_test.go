package report

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/trace"
)

// TestWaitingInSelect: a select has no object, and so no name.
func TestWaitingInSelect(t *testing.T) {
	tr := &trace.Trace{Threads: make([]trace.Thread, 2), Events: []trace.Event{{Thread: 1, Op: trace.OpSelect}}}
	tr.Ending = trace.Ending{Kind: trace.Leak, Waiters: []trace.Waiter{{Thread: 1, Op: trace.OpSelect}}}
	x := &explaining{Execution: pattern.Execution{Trace: tr}, names: &Running{modules: func() []trace.Module { return nil }}}
	if got := x.second(&Order{Waiting: true}); !strings.HasPrefix(got, "T1's select, for which it waits") {
		t.Error(got)
	}
}
