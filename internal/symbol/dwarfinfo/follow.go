package dwarfinfo

import (
	"debug/dwarf"
	"maps"
	"math"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// Bounds of what is read after a call.
const (
	followedBytes        = 2048
	followedInstructions = 400
)

// slot is a place on the stack, by a register and an offset.
type slot struct {
	base x86asm.Reg
	off  int64
}

// pointers are the registers and places on the stack that point into a block, with the offsets in it.
type pointers struct {
	regs  map[x86asm.Reg]int64
	slots map[slot]int64
}

// moment is what points to a block before an instruction is executed.
type moment struct {
	pc    uint64
	regs  map[x86asm.Reg]int64
	slots map[slot]int64
	calls uint64 // the entry of the function that the instruction calls, 0 for none
	ends  bool   // the instruction returns
}

// numbered are the general registers in the order of DWARF's numbers.
var numbered = [...]x86asm.Reg{
	x86asm.RAX, x86asm.RDX, x86asm.RCX, x86asm.RBX, x86asm.RSI, x86asm.RDI, x86asm.RBP, x86asm.RSP,
	x86asm.R8, x86asm.R9, x86asm.R10, x86asm.R11, x86asm.R12, x86asm.R13, x86asm.R14, x86asm.R15,
}

// passed are the registers of arguments in their order.
var passed = [...]x86asm.Reg{x86asm.RDI, x86asm.RSI, x86asm.RDX, x86asm.RCX, x86asm.R8, x86asm.R9}

// whole returns the register of 64 bits that r is a part of, 0 for others.
func whole(r x86asm.Reg) x86asm.Reg {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return x86asm.RAX + r - x86asm.AL
	case r >= x86asm.AH && r <= x86asm.BH:
		return x86asm.RAX + r - x86asm.AH
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return x86asm.RSP + r - x86asm.SPB
	case r >= x86asm.AX && r <= x86asm.R15W:
		return x86asm.RAX + r - x86asm.AX
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return x86asm.RAX + r - x86asm.EAX
	case r >= x86asm.RAX && r <= x86asm.R15:
		return r
	}
	return 0
}

// follow follows the address that a call returned to pc has returned, through the code of that function and of the calls
// inlined there: over the way on which conditional jumps go back once, into a loop, and not forward.
func follow(path string, pc uint64) (out []moment) {
	from := pc
	code := elffile.CodeAt(path, from, followedBytes)
	p := pointers{regs: map[x86asm.Reg]int64{x86asm.RAX: 0}, slots: map[slot]int64{}}
	looped := map[uint64]bool{}
	for range followedInstructions {
		if pc < from || pc >= from+uint64(len(code)) {
			return out
		}
		inst, err := x86asm.Decode(code[pc-from:], 64)
		if err != nil || inst.Len == 0 || len(p.regs)+len(p.slots) == 0 {
			return out
		}
		m := moment{pc: pc, regs: maps.Clone(p.regs), slots: maps.Clone(p.slots)}
		next := pc + uint64(inst.Len)
		to := uint64(0)
		if r, ok := inst.Args[0].(x86asm.Rel); ok {
			to = next + uint64(int64(r))
		}
		switch inst.Op {
		case x86asm.RET:
			m.ends = true
			return append(out, m)
		case x86asm.CALL:
			m.calls = to
			p.called()
		case x86asm.JMP:
			if to <= pc {
				return append(out, m)
			}
			next = to
		case x86asm.UD2, x86asm.HLT:
			return out
		default:
			if to != 0 && to <= pc && !looped[pc] {
				looped[pc], next = true, to
			}
			p.execute(&inst)
		}
		out = append(out, m)
		pc = next
	}
	return out
}

// called forgets the registers that a function may change.
func (p *pointers) called() {
	for r := range p.regs {
		switch r {
		case x86asm.RBX, x86asm.RBP, x86asm.R12, x86asm.R13, x86asm.R14, x86asm.R15:
		default:
			delete(p.regs, r)
		}
	}
}

// place returns the place on the stack that an operand is. What lies above rbp belongs to the caller, or rbp is a pointer.
func place(m x86asm.Mem) (s slot, ok bool) {
	s = slot{m.Base, int64(int32(m.Disp))}
	return s, m.Segment == 0 && m.Index == 0 && (m.Base == x86asm.RBP && s.off < 0 || m.Base == x86asm.RSP)
}

// execute does any instruction but a jump or a call.
func (p *pointers) execute(inst *x86asm.Inst) {
	a, b := inst.Args[0], inst.Args[1]
	off, known := int64(0), false
	switch inst.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.NOP:
		return
	case x86asm.PUSH, x86asm.POP: // what counts from rsp lies elsewhere
		p.moved()
		if inst.Op == x86asm.PUSH {
			return
		}
	case x86asm.MOV:
		switch b := b.(type) {
		case x86asm.Reg:
			off, known = p.regs[b]
		case x86asm.Mem:
			if s, ok := place(b); ok && inst.MemBytes == 8 {
				off, known = p.slots[s]
			}
		}
	case x86asm.LEA:
		if m := b.(x86asm.Mem); m.Index == 0 && m.Segment == 0 {
			off, known = p.regs[m.Base]
			off += int64(int32(m.Disp))
		}
	case x86asm.ADD:
		if n, ok := b.(x86asm.Imm); ok {
			if r, ok := a.(x86asm.Reg); ok {
				off, known = p.regs[r]
				off += int64(n)
			}
		}
	}
	switch a := a.(type) {
	case x86asm.Reg:
		r := whole(a)
		delete(p.regs, r)
		if r == x86asm.RSP {
			p.moved()
		}
		if known && a == r {
			p.regs[r] = off
		}
	case x86asm.Mem:
		s, ok := place(a)
		if !ok {
			return
		}
		for k := range p.slots {
			if k.base == s.base && k.off < s.off+int64(max(inst.MemBytes, 8)) && s.off < k.off+8 {
				delete(p.slots, k)
			}
		}
		if known && inst.MemBytes == 8 {
			p.slots[s] = off
		}
	}
}

// moved forgets what counts from rsp.
func (p *pointers) moved() {
	for s := range p.slots {
		if s.base == x86asm.RSP {
			delete(p.slots, s)
		}
	}
}

// Handed is a type that a function, perhaps a constructor, takes a block for that is handed to it.
type Handed struct {
	Type        *Type
	At          int64 // where in the block the object begins
	Constructor bool
}

// handed returns what becomes of the block whose address is followed: what constructors make of it, and what other functions take it
// for, in their order. chain is where the call is that returned it.
func (u *unit) handed(moments []moment, chain []*scope) (out []Handed) {
	type given struct {
		fn   dieName
		list []parameter
	}
	inlined, done := map[*scope]given{}, map[*scope]bool{}
	for i := range moments {
		m := &moments[i]
		for i, s := range u.scopesAt(m.pc) {
			if done[s] || i < len(chain) && chain[i] == s {
				continue
			}
			g, known := inlined[s]
			if !known {
				g = given{u.d.nameOf(s.off), u.parameters(s.off)}
				inlined[s] = g
			}
			for _, p := range g.list {
				if at, ok := inRegister(p.at, m); ok {
					done[s] = true
					out = append(out, p.takes(g.fn, at)...)
				}
			}
		}
		if at, ok := m.regs[x86asm.RAX]; ok && m.ends && at == 0 && u.scopesAt(m.pc) != nil {
			if t := u.d.nameOf(chain[0].off).typ.typ(); t.Kind == Pointer {
				out = append(out, Handed{Type: t.Pointee()})
			}
		}
		if of := u.d.unitAt(m.calls); m.calls != 0 && of != nil {
			of.loadTree()
			f := of.scopesAt(m.calls)
			if len(f) == 0 || f[0].ranges[0][0] != m.calls {
				continue
			}
			for i, p := range of.parameters(f[0].off) {
				if i == len(passed) || !p.typ.inRegister() {
					break
				}
				if at, ok := m.regs[passed[i]]; ok {
					out = append(out, p.takes(of.d.nameOf(f[0].off), at)...)
				}
			}
		}
	}
	return out
}

// parameter is one of a function's.
type parameter struct {
	name string
	typ  *Type
	at   []located // where it is, for one of a function that was inlined
}

// parameters returns those of a function, or of a call that was inlined.
func (u *unit) parameters(off dwarf.Offset) (out []parameter) {
	e, rd := u.d.entryAt(off)
	if e == nil {
		return nil
	}
	eachChild(rd, e, func(c *dwarf.Entry) bool {
		if c.Tag == dwarf.TagFormalParameter {
			about := u.d.nameOf(c.Offset)
			out = append(out, parameter{about.name, about.typ.typ(), u.locations(c)})
		}
		return false
	})
	return out
}

// locations returns the list of locations of e, also if it has one for all of its scope.
func (u *unit) locations(e *dwarf.Entry) []located {
	if expr, single := e.Val(dwarf.AttrLocation).([]byte); single {
		return []located{{0, math.MaxUint64, expr}}
	}
	return u.locationList(e)
}

// inRegister returns the offset in the block that a variable with these locations points to at a moment, if it is in a register.
func inRegister(locations []located, m *moment) (at int64, ok bool) {
	for _, l := range locations {
		if l.lo <= m.pc && m.pc < l.hi && len(l.expr) == 1 {
			if n := int(l.expr[0]) - opReg0; n >= 0 && n < len(numbered) {
				at, ok = m.regs[numbered[n]]
				return at, ok
			}
		}
	}
	return 0, false
}

// takes returns what a function takes the block for, if it is given a pointer to what is at an offset in it.
func (p *parameter) takes(fn dieName, at int64) []Handed {
	if p.typ.Kind != Pointer {
		return nil
	}
	class := p.typ.Pointee()
	made := p.name == "this" && fn.constructs(class)
	if at != 0 && !made || class.Size < 0 {
		return nil
	}
	return []Handed{{Type: class, At: at, Constructor: made}}
}

// inRegister reports whether a parameter of the type takes one general register.
func (t *Type) inRegister() bool {
	return t.Kind == Pointer || t.Kind == Enum || t.Kind == Scalar && t.Encoding != Float && t.Size <= 8
}

// constructs reports whether a function is a constructor of a class.
func (n dieName) constructs(class *Type) bool {
	name, _, _ := strings.Cut(class.Name, "<")
	own, _, _ := strings.Cut(n.name, "<")
	return class.Kind == Struct && name != "" && own == name
}
