package symbol

import (
	"github.com/heddle-dev/heddle/internal/symbol/dwarfinfo"
	"github.com/heddle-dev/heddle/trace"
)

// Local names the size bytes of a frame that place tells: the variable of the function, or of
// one inlined into it, that lies there while the code at place.Site runs. It is false where
// the debug information does not say, or says more than one thing: no name is better than a
// wrong one.
func (t *Table) Local(place trace.Local, size uint32) (Name, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.module(place.Site.Module())
	if m == nil || m.debug == nil || place.Site.Offset() == 0 {
		return Name{}, false
	}
	// The instruction looked up is in the call that returns to Site.
	v, in, ok := m.debug.Local(dwarfinfo.StackPlace{PC: place.Site.Offset() - 1, CFA: place.CFA, SP: place.SP, Size: int64(size)})
	if !ok {
		return Name{}, false
	}
	return nameOf(v.Name, v, in), true
}

// nameOf is the name of bytes in a variable that is called base.
func nameOf(base string, v dwarfinfo.Variable, in dwarfinfo.Place) Name {
	n := newName(base, in.String())
	n.Type, n.Of, n.File, n.Line = in.Leaf, in.OfName(), v.File, v.Line
	return n
}
