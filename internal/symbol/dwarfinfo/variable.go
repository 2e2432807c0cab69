package dwarfinfo

import (
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
)

// variable is a variable at a fixed address, as found in the debug information.
type variable struct {
	addr uint64
	u    *unit
	off  dwarf.Offset
	// fn is the function whose static variable it is; 0 for a global.
	fn    dwarf.Offset
	scope string // namespaces, for producers that emit no linkage name
}

// Operations of a location expression that a variable at a fixed address uses.
const (
	opAddr         = 0x03
	opPlusUconst   = 0x23
	opAddrx        = 0xa1
	opGNUAddrIndex = 0xfb
)

// addVariable notes the variable e if it lives at a fixed address.
func (u *unit) addVariable(e *dwarf.Entry, c context) {
	expr, ok := e.Val(dwarf.AttrLocation).([]byte)
	if !ok {
		return
	}
	addr, ok := u.fixedAddress(expr)
	if !ok || addr == 0 {
		return
	}
	v := variable{addr: addr, u: u, off: e.Offset, scope: c.scope}
	if c.inFunc {
		v.fn = c.fnOff
	}
	u.vars = append(u.vars, v)
}

// fixedAddress evaluates a location that is an address known at link time. Anything else
// (a register, a frame slot, thread-local storage) is not ok.
func (u *unit) fixedAddress(expr []byte) (addr uint64, ok bool) {
	if len(expr) == 0 {
		return 0, false
	}
	op, rest := expr[0], expr[1:]
	switch op {
	case opAddr:
		if len(rest) < 8 {
			return 0, false
		}
		addr, rest = binary.LittleEndian.Uint64(rest), rest[8:]
	case opAddrx, opGNUAddrIndex:
		i, n := binary.Uvarint(rest)
		if n <= 0 {
			return 0, false
		}
		at := uint64(u.addrBase) + 8*i
		if i > 1<<40 || u.addrBase < 0 || at+8 > uint64(len(u.d.im.addr)) {
			return 0, false
		}
		addr, rest = binary.LittleEndian.Uint64(u.d.im.addr[at:]), rest[n:]
	default:
		return 0, false
	}
	if len(rest) > 0 && rest[0] == opPlusUconst {
		k, n := binary.Uvarint(rest[1:])
		if n <= 0 {
			return 0, false
		}
		addr, rest = addr+k, rest[1+n:]
	}
	return addr, len(rest) == 0
}

// addClass notes where a class type is complete: compilers describe a class in one unit
// only, and merely name it in the others.
func (u *unit) addClass(e *dwarf.Entry, c context) {
	if e.Val(dwarf.AttrByteSize) == nil {
		return
	}
	if name := u.d.text(e, dwarf.AttrName); name != "" {
		key := c.scope + name
		if classes := u.d.top().classes; classes[key].d == nil {
			classes[key] = dieRef{u.d, e.Offset}
		}
	}
}

// walk reads the entries of all units, on the first question about data.
func (d *Info) walk() {
	if d.walked {
		return
	}
	d.walked = true
	for _, u := range d.units {
		u = u.full()
		u.loadTree()
		d.vars = append(d.vars, u.vars...)
	}
	if d.root == nil {
		d.typeClasses()
	}
	// Of several entries for one address, the first unit's stays: they describe the same
	// inline variable.
	sort.SliceStable(d.vars, func(i, j int) bool { return d.vars[i].addr < d.vars[j].addr })
	d.vars = slices.CompactFunc(d.vars, func(a, b variable) bool { return a.addr == b.addr })
}

// variableAt is the variable with the highest address that is not above addr; whether it
// reaches to addr depends on its size.
func (d *Info) variableAt(addr uint64) (variable, bool) {
	d.walk()
	i := sort.Search(len(d.vars), func(i int) bool { return d.vars[i].addr > addr }) - 1
	if i < 0 {
		return variable{}, false
	}
	return d.vars[i], true
}

// describe is the variable's readable name and its entry's other facts.
func (v variable) describe() (string, dieName) {
	n := v.u.d.nameOf(v.off)
	switch {
	case v.u.lang == langGo:
		return goname.Readable(n.name), n
	case n.linkage != "" && n.linkage != n.name:
		return cxxname.Readable(n.linkage), n
	case v.fn != 0:
		// `function::variable` is how GDB spells it too.
		if fn := v.u.d.nameOf(v.fn).display(); fn != "" {
			return fn + "::" + n.name, n
		}
	}
	return cxxname.Short(v.scope + n.name), n
}

// Variable is a variable as in its declaration.
type Variable struct {
	Name    string // readable: with its function or namespace before it
	Linkage string // as the linker knows it, empty if the debug information does not say
	Addr    uint64 // of a global variable
	Type    *Type
	File    string
	Line    int
}

// VariableAt is the global variable with the highest address that is not above addr; whether it
// reaches to addr depends on its size.
func (d *Info) VariableAt(addr uint64) (Variable, bool) {
	v, ok := d.variableAt(addr)
	if !ok {
		return Variable{}, false
	}
	name, about := v.describe()
	return Variable{name, about.linkage, v.addr, about.typ.typ(), about.file, about.line}, true
}
