package experiment

import (
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestExposesOwnFirst: what libraries access does not keep the program's own accesses, which come long before the failure, from becoming
// scheduling points.
func TestExposesOwnFirst(t *testing.T) {
	tr := &trace.Trace{}
	share := func(line int) {
		for thread := range trace.ThreadID(2) {
			ev := access(line, trace.OpWrite, uint64(8*line))
			ev.Thread = thread
			tr.Events = append(tr.Events, ev)
		}
	}
	for line := 1; line <= 10+mostShared; line++ {
		share(line)
	}
	own := func(e int) report.Origin {
		if line(&tr.Events[e]) <= 10 {
			return report.OwnEvent
		}
		return report.LibraryEvent
	}
	sites := sharedSites(tr, own)
	for line := 1; line <= 10; line++ {
		if !slices.Contains(sites, trace.MakeSite(0, uint64(line))) {
			t.Errorf("line %d is not among %d sites", line, len(sites))
		}
	}
	if len(sites) != mostShared || sites[10] != trace.MakeSite(0, 10+mostShared) {
		t.Errorf("%d sites, and the first of a library is %v", len(sites), sites[10])
	}
}

// TestPartsStayWhole: no thread stops in the middle of an operation on a channel where the next event of its thread is a part of it.
func TestPartsStayWhole(t *testing.T) {
	send, part, read := access(5, trace.OpChanSend, 64), access(5, trace.OpRead, 72), access(9, trace.OpRead, 64)
	part.Flags |= trace.FlagNoDecision
	read.Thread = 1
	x := New(Setting{Budget: func(*trace.Trace, []trace.Site) int { return 100 }}).On(&trace.Trace{Events: []trace.Event{send, part, read}}, schedule.Plan{})
	if p := x.Reordered([]int{0, 2}); slices.Contains(p.Points, part.Site) {
		t.Errorf("scheduling points at %v", p.Points)
	}
}
