package engine

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// wordBytes is how much a machine reads or writes at once.
const wordBytes = 8

// wide collects the racing instructions that have read or written more than wordBytes, such as calls of memcpy and copies of structs. Each
// such access is one step of an execution, where another thread could act between its parts.
type wide struct {
	most  map[trace.Site]uint32 // bytes, of those that have accessed more than wordBytes
	raced map[trace.Site]bool
}

// look adds the accesses of a recorded execution.
func (w *wide) look(t *trace.Trace) {
	for i := range t.Events {
		e := &t.Events[i]
		if e.Size <= wordBytes || e.Size <= w.most[e.Site] {
			continue
		}
		if s := ops.Of(e.Op); s.Of == ops.Memory && (s.Does == ops.Read || s.Does == ops.Write) {
			w.add(e.Site, e.Size)
		}
	}
}

func (w *wide) add(s trace.Site, bytes uint32) {
	if w.most == nil {
		w.most = map[trace.Site]uint32{}
	}
	w.most[s] = max(w.most[s], bytes)
}

// race adds the two instructions of a race.
func (w *wide) race(pair [2]race.Access) {
	if w.raced == nil {
		w.raced = map[trace.Site]bool{}
	}
	for _, a := range pair {
		w.raced[a.Site] = true
	}
}

// sites returns the racing instructions that accessed more than wordBytes, in the order of the program.
func (w *wide) sites() (sites []trace.Site) {
	for s := range w.most {
		if w.raced[s] {
			sites = append(sites, s)
		}
	}
	slices.Sort(sites)
	return sites
}

// saved and resume are the state of a search that goes on in another process.
func (w *wide) saved() map[trace.Site]uint32 {
	out := map[trace.Site]uint32{}
	for _, s := range w.sites() {
		out[s] = w.most[s]
	}
	return out
}

func (w *wide) resume(sites map[trace.Site]uint32) {
	for s, bytes := range sites {
		w.add(s, bytes)
		w.race([2]race.Access{{Site: s}, {Site: s}})
	}
}

// unexplored says that the orders of the parts of accesses are not explored; empty if no access that raced has parts.
func (w *wide) unexplored(where func(trace.Site) string) string {
	sites := w.sites()
	if len(sites) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s accesses %s in one step, and what other threads do between its parts is not explored", where(sites[0]), wording.Count(int(w.most[sites[0]]), "byte"))
	if more := len(sites) - 1; more > 0 {
		text += fmt.Sprintf("; so for %s more", wording.Count(more, "racing instruction"))
	}
	return text
}
