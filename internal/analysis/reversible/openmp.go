package reversible

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// openMP is what the compiler knows of libgomp, GCC's library for OpenMP. The futexes by which the library makes threads wait
// are left out; in their place are the orders that OpenMP's specification demands, which the runtime reports: of parallel
// regions, barriers and ordered sections. Which thread gets the next share of a loop, or executes a single construct, is an
// access to the team's number of turns.
type openMP struct {
	library []bool                                     // modules
	waited  map[trace.Object]bool                      // futexes of the library: with an operation at one of its instructions
	always  map[trace.Object]map[trace.ThreadID]uint64 // the token of each thread's latest release
}

func newOpenMP(t *trace.Trace) openMP {
	o := openMP{waited: map[trace.Object]bool{}, always: map[trace.Object]map[trace.ThreadID]uint64{}}
	for _, m := range t.Modules {
		o.library = append(o.library, strings.HasPrefix(path.Base(m.Path), "libgomp.so"))
	}
	if !slices.Contains(o.library, true) {
		return o
	}
	for i := range t.Events {
		if ev := &t.Events[i]; ops.Of(ev.Op).Of == ops.Futex && o.isLibrary(ev.Site.Module()) {
			o.waited[ev.Object] = true
		}
	}
	return o
}

func (o *openMP) isLibrary(module int) bool {
	return module >= 0 && module < len(o.library) && o.library[module]
}

// ofLibrary reports whether the event is an operation on a futex of the library.
func (c *compiler) ofLibrary(spec *ops.Spec) bool {
	at := c.ev.Object
	if spec.Of != ops.Futex || c.waited[at] {
		return spec.Of == ops.Futex
	}
	switch at.Region() {
	case trace.RegionGlobal:
		return c.isLibrary(at.Index())
	case trace.RegionHeap:
		first, _ := at.Bytes(1)
		b := c.blockAt(first)
		return b != nil && b.library
	}
	return false
}

// order adds what an ACQUIRE or RELEASE_MERGE of a C program says, if that holds in every schedule.
func (c *compiler) order() {
	if c.ev.Value != abi.OrderAlways {
		return
	}
	by := c.always[c.ev.Object]
	switch c.ev.Op {
	case trace.OpReleaseMerge:
		if by == nil {
			by = map[trace.ThreadID]uint64{}
			c.always[c.ev.Object] = by
		}
		by[c.ev.Thread] = c.post()
	case trace.OpAcquire:
		for _, token := range slices.Sorted(maps.Values(by)) {
			c.effect(depend.Take, necessary, token, 1)
		}
	}
}
