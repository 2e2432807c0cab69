package uncontrolled

import (
	"debug/dwarf"
	"debug/elf"
	"path/filepath"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

const (
	langMipsAssembler = 0x8001 // DW_LANG_Mips_Assembler, of all assemblers
	langAssembly      = 0x31   // DW_LANG_Assembly
)

// Assembly returns the names of the source files in assembly language, as far as debug information tells, whose code in f accesses
// memory other than by the stack pointer. No compiler adds hooks to it.
func Assembly(f *elf.File) (names []string) {
	if f.Machine != elf.EM_X86_64 {
		return nil
	}
	info, abbrev := elffile.Section(f, ".debug_info"), elffile.Section(f, ".debug_abbrev")
	if len(info) == 0 || len(abbrev) == 0 {
		return nil
	}
	d, err := dwarf.New(abbrev, nil, nil, info, nil, nil, elffile.Section(f, ".debug_ranges"), elffile.Section(f, ".debug_str"))
	if err != nil {
		return nil
	}
	for _, name := range []string{".debug_line_str", ".debug_rnglists", ".debug_addr", ".debug_str_offsets"} {
		if b := elffile.Section(f, name); b != nil && d.AddSection(name, b) != nil {
			return nil
		}
	}
	for r := d.Reader(); ; r.SkipChildren() {
		unit, err := r.Next()
		if err != nil || unit == nil {
			break
		}
		if lang, _ := unit.Val(dwarf.AttrLanguage).(int64); lang != langMipsAssembler && lang != langAssembly {
			continue
		}
		name, _ := unit.Val(dwarf.AttrName).(string)
		ranges, err := d.Ranges(unit)
		if err != nil || slices.ContainsFunc(ranges, func(pc [2]uint64) bool { return accesses(f, pc[0], pc[1]) }) {
			names = append(names, filepath.Base(name))
		}
	}
	return names
}

// accesses reports whether the code from lo to hi accesses memory other than by the stack pointer, or cannot be decoded.
func accesses(f *elf.File, lo, hi uint64) bool {
	for s, b := range elffile.Code(f) {
		if lo < s.Addr || hi > s.Addr+uint64(len(b)) || lo > hi {
			continue
		}
		for b = b[lo-s.Addr : hi-s.Addr]; len(b) > 0; {
			inst, err := x86asm.Decode(b, 64)
			switch {
			case len(b) >= len(endBranch) && string(b[:len(endBranch)]) == endBranch:
				inst.Len = len(endBranch)
			case err != nil || inst.Len == 0 || touches(&inst):
				return true
			}
			b = b[inst.Len:]
		}
	}
	return false
}

func touches(inst *x86asm.Inst) bool {
	if inst.Op == x86asm.LEA || inst.Op == x86asm.NOP {
		return false
	}
	return slices.ContainsFunc(inst.Args[:], func(a x86asm.Arg) bool {
		m, ok := a.(x86asm.Mem)
		return ok && m.Base != x86asm.RSP
	})
}
