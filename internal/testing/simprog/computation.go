package simprog

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// Compute makes so many quiet stretches of accesses that tell the thread something.
func (t *Thread) Compute(stretches int) {
	x, at := t.x, t.site()
	for range stretches {
		if !x.quietEnds(t) {
			continue
		}
		t.yieldAt = t.stretches + abi.Stretches<<t.yields
		t.computes = true
		t.do(operation{op: trace.OpYield, site: at, forced: true})
		t.computes = false
	}
}

// quietEnds is called after a quiet stretch in which t computed. It reports whether t has to yield.
func (x *execution) quietEnds(t *Thread) bool {
	if t.stretches == 0 {
		t.yieldAt = abi.Stretches << t.yields
	}
	t.stretches++
	if x.timers == 0 && !slices.ContainsFunc(x.threads, func(u *Thread) bool { return u != t && !u.ended }) {
		return false
	}
	t.quiet, t.wrote = true, false
	t.idle, t.futile = 0, 0
	x.time += abi.Quiet
	x.progress(t)
	if x.timeExpires() {
		return true
	}
	if t.stretches < t.yieldAt || !slices.ContainsFunc(x.threads, func(u *Thread) bool { return u != t && !u.ended && (x.enabled(u) || u.timed) }) {
		return false
	}
	t.yields = min(t.yields+1, abi.StretchesMore)
	return true
}

// Await reads w, plainly, until its value is that: a quiet stretch from one yield to the next.
func (t *Thread) Await(w *Word, value int64) {
	at := t.site()
	for w.value != value {
		t.waits(at)
	}
}

// Waits ends a quiet stretch of accesses that told the thread only what it knew.
func (t *Thread) Waits() { t.waits(t.site()) }

func (t *Thread) waits(at trace.Site) {
	const weight = 4 // of a stretch, in observations
	t.quiet = true
	t.x.time += abi.Quiet
	if t.x.waste(t, weight, false); t.x.over {
		t.pause()
	}
	t.do(operation{op: trace.OpYield, site: at, forced: true})
}
