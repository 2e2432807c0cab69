package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Relaxed counts the source lines whose atomics may do more than any execution shows.
type Relaxed struct {
	// Lines are those of atomics whose memory order is weaker than seq_cst, WeakLines those of
	// compare-exchanges that may fail spuriously.
	Lines     int `json:"lines"`
	WeakLines int `json:"weak_lines,omitempty"`
	// More says that some are not counted.
	More bool `json:"more,omitempty"`
}

// relaxed collects the atomics whose weaker behaviours are not executed.
type relaxed struct {
	last *schedule.Relaxed // of the slice that was added last, and its length
	n    int
	all  map[relaxedKey]schedule.Relaxed
	more bool
}

type relaxedKey struct{ site, call trace.Site }

// add adds those of an outcome. Most outcomes share one slice.
func (r *relaxed) add(o *schedule.Outcome) {
	r.more = r.more || o.RelaxedCut
	if len(o.Relaxed) == 0 || r.last == &o.Relaxed[0] && r.n == len(o.Relaxed) {
		return
	}
	r.last, r.n = &o.Relaxed[0], len(o.Relaxed)
	r.merge(o.Relaxed)
}

func (r *relaxed) merge(xs []schedule.Relaxed) {
	if r.all == nil {
		r.all = map[relaxedKey]schedule.Relaxed{}
	}
	for _, x := range xs {
		key := relaxedKey{site: x.Site}
		if len(x.Calls) > 0 {
			key.call = x.Calls[0]
		}
		if old, ok := r.all[key]; ok {
			x.Order, x.Weak = x.Order || old.Order, x.Weak || old.Weak
		}
		r.all[key] = x
	}
}

// sorted returns them in the order of the program.
func (r *relaxed) sorted() []schedule.Relaxed {
	return slices.SortedFunc(maps.Values(r.all), func(a, b schedule.Relaxed) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), slices.Compare(a.Calls, b.Calls))
	})
}

// report returns nil if r is empty.
func (r *relaxed) report(locate finding.Locate) *Relaxed {
	if len(r.all) == 0 {
		return nil
	}
	order, weak := map[string]bool{}, map[string]bool{}
	for _, x := range r.all {
		at := finding.Caller(x.Site, x.Calls, locate).Text
		if x.Order {
			order[at] = true
		}
		if x.Weak {
			weak[at] = true
		}
	}
	return &Relaxed{Lines: len(order), WeakLines: len(weak), More: r.more}
}
