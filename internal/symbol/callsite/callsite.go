// Package callsite finds the instructions of a file that call a function.
package callsite

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// Call is a call instruction. After is the address after it; Jump means that it was compiled into a
// jump.
type Call struct {
	After uint64
	Jump  bool
}

// Find searches the code of f for calls of functions with one of the names, imported or its own,
// and of functions that begin at one of the addresses in wanted, to which it adds. It searches for
// x86-64 instructions that call or jump directly to these, so it does not find calls through
// pointers. code lists the file's functions.
func Find(f *elf.File, code elffile.Symtab, names []string, wanted map[uint64]bool) []Call {
	return find(f, code, func(name string) bool { return slices.Contains(names, name) }, wanted)
}

// All returns the instructions in the code of f that call any function, also through a pointer. It
// does not decode instructions, so some of the addresses may be inside of one.
func All(f *elf.File, code elffile.Symtab) []Call {
	out := find(f, code, func(string) bool { return true }, map[uint64]bool{})
	if f.Machine != elf.EM_X86_64 {
		return nil
	}
	for s, b := range elffile.Code(f) {
		out = elfBytes{s.Addr, b}.indirect(out)
	}
	return slices.DeleteFunc(out, func(c Call) bool { return c.Jump })
}

// indirect finds call instructions whose operand is a register or memory that a register points to.
func (p elfBytes) indirect(out []Call) []Call {
	for i := 0; i+2 <= len(p.b); i++ {
		if p.b[i] != 0xff || p.b[i+1]>>3&7 != 2 {
			continue
		}
		n := 2
		mod, rm := p.b[i+1]>>6, p.b[i+1]&7
		switch {
		case mod == 3:
			out = append(out, Call{After: p.addr + uint64(i+n)})
			continue
		case mod == 0 && rm == 5:
			continue // relative to the instruction: see calls
		case rm == 4: // a scaled index
			n++
			if mod == 0 && i+2 < len(p.b) && p.b[i+2]&7 == 5 {
				n += 4
			}
		}
		switch mod {
		case 1:
			n++
		case 2:
			n += 4
		}
		out = append(out, Call{After: p.addr + uint64(i+n)})
	}
	return out
}

func find(f *elf.File, code elffile.Symtab, named func(string) bool, wanted map[uint64]bool) []Call {
	if f.Machine != elf.EM_X86_64 {
		return nil
	}
	for i := range code {
		if s := &code[i]; named(s.Name) {
			wanted[s.Addr] = true
		}
	}
	slots := importSlots(f, named)
	if len(slots) == 0 && len(wanted) == 0 {
		return nil
	}
	var parts []elfBytes
	for s, b := range elffile.Code(f) {
		part := elfBytes{s.Addr, b}
		if strings.HasPrefix(s.Name, ".plt") || strings.HasPrefix(s.Name, ".iplt") {
			part.stubs(slots, wanted)
			continue
		}
		parts = append(parts, part)
	}
	var out []Call
	for _, part := range parts {
		out = part.calls(slots, wanted, out)
	}
	return out
}

// elfBytes is a range of bytes of a file with its address.
type elfBytes struct {
	addr uint64
	b    []byte
}

// target returns the address to which the 32-bit displacement at b[i] refers, relative to the byte
// after it.
func (p elfBytes) target(i int) uint64 {
	return p.addr + uint64(i) + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(p.b[i:]))))
}

// stubs adds to wanted the entries of a procedure linkage table that jump through one of slots. An
// entry begins with the jump, or with endbr64 or a bnd prefix before it.
func (p elfBytes) stubs(slots, wanted map[uint64]bool) {
	for i := 0; i+6 <= len(p.b); i++ {
		if p.b[i] != 0xff || p.b[i+1] != 0x25 || !slots[p.target(i+2)] {
			continue
		}
		at := i
		if at > 0 && p.b[at-1] == 0xf2 {
			at--
		}
		if at >= 4 && string(p.b[at-4:at]) == "\xf3\x0f\x1e\xfa" {
			at -= 4
		}
		wanted[p.addr+uint64(at)] = true
	}
}

// calls finds call and jmp to wanted addresses, and through wanted slots. It does not decode
// instructions: other bytes are very unlikely to look like a displacement to one of these.
func (p elfBytes) calls(slots, wanted map[uint64]bool, out []Call) []Call {
	for i := 0; i+5 <= len(p.b); i++ {
		switch p.b[i] {
		case 0xe8, 0xe9: // call, jmp
			if wanted[p.target(i+1)] {
				out = append(out, Call{p.addr + uint64(i) + 5, p.b[i] == 0xe9})
			}
		case 0xff: // call or jmp through memory
			if i+6 <= len(p.b) && (p.b[i+1] == 0x15 || p.b[i+1] == 0x25) && slots[p.target(i+2)] {
				out = append(out, Call{p.addr + uint64(i) + 6, p.b[i+1] == 0x25})
			}
		}
	}
	return out
}

// importSlots returns the addresses in the global offset table into which the loader stores the
// functions that named accepts.
func importSlots(f *elf.File, named func(string) bool) map[uint64]bool {
	slots := map[uint64]bool{}
	for slot, name := range elffile.Imports(f) {
		if named(name) {
			slots[slot] = true
		}
	}
	return slots
}
