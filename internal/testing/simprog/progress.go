package simprog

import (
	"math"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// observation is what an instruction has shown a thread about an object.
type observation struct {
	site   trace.Site
	object any
}

// spinning reports whether t has made several fruitless observations in a row.
func (t *Thread) spinning() bool { return t.stale >= abi.Spin }

// progress records that t has done something that other threads may observe.
func (x *execution) progress(t *Thread) {
	t.stale = 0
	x.progressAt = x.points
}

// tellsNothing reports whether an observation is the same as the last time; it remembers it.
func (t *Thread) tellsNothing(object any, value int64) bool {
	key := observation{t.next.site, object}
	if t.seen == nil {
		t.seen = map[observation]int64{}
	}
	old, ok := t.seen[key]
	t.seen[key] = value
	return ok && old == value
}

// observe records that t's present operation observed value.
func (x *execution) observe(t *Thread, value int64) {
	if t.tellsNothing(t.next.object(), value) {
		x.waste(t, 1, true)
	} else {
		x.progress(t)
	}
}

// waste records a fruitless observation of t. A futile one observed something that other threads
// can change.
func (x *execution) waste(t *Thread, weight int, futile bool) {
	t.stale++
	x.vain++
	if t.wrote {
		t.wrote = false
		t.idle, t.futile = 0, 0
		return
	}
	if t.idleAt != x.progressAt {
		t.idleAt = x.progressAt
		t.idle, t.futile = 0, 0
	}
	before := t.idle
	t.idle += weight
	if futile {
		t.futile++
	}
	if before/abi.Idle != t.idle/abi.Idle {
		x.lookAround(t)
	}
}

// everyone reports whether each enabled thread has so much behind it since anything changed,
// how many these are, and the smallest of their futile counts.
func (x *execution) everyone(idle, futile int) (n, least int, all bool) {
	least = math.MaxInt
	for _, t := range x.threads {
		if t.ended || !x.enabled(t) {
			continue
		}
		if t.idleAt != x.progressAt || t.idle < idle || t.futile < futile {
			return 0, 0, false
		}
		n++
		least = min(least, t.futile)
	}
	return n, least, true
}

// lookAround lets time pass if every enabled thread only waits. It begins the fair phase if none seems to
// get any further, and ends the execution if that goes on in it.
func (x *execution) lookAround(t *Thread) {
	if _, _, idle := x.everyone(abi.Idle, 0); !idle || x.timeDrifts() {
		return
	}
	n, least, all := x.everyone(abi.Idle, abi.Futile)
	enough := abi.Hopeless * n
	if n == 1 {
		enough = abi.HopelessAlone
	}
	waited := max(x.points-x.progressAt, least*n)
	if !all || waited <= enough {
		return
	}
	if x.timePasses(forever) {
		x.progress(t)
		return
	}
	if x.plan.FairAfter > 0 {
		enough *= abi.Sure
	}
	switch {
	case x.script.remains():
	case !x.late:
		x.suspected = x.plan.FairAfter == 0
	case waited > enough:
		x.hang(t, trace.NoProgress)
	}
}
