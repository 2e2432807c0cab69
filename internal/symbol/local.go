package symbol

import (
	"github.com/heddle-dev/heddle/internal/symbol/dwarfinfo"
	"github.com/heddle-dev/heddle/trace"
)

// Local names size bytes at a place in a frame: the variable of the function, or of one inlined
// into it, stored there while the code at place.Site runs. It returns false if the debug
// information has no answer or an ambiguous one: no name is better than a wrong one.
func (t *Table) Local(place trace.Local, size uint32) (Name, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.module(place.Site.Module())
	if m == nil || m.debug == nil || place.Site.Offset() == 0 {
		return Name{}, false
	}
	// The instruction looked up is in the call that returns to Site.
	v, in, ok := m.debug.Local(dwarfinfo.StackPlace{PC: place.Site.Offset() - 1, CFA: place.CFA, SP: place.SP, FP: place.FP, Size: int64(size)})
	if !ok {
		return Name{}, false
	}
	return nameOf(v.Name, v, in), true
}

// sameFunction reports whether two return addresses are in one function.
func (t *Table) sameFunction(a, b trace.Site) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.module(a.Module())
	if m == nil || m.debug == nil || a.Module() != b.Module() || a.Offset() == 0 || b.Offset() == 0 {
		return false
	}
	return m.debug.SameFunction(a.Offset()-1, b.Offset()-1)
}

// nameOf returns the name of a place in the variable base.
func nameOf(base string, v dwarfinfo.Variable, in dwarfinfo.Place) Name {
	n := newName(base, in.String())
	n.Type, n.Of, n.File, n.Line = in.Leaf, in.OfName(), v.File, v.Line
	return n
}
