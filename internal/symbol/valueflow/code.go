package valueflow

import (
	"debug/elf"
	"maps"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/trace"
)

// Code reads the instructions of a program and its libraries.
type Code struct {
	modules []trace.Module
	files   map[int]*file
}

// NewCode returns the code of modules, which sites refer to by index. It reads files when they are needed.
func NewCode(modules []trace.Module) *Code { return &Code{modules: modules, files: map[int]*file{}} }

// file is what is needed of a module's file; it has no segments if the file cannot be used.
type file struct {
	fixed    bool // at the addresses that it says
	lo, hi   uint64
	segments []segment
	imports  map[uint64]string // by address in the global offset table
	exports  map[string]bool   // functions
	hooked   bool              // it was compiled with hooks, at least in part
}

type segment struct {
	addr uint64
	b    []byte
}

func (c *Code) file(module int) *file {
	if f := c.files[module]; f != nil {
		return f
	}
	f := &file{}
	c.files[module] = f
	if module < 0 || module >= len(c.modules) || !strings.HasPrefix(c.modules[module].Path, "/") {
		return f
	}
	m := &c.modules[module]
	var segments []segment
	info, err := elffile.Read(m.Path, func(e *elf.File) {
		if e.Machine != elf.EM_X86_64 {
			return
		}
		for s, b := range elffile.Code(e) {
			segments = append(segments, segment{s.Addr, b})
		}
		f.fixed = e.Type == elf.ET_EXEC
		for _, p := range e.Progs {
			if p.Type == elf.PT_LOAD {
				if f.hi == 0 {
					f.lo = p.Vaddr
				}
				f.hi = p.Vaddr + p.Memsz
			}
		}
		f.imports, f.exports = maps.Collect(elffile.Imports(e)), exported(e)
		for _, name := range f.imports {
			f.hooked = f.hooked || name == hooks
		}
	})
	if err != nil || info.BuildID != "" && m.BuildID != "" && !strings.EqualFold(info.BuildID, m.BuildID) {
		return f // built again since
	}
	f.segments = segments
	return f
}

// at returns the bytes from an address on, nil if there is no code.
func (f *file) at(addr uint64) []byte {
	for i := range f.segments {
		if s := &f.segments[i]; addr >= s.addr && addr < s.addr+uint64(len(s.b)) {
			return s.b[addr-s.addr:]
		}
	}
	return nil
}

const landing = "\xf3\x0f\x1e\xfa" // endbr64

// decode returns the instruction at a site.
func (c *Code) decode(at trace.Site) (inst x86asm.Inst, ok bool) {
	b := c.file(at.Module()).at(at.Offset())
	if len(b) >= 4 && string(b[:4]) == landing {
		return x86asm.Inst{Op: x86asm.NOP, Len: 4}, true
	}
	if len(b) == 0 {
		return inst, false
	}
	inst, err := x86asm.Decode(b, 64)
	return inst, err == nil && inst.Len > 0
}

// imported returns the name of the function whose address the loader puts at an address of the module's.
func (c *Code) imported(module int, slot uint64) string { return c.file(module).imports[slot] }

// inside reports whether an address is in a module.
func (c *Code) inside(module int, off int64) bool {
	f := c.file(module)
	return uint64(off) >= f.lo && uint64(off) < f.hi
}

// stub returns the name of the imported function to which the entry of a procedure linkage table at a site jumps.
func (c *Code) stub(at trace.Site) string {
	for range 2 {
		inst, ok := c.decode(at)
		if !ok {
			return ""
		}
		if inst.Op == x86asm.JMP {
			if m, ok := inst.Args[0].(x86asm.Mem); ok && m.Base == x86asm.RIP && m.Index == 0 {
				return c.imported(at.Module(), at.Offset()+uint64(inst.Len)+uint64(displacement(m)))
			}
			return ""
		}
		if inst.Op != x86asm.NOP {
			return ""
		}
		at += trace.Site(inst.Len)
	}
	return ""
}
