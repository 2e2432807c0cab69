package report

import (
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// role is the function that a thread runs.
type role struct {
	name  string // `worker`, or the thread's name in the program or language, if any
	place int    // where the function is declared
	stack int    // the place as a call stack
}

// findRoles gives each thread its role.
func (b *builder) findRoles() []role {
	out := make([]role, len(b.tr.Threads))
	first := make([][]int, len(out)) // some early events
	for i := range b.tr.Events {
		t := b.tr.Events[i].Thread
		if len(first[t]) < roleEvents {
			first[t] = append(first[t], i)
		}
	}
	for i, t := range b.tr.Threads {
		f, known := b.entry(t, first[i])
		if t.Label == trace.TimerLabel && len(first[i]) > 0 {
			if frames := b.names.Call(b.tr.Events[first[i][0]].Site); len(frames) > 0 {
				f, known = frames[0], true
			}
		}
		r := role{name: f.Func}
		if name := b.goName(f); name != "" {
			r.name = name
		}
		if known {
			r.place = b.places.add(f)
			b.places.stacks = append(b.places.stacks, []int{r.place})
			r.stack = len(b.places.stacks) - 1
		}
		switch {
		case t.Label != "":
			r.name = t.Label
		case i == 0 && b.tr.Header.Target != "go", r.name == "" && i == 0:
			r.name = "main"
		}
		out[i] = r
	}
	return out
}

// goName returns the name of a Go function without its package, or "" for other functions.
func (b *builder) goName(f symbol.Frame) string {
	if b.tr.Header.Target != "go" {
		return ""
	}
	_, name := symbol.GoName(f.Linkage)
	return name
}

// roleEvents is the number of events of a thread that are examined to find its function.
const roleEvents = 32

// entry returns the function that t runs. Threads of C++ and of thread pools start in a library;
// for those it is the outermost function of the program in the call stack of an early event.
func (b *builder) entry(t trace.Thread, early []int) (f symbol.Frame, known bool) {
	if t.Entry != 0 {
		f, known = b.names.Function(t.Entry), true
		if b.places.rank(t.Entry, f) == ownCode && !f.GoWrapper() {
			return f, true
		}
	}
	for _, i := range early {
		e := &b.tr.Events[i]
		if e.Op == trace.OpThreadStart {
			continue
		}
		sites := b.places.sites(e.Site, e.Stack)
		for k := len(sites) - 1; k >= 0; k-- {
			frames := b.names.Call(sites[k])
			for n := len(frames) - 1; n >= 0; n-- {
				if b.places.rank(sites[k], frames[n]) != ownCode || frames[n].GoWrapper() {
					continue
				}
				// Use the place of its declaration, not of the call; look one byte back, because a
				// call may be the last instruction of its function.
				if f := b.names.Function(sites[k] - 1); f.Func == frames[n].Func {
					return f, true
				}
				return frames[n], true
			}
		}
	}
	return f, known
}

// placeOf returns the location of an event; the start of a thread is in the function it runs.
func (b *builder) placeOf(e *trace.Event) located {
	if e.Op == trace.OpThreadStart {
		return located{b.roles[e.Thread].place, b.roles[e.Thread].stack}
	}
	if e.Op == trace.OpThreadEnd && b.tr.Header.Target == "go" {
		return located{} // the thread has returned from all functions
	}
	return b.places.locate(e.Site, e.Stack)
}
