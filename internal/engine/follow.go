package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Follow runs the schedule of a recording as closely as the program lets it (FSE'10 §4.2.1) and
// returns the outcome. It is for a program that has changed since the recording: if the build
// differs, Follow first maps the recorded instructions to those of an execution of this build. The
// caller checks whether the failure reproduces. locate is like Options.Locate.
//
// The error is from trace.CheckPoints, an *UnsupportedError, or from the target.
func Follow(ctx context.Context, t target.Target, recorded *trace.Trace, locate finding.Locate) (*trace.Trace, error) {
	defer target.AsRecorded(t, &recorded.Header)()
	plan := replayPlan(recorded)
	plan.Mode, plan.Accesses, plan.MaxSteps, plan.FairAfter = schedule.Tolerant, false, stepsFor(recorded, plan.Points), 1
	plan.Delays = strategy.DelaysOf(recorded)
	if err := fits(t, recorded); err != nil {
		var other *OtherProgramError
		if !errors.As(err, &other) {
			return nil, err
		}
		now, err := Record(ctx, t, RecordOptions{ExpectStatus: recorded.Header.ExpectStatus})
		if err != nil {
			return nil, err
		}
		plan.Script = translated(plan.Script, siteMap(recorded, now))
		plan.Points = schedule.PointsOf(plan.Script)
	}
	v := verdictOf(recorded, nil, nil)
	v.anyEnding = true
	plan.Accesses = v.races // a race is shown with both accesses
	v.where, v.locate = func(s trace.Site, calls []trace.Site) string { return caller(locate, nil, t.Modules(), s, calls) }, locate
	o, err := traced(ctx, t, judged(t, v), plan)
	if err != nil {
		return nil, err
	}
	o.Trace.Header.Strategy = recorded.Header.Strategy
	o.Trace.Header.ExpectStatus = recorded.Header.ExpectStatus
	return o.Trace, nil
}

// instruction is a site and the operation performed there.
type instruction struct {
	op   trace.Op
	site trace.Site
}

// translated returns the script with its sites mapped to another build, without the steps whose
// instruction has no counterpart there.
func translated(script []schedule.Step, sites map[instruction]trace.Site) []schedule.Step {
	var out []schedule.Step
	for _, s := range script {
		if site, ok := sites[instruction{s.Op, s.Site}]; ok {
			s.Site = site
			out = append(out, s)
		}
	}
	return out
}

// siteMap maps the instructions of one recording to those of a recording of another build. Threads
// with the same name mostly perform the same operations in the same order. So siteMap aligns their
// operations, and maps each instruction to the one it is aligned with most often.
func siteMap(from, to *trace.Trace) map[instruction]trace.Site {
	votes := map[instruction]map[trace.Site]int{}
	theirs := map[uint64][]instruction{}
	done := operations(to)
	for i := range to.Threads {
		theirs[to.Threads[i].Name] = done[to.Threads[i].ID]
	}
	for id, ours := range operations(from) {
		name := from.Threads[id].Name
		for _, pair := range aligned(ours, theirs[name]) {
			a, b := ours[pair[0]], theirs[name][pair[1]]
			if votes[a] == nil {
				votes[a] = map[trace.Site]int{}
			}
			votes[a][b.site]++
		}
	}
	sites := make(map[instruction]trace.Site, len(votes))
	for a, counts := range votes {
		best := slices.SortedFunc(maps.Keys(counts), func(x, y trace.Site) int {
			if counts[x] != counts[y] {
				return counts[y] - counts[x]
			}
			return int(int64(x) - int64(y))
		})
		sites[a] = best[0]
	}
	return sites
}

// longest bounds the number of operations aligned per thread; time and memory are quadratic in it.
const longest = 2000

// operations returns the first operations of each thread, at most longest.
func operations(t *trace.Trace) map[trace.ThreadID][]instruction {
	out := map[trace.ThreadID][]instruction{}
	for i := range t.Events {
		if e := &t.Events[i]; len(out[e.Thread]) < longest {
			out[e.Thread] = append(out[e.Thread], instruction{e.Op, e.Site})
		}
	}
	return out
}

// aligned returns a longest common subsequence of two sequences of operations as pairs of indices,
// the earliest if there are several.
func aligned(a, b []instruction) (pairs [][2]int) {
	// length[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	width := len(b) + 1
	length := make([]uint16, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i].op == b[j].op {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].op == b[j].op:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
