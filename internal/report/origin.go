package report

import (
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// Origin says whose an event is. Of two explanations that are otherwise equal, the one with the lower origin is better: what the user
// wrote says more than what a library does for itself.
type Origin uint8

const (
	// OwnEvent: the program's own code, or what it asks of a library that synchronises: of package sync, of the C++ library's
	// std::mutex, or a context's expiry.
	OwnEvent Origin = iota
	// CalledEvent: a library that the program's code has called does it for itself, as package fmt does for a test's message.
	CalledEvent
	// LibraryEvent: a library does it, and no code of the program is on the stack.
	LibraryEvent
)

// Origin returns whose an event of t is.
func (r *Running) Origin(t *trace.Trace, event int) Origin {
	ev := &t.Events[event]
	if ev.Site == 0 {
		return OwnEvent
	}
	sites := []trace.Site{ev.Site}
	if int(ev.Stack) < len(t.Stacks) {
		sites = append(sites, t.Stacks[ev.Stack]...)
	}
	origin := OwnEvent
	if r.internal(t, event) {
		origin = CalledEvent
	}
	for _, s := range sites {
		if s == 0 {
			continue
		}
		for _, f := range r.symbols().Call(s) {
			switch {
			case !standard(t, f) && inOwnModule(t, s):
				return origin
			case !synchronises(t, s, f):
				origin = CalledEvent
			}
		}
	}
	if origin == CalledEvent {
		return LibraryEvent
	}
	return OwnEvent
}

// internal reports whether an event accesses a variable that the C++ library has for itself, such as the number of those who wait for an
// atomic, although the code is in a header and so in the program.
func (r *Running) internal(t *trace.Trace, event int) bool {
	ev := &t.Events[event]
	return t.Header.Target == "c" && ev.Object.Region() == trace.RegionGlobal && ops.Of(ev.Op).Of == ops.Memory &&
		strings.HasPrefix(r.Object(t, ev.Object, ev.Size, event), "std::__")
}

// ownPlace returns where the program's own code called the library in which an event happened, or else where it started the thread, and
// which of the two. The site is 0 if the event happened in the program's own code.
func (r *Running) ownPlace(t *trace.Trace, event int) (how string, at trace.Site) {
	ev := &t.Events[event]
	if ev.Site == 0 || ops.Does(ev.Op) == ops.Start || int(ev.Stack) >= len(t.Stacks) {
		return "", 0
	}
	if how, at := r.called(t, ev.Site, ev.Stack); at != 0 || r.own(t, ev.Site) {
		return how, at
	}
	for i := range t.Events[:event] {
		e := &t.Events[i]
		child, ok := e.Child()
		if !ok || child != ev.Thread || ops.Does(e.Op) != ops.Create {
			continue
		}
		if s := r.ownCall(t, e.Site, e.Stack); r.own(t, s) {
			return "started", s
		}
	}
	return "", 0
}

// called returns where the program's own code called the library that a site is in. It is 0 if the site is in the program's own code,
// or if no such call is known.
func (r *Running) called(t *trace.Trace, site trace.Site, stack uint32) (how string, at trace.Site) {
	if s := r.ownCall(t, site, stack); s != site {
		return "called", s
	}
	return "", 0
}

// ownCall returns the innermost of a site and its callers that is in the program's own source; the site if none is known to be.
func (r *Running) ownCall(t *trace.Trace, site trace.Site, stack uint32) trace.Site {
	if site == 0 || int(stack) >= len(t.Stacks) || r.own(t, site) {
		return site
	}
	if i := slices.IndexFunc(t.Stacks[stack], func(s trace.Site) bool { return r.own(t, s) }); i >= 0 {
		return t.Stacks[stack][i]
	}
	return site
}

// own reports whether a site is in the program's own source.
func (r *Running) own(t *trace.Trace, s trace.Site) bool {
	return s != 0 && inOwnModule(t, s) && slices.ContainsFunc(r.symbols().Call(s), func(f symbol.Frame) bool { return f.Known() && !standard(t, f) })
}

// standard reports whether the source of a frame is that of the language's library or of the compiler.
func standard(t *trace.Trace, f symbol.Frame) bool {
	return f.System() || t.Header.Target == "go" && f.GoStandard()
}

// synchronising are the packages of Go whose functions do nothing for themselves that others could depend on.
var synchronising = []string{"context", "internal/sync", "runtime", "sync", "sync/atomic", "time"}

// synchronises reports whether what a frame of a library does is what its caller asked for.
func synchronises(t *trace.Trace, s trace.Site, f symbol.Frame) bool {
	if t.Header.Target == "go" {
		pkg, _ := symbol.GoName(f.Linkage)
		return slices.Contains(synchronising, pkg)
	}
	return inOwnModule(t, s) || ofThreads(f.Linkage) // a header; or what it asks the C++ library for
}

// ofThreads reports whether a function of the C++ library is of a class that is there for threads.
func ofThreads(linkage string) bool {
	for _, class := range []string{"6thread", "18condition_variable", "22condition_variable_any", "11this_thread", "28__atomic_futex_unsigned_base"} {
		for _, namespace := range []string{"_ZNSt", "_ZNSt3__1", "_ZNSt3_V2"} {
			if strings.HasPrefix(linkage, namespace+class) {
				return true
			}
		}
	}
	return false
}

func inOwnModule(t *trace.Trace, s trace.Site) bool {
	return s.Module() >= 0 && s.Module() < len(t.Modules) && OwnModule(t.Modules[s.Module()])
}

// OwnModule reports whether a module is the program or one of its own libraries, rather than the
// system's.
func OwnModule(m trace.Module) bool {
	return m.Program || !slices.ContainsFunc([]string{"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"}, func(dir string) bool {
		return strings.HasPrefix(m.Path, dir)
	})
}
