package trace

import (
	"reflect"
)

// canonical is t without the differences that no form keeps: nil and empty are the
// same but for standard input and output, and the table of call stacks has its entry 0.
func canonical(t *Trace) *Trace {
	c := *t
	h := &c.Header
	h.Command, h.Env, h.Points, h.Unrecorded = nilIfEmpty(h.Command), nilIfEmpty(h.Env), nilIfEmpty(h.Points), nilIfEmpty(h.Unrecorded)
	if h.Recipe != nil {
		r := *h.Recipe
		r.Flags, r.Env, r.Packages, r.Args, r.LeakIgnore, r.Exec = nilIfEmpty(r.Flags), nilIfEmpty(r.Env), nilIfEmpty(r.Packages), nilIfEmpty(r.Args), nilIfEmpty(r.LeakIgnore), nilIfEmpty(r.Exec)
		h.Recipe = &r
	}
	h.TryLock = nilIfEmpty(h.TryLock)
	h.Omit, h.Surroundings = nilIfEmpty(h.Omit), nilIfEmpty(h.Surroundings)
	c.Modules, c.Threads, c.Allocs = nilIfEmpty(c.Modules), nilIfEmpty(c.Threads), nilIfEmpty(c.Allocs)
	c.Locals = nilIfEmpty(c.Locals)
	c.Types = nilIfEmpty(c.Types)
	c.Mappings = nilIfEmpty(c.Mappings)
	c.Stacks = append([][]Site{nil}, c.Stacks[min(1, len(c.Stacks)):]...)
	for i := range c.Stacks {
		c.Stacks[i] = nilIfEmpty(c.Stacks[i])
	}
	c.Events = append([]Event(nil), c.Events...)
	for i := range c.Events {
		c.Events[i].Enabled = c.Events[i].Enabled.Clone()
	}
	e := &c.Ending
	e.Stack, e.Waiters, e.Cycle = nilIfEmpty(e.Stack), nilIfEmpty(e.Waiters), nilIfEmpty(e.Cycle)
	e.Accesses = nilIfEmpty(e.Accesses)
	return &c
}

func nilIfEmpty[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

// wantEqual compares traces, and names the first difference it knows how to name.
func wantEqual(t interface {
	Helper()
	Fatalf(string, ...any)
}, what string, got, want *Trace) {
	t.Helper()
	g, w := canonical(got), canonical(want)
	if reflect.DeepEqual(g, w) {
		return
	}
	for i := range min(len(g.Events), len(w.Events)) {
		if !reflect.DeepEqual(g.Events[i], w.Events[i]) {
			t.Fatalf("%s: event %d is\n%+v, want\n%+v", what, i, g.Events[i], w.Events[i])
		}
	}
	g.Events, w.Events = g.Events[min(len(g.Events), len(w.Events)):], w.Events[min(len(g.Events), len(w.Events)):]
	t.Fatalf("%s: got\n%+v, want\n%+v", what, g, w)
}
