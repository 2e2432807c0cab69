package dwarfinfo

import (
	"debug/dwarf"
	"math"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
)

// An Allocated is the static type with which a call's result, a block of memory, is used.
type Allocated struct {
	Type *Type  // of the block, or of its elements
	Name string // of the variable that holds the result, empty if it was not found
	// Elements: a block of several times the type's size is an array. In C++, it could be an object of a derived class.
	Elements bool
	// At is where in the block the object of the type begins, Whole the block's size if there is something else in it, or 0.
	At, Whole int64
	// Handed is what the functions take the block for that it is handed to, in their order.
	Handed []Handed
}

// Allocated returns with which type the block is used that a call returned to pc. It reports false if that is not known.
// wraps tells that the function around the call returns an untyped pointer itself, perhaps the block.
func (d *Info) Allocated(pc uint64) (a Allocated, wraps, ok bool) {
	u := d.unitAt(pc - 1)
	if u == nil {
		return a, false, false
	}
	u.loadTree()
	chain := u.scopesAt(pc - 1)
	if len(chain) == 0 {
		return a, false, false
	}
	for _, s := range slices.Backward(chain) {
		// A standard allocator returns a pointer to what it has allocated.
		n := u.d.nameOf(s.off)
		if n.name == "allocate" && cxxname.Standard(n.linkage) {
			if t := n.typ.typ(); t.Kind == Pointer {
				node := t.Pointee()
				if v, at := node.Stored(); v != nil {
					return Allocated{Type: v, At: at, Whole: node.Size}, false, true
				}
				return Allocated{Type: node, Elements: true}, false, true
			}
		}
	}
	ret := u.d.nameOf(chain[0].off).typ.typ()
	wraps = ret.Kind == Pointer && ret.Pointee().Size < 0
	e, rd := u.d.entryAt(chain[0].off)
	if e == nil {
		return a, wraps, false
	}
	base, _ := e.Val(dwarf.AttrFrameBase).([]byte)
	moments := follow(d.top().modulePath, pc)
	a.Handed = u.handed(moments, chain)
	r := result{frame: frame{u: u, pc: pc - 1}, moments: moments, fbreg: len(base) == 1 && base[0] == opReg6, cfa: len(base) == 1 && base[0] == opCallFrameCFA}
	r.search(rd, e, chain[0].off, 0, r.holds)
	if r.found == 0 || r.differ {
		return a, wraps, len(a.Handed) > 0
	}
	about := u.d.nameOf(r.found)
	a.Type, a.Name, a.Elements = about.typ.typ().Pointee(), about.name, u.isC()
	if fn := u.d.nameOf(r.fn).display(); fn != "" {
		a.Name = fn + "::" + a.Name
	}
	return a, wraps, true
}

// IsC reports whether the code at addr is C.
func (d *Info) IsC(addr uint64) bool {
	u := d.unitAt(addr)
	return u != nil && u.isC()
}

// isC reports whether the unit's language is a version of C.
func (u *unit) isC() bool { return slices.Contains([]int64{0x01, 0x02, 0x0c, 0x1d, 0x2c}, u.lang) } // DW_LANG_*

// result is a search for the variable that a call's result is stored in.
type result struct {
	frame
	moments    []moment
	fbreg, cfa bool // DW_OP_fbreg counts from rbp, or from the CFA
	differ     bool // two variables of different types hold it
	typ        *Type
	since      int // the moment from which on the variable holds it
}

// holds notes a variable that holds the result: the code after the call stores it there, or its list of locations says
// that it is in a register that has it. Of several, it is the first.
func (r *result) holds(e *dwarf.Entry, fn dwarf.Offset, depth int) {
	if e.Tag != dwarf.TagVariable {
		return
	}
	t := r.u.d.nameOf(e.Offset).typ.typ()
	if t.Kind != Pointer {
		return
	}
	since := r.first(e)
	if since < 0 {
		return
	}
	if r.found != 0 {
		r.differ = r.differ || r.typ.Pointee() != t.Pointee()
		if since >= r.since {
			return
		}
	}
	r.found, r.fn, r.typ, r.since = e.Offset, fn, t, since
}

// first returns the first moment at which a variable holds the result, or -1.
func (r *result) first(e *dwarf.Entry) int {
	locations := r.u.locations(e)
	if len(locations) == 0 {
		return -1
	}
	at, framed := slot{}, false
	if locations[0].hi == math.MaxUint64 {
		at, framed = r.slot(locations[0].expr)
	}
	return slices.IndexFunc(r.moments, func(m moment) bool {
		off, ok := m.slots[at]
		if !framed {
			off, ok = inRegister(locations, &m)
		}
		return ok && off == 0
	})
}

// slot returns the place on the stack that a location is.
func (r *result) slot(expr []byte) (s slot, ok bool) {
	if len(expr) < 2 {
		return s, false
	}
	n, used := sleb(expr[1:])
	if used+1 != len(expr) {
		return s, false
	}
	switch {
	case expr[0] == opBreg6, expr[0] == opFbreg && r.fbreg:
		return slot{x86asm.RBP, n}, true
	case expr[0] == opFbreg && r.cfa:
		return slot{x86asm.RBP, n + 16}, true
	}
	return s, false
}
