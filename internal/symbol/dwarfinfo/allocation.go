package dwarfinfo

import (
	"debug/dwarf"
	"slices"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// An Allocated is the static type with which a call's result, a block of memory, is used.
type Allocated struct {
	Type *Type  // of the block, or of its elements
	Name string // of the variable that holds the result, empty if it was not found
	// Elements: a block of several times the type's size is an array. In C++, it could be an object of a derived class.
	Elements bool
	// At is where in the block the object of the type begins, Whole the block's size if there is something else in it, or 0.
	At, Whole int64
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
	r := result{frame: frame{u: u, pc: pc - 1}, after: pc, code: elffile.CodeAt(d.top().modulePath, pc, 8), fbreg: len(base) == 1 && base[0] == opReg6, cfa: len(base) == 1 && base[0] == opCallFrameCFA}
	r.search(rd, e, chain[0].off, 0, r.holds)
	if r.found == 0 || r.differ {
		return a, wraps, false
	}
	about := u.d.nameOf(r.found)
	a = Allocated{Type: about.typ.typ().Pointee(), Name: about.name, Elements: u.isC()}
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
	after      uint64 // where the call returns to
	code       []byte // the instructions there
	fbreg, cfa bool   // DW_OP_fbreg counts from rbp, or from the CFA
	differ     bool   // two variables of different types hold it
	typ        *Type
}

// holds notes a variable that holds the result: the code after the call stores rax in it, or its list of locations says
// that it is in rax, or in the register that the code copies rax to.
func (r *result) holds(e *dwarf.Entry, fn dwarf.Offset, depth int) {
	t := r.u.d.nameOf(e.Offset).typ.typ()
	if e.Tag != dwarf.TagVariable || t.Kind != Pointer || !r.stored(e) {
		return
	}
	if r.found != 0 {
		r.differ = r.differ || r.typ.Pointee() != t.Pointee()
		return
	}
	r.found, r.fn, r.typ = e.Offset, fn, t
}

func (r *result) stored(e *dwarf.Entry) bool {
	if expr, single := e.Val(dwarf.AttrLocation).([]byte); single {
		if len(expr) < 2 {
			return false
		}
		n, used := sleb(expr[1:])
		switch {
		case used+1 != len(expr):
			return false
		case expr[0] == opBreg6, expr[0] == opFbreg && r.fbreg:
		case expr[0] == opFbreg && r.cfa:
			n += 16
		default:
			return false
		}
		at, ok := storedAt(r.code)
		return ok && at == n
	}
	for _, l := range r.u.locationList(e) {
		if len(l.expr) != 1 || l.lo < r.after || l.lo >= l.hi {
			continue
		}
		reg, size, copied := copiedTo(r.code)
		if l.expr[0] == opReg0 && (l.lo == r.after || copied && l.lo == r.after+size) || copied && l.expr[0] == reg && l.lo <= r.after+size {
			return true
		}
	}
	return false
}

// storedAt decodes an instruction that stores rax at an offset from rbp.
func storedAt(code []byte) (off int64, ok bool) {
	switch {
	case len(code) >= 4 && code[0] == 0x48 && code[1] == 0x89 && code[2] == 0x45:
		return int64(int8(code[3])), true
	case len(code) >= 7 && code[0] == 0x48 && code[1] == 0x89 && code[2] == 0x85:
		return int64(int32(uint32(code[3]) | uint32(code[4])<<8 | uint32(code[5])<<16 | uint32(code[6])<<24)), true
	}
	return 0, false
}

// copiedTo decodes an instruction that copies rax to a register that calls preserve: the DW_OP_reg of that register, and the
// instruction's size.
func copiedTo(code []byte) (reg byte, size uint64, ok bool) {
	if len(code) < 3 || code[1] != 0x89 {
		return 0, 0, false
	}
	switch {
	case code[0] == 0x48 && code[2] == 0xc3: // rbx
		return opReg0 + 3, 3, true
	case code[0] == 0x49 && code[2] >= 0xc4 && code[2] <= 0xc7: // r12 to r15
		return opReg0 + 12 + code[2] - 0xc4, 3, true
	}
	return 0, 0, false
}
