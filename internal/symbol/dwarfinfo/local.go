package dwarfinfo

import (
	"bytes"
	"debug/dwarf"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// DWARF expression operations of frame bases and of variables in a frame.
const (
	opReg0         = 0x50 // rax
	opReg6         = 0x56 // rbp
	opReg7         = 0x57 // rsp
	opBreg3        = 0x73 // rbx
	opBreg6        = 0x76
	opBreg7        = 0x77
	opFbreg        = 0x91
	opCallFrameCFA = 0x9c
)

// Place in a stack that a variable may lie in: the frame of the function whose code runs at PC,
// and the first of Size bytes, from the frame's CFA and from the stack pointer and the frame pointer
// of its body. FP is 0 if it is not known.
type StackPlace struct {
	PC          uint64
	CFA, SP, FP int64
	Size        int64
}

// Local finds the variable of a frame, or of a function inlined into it, that holds the bytes of
// a place while the code at PC runs, and where in it they lie. ok is false if the debug
// information names no variable, or more than one: no name is better than a wrong one.
func (d *Info) Local(at StackPlace) (v Variable, in Place, ok bool) {
	u := d.unitAt(at.PC)
	if u == nil {
		return v, in, false
	}
	u.loadTree()
	chain := u.scopesAt(at.PC)
	if len(chain) == 0 {
		return v, in, false
	}
	f := frame{u: u, pc: at.PC, entry: chain[0].ranges[0][0], cfa: at.CFA, sp: at.SP, fp: at.FP, size: at.Size}
	e, rd := u.d.entryAt(chain[0].off)
	if e == nil {
		return v, in, false
	}
	base, _ := e.Val(dwarf.AttrFrameBase).([]byte)
	if !f.setBase(base) {
		return v, in, false
	}
	f.search(rd, e, chain[0].off, 0, f.variable)
	if f.found == 0 || f.ambiguous {
		return v, in, false
	}
	about := u.d.nameOf(f.found)
	if about.name == "" {
		return v, in, false
	}
	v = Variable{Name: about.name, Linkage: about.linkage, Type: about.typ.typ(), File: about.file, Line: about.line}
	if fn := u.d.nameOf(f.fn).display(); fn != "" {
		v.Name = fn + "::" + v.Name
	}
	return v, v.Type.Locate(f.off, f.size), true
}

// SameFunction reports whether the code at two addresses belongs to one function, code inlined into it
// included.
func (d *Info) SameFunction(a, b uint64) bool {
	u := d.unitAt(a)
	if u == nil || u != d.unitAt(b) {
		return false
	}
	u.loadTree()
	x, y := u.scopesAt(a), u.scopesAt(b)
	return len(x) > 0 && len(y) > 0 && x[0].off == y[0].off
}

// frame is a search for the variable of a frame that holds some bytes.
type frame struct {
	u       *unit
	pc      uint64
	entry   uint64
	cfa, sp int64 // of the first byte, from the frame's CFA and from the stack pointer of its body
	fp      int64 // and from its frame pointer; 0 if it is not known
	size    int64
	base    int64 // of the first byte, from what DW_OP_fbreg counts from
	based   bool
	found   dwarf.Offset // the variable's entry, 0 for none yet
	fn      dwarf.Offset // of the function it is declared in
	off     int64        // of the bytes in the variable
	depth   int          // of nesting, at which it was found
	// ambiguous: two variables of one depth lie there.
	ambiguous bool
}

// setBase evaluates a frame base that gcc and clang write.
func (f *frame) setBase(expr []byte) bool {
	if len(expr) != 1 {
		return len(expr) == 0 // locations that do not use it can still be evaluated
	}
	f.based = true
	switch expr[0] {
	case opCallFrameCFA:
		f.base = f.cfa
	case opReg6:
		f.base, f.based = f.fp, f.hasFP()
	case opReg7:
		f.base = f.sp
	default:
		f.based = false
	}
	return true
}

// search looks through the children of e, which rd has just read. Inner scopes hide outer
// ones: a compiler lets variables of scopes that are not active at once share a place.
func (f *frame) search(rd *dwarf.Reader, e *dwarf.Entry, fn dwarf.Offset, depth int, variable func(v *dwarf.Entry, fn dwarf.Offset, depth int)) {
	if depth > maxDepth {
		rd.SkipChildren()
		return
	}
	eachChild(rd, e, func(c *dwarf.Entry) bool {
		switch c.Tag {
		case dwarf.TagVariable, dwarf.TagFormalParameter:
			variable(c, fn, depth)
		case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine:
			if f.active(c) {
				inner := fn
				if c.Tag == dwarf.TagInlinedSubroutine {
					inner = c.Offset
				}
				f.search(rd, c, inner, depth+1, variable)
				return true
			}
		}
		return false
	})
}

// active reports whether the code of a scope is running. A block without code of its own is
// part of what is around it.
func (f *frame) active(e *dwarf.Entry) bool {
	ranges, err := f.u.rangesOf(e)
	if err != nil {
		return false
	}
	for _, r := range ranges {
		if r[0] <= f.pc && f.pc < r[1] {
			return true
		}
	}
	return len(ranges) == 0
}

// variable adds a variable's entry if it holds the bytes.
func (f *frame) variable(e *dwarf.Entry, fn dwarf.Offset, depth int) {
	from, ok := f.located(e)
	if !ok || from < 0 {
		return
	}
	size := f.u.d.nameOf(e.Offset).typ.typ().Size
	if size <= 0 || from+max(f.size, 1) > size {
		return
	}
	if f.found != 0 && f.depth == depth {
		f.ambiguous = true
		return
	}
	if f.found == 0 || depth > f.depth {
		f.found, f.fn, f.off, f.depth, f.ambiguous = e.Offset, fn, from, depth, false
	}
}

// located returns the offset of the bytes from the place of a variable. Where the variable has several
// locations, it is in memory at the one that holds for pc, or, if that is a register or a value, at the
// only place that it ever has: an optimizer may keep a copy of a variable that others have the address of.
func (f *frame) located(e *dwarf.Entry) (from int64, ok bool) {
	if expr, single := e.Val(dwarf.AttrLocation).([]byte); single {
		return f.from(expr)
	}
	agree := true
	for _, l := range f.u.locationList(e) {
		at, memory := f.from(l.expr)
		if !memory {
			continue
		}
		if l.lo <= f.pc && f.pc < l.hi {
			return at, true
		}
		agree = agree && (!ok || at == from)
		from, ok = at, true
	}
	return from, ok && agree
}

// hasFP reports whether fp is the distance from the function's frame pointer. A frame pointer points into the
// frame; a function that does not use one leaves that of a caller in the register, or any other value.
func (f *frame) hasFP() bool { return f.fp != 0 && f.fp >= f.cfa+16 && f.fp <= f.sp }

// from returns the offset of the bytes from the place that a location describes.
func (f *frame) from(expr []byte) (int64, bool) {
	if len(expr) < 2 {
		return 0, false
	}
	n, used := sleb(expr[1:])
	if used == 0 || used+1 != len(expr) {
		return 0, false // more operations follow: the variable itself is not there
	}
	switch expr[0] {
	case opFbreg:
		return f.base - n, f.based
	case opBreg3:
		return f.sp - n, f.u.basePointer(f.entry)
	case opBreg6:
		return f.fp - n, f.hasFP()
	case opBreg7:
		return f.sp - n, true
	}
	return 0, false
}

// sleb reads a signed LEB128 number, and how many bytes it takes; 0 for damage.
func sleb(b []byte) (v int64, n int) {
	for i := 0; i < len(b) && i < 10; i++ {
		v |= int64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			if b[i]&0x40 != 0 && 7*(i+1) < 64 {
				v |= -1 << (7 * (i + 1))
			}
			return v, i + 1
		}
	}
	return 0, 0
}

// basePointer reports whether the function that begins at entry copies its stack pointer to rbx: clang reaches the
// variables of a frame from there that has both a stricter alignment and a size known only at run time.
func (u *unit) basePointer(entry uint64) bool {
	top := u.d.top()
	known, ok := top.basePointers[entry]
	if !ok {
		const prologue = 64
		code := elffile.CodeAt(top.modulePath, entry, prologue)
		known = bytes.Contains(code, []byte{0x48, 0x89, 0xe3}) // mov %rsp, %rbx
		top.basePointers[entry] = known
	}
	return known
}
