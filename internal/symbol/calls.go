package symbol

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/trace"
)

// CallSite is an instruction that calls a function.
type CallSite struct {
	// Site is its return address. Of a jump, which has none, it is the byte after.
	Site trace.Site
	// Jump says that the call ends the function it is in, and was compiled into a jump: what
	// is called sees the return address of that function's own caller.
	Jump bool
	// Frames is the call's place, innermost first; see Table.Call.
	Frames []Frame
	// Entry and Name are the function that the instruction belongs to, which Frames ends
	// with. Entry is 0 if it is not known.
	Entry trace.Site
	Name  string // as the linker knows it
}

// CallsTo finds the instructions of all modules that call one of some functions: those
// called names, from outside of the module or not, and those that begin at entries, of the
// same module. It looks for x86-64 instructions that call or jump to exactly these places,
// so calls through pointers are not among them. Modules that cannot be read have none.
// The result is in order of sites.
func (t *Table) CallsTo(names []string, entries []trace.Site) []CallSite {
	t.mu.Lock()
	var found []CallSite
	for i := range t.mods {
		m := t.module(i)
		wanted := map[uint64]bool{}
		for _, e := range entries {
			if e.Module() == i {
				wanted[e.Offset()] = true
			}
		}
		for _, c := range m.callsTo(names, wanted) {
			s := CallSite{Site: trace.MakeSite(i, c.after), Jump: c.jump}
			if entry, name := m.functionAt(c.after - 1); entry != 0 {
				s.Entry, s.Name = trace.MakeSite(i, entry), name
			}
			found = append(found, s)
		}
	}
	t.mu.Unlock()
	sort.Slice(found, func(i, j int) bool { return found[i].Site < found[j].Site })
	for i := range found {
		found[i].Frames = t.Call(found[i].Site)
	}
	return found
}

// Files lists the source files that the modules' line tables name and match accepts, each
// once, in order.
func (t *Table) Files(match func(path string) bool) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for i := range t.mods {
		m := t.module(i)
		if m.debug == nil {
			continue
		}
		for _, u := range m.debug.units {
			u.loadLines()
			for _, f := range u.files {
				if p := u.path(f); p != "" && match(p) {
					out = append(out, p)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// functionAt is where the function that addr is in begins, and what it is called; 0 if that
// is not known. Its cold part, elsewhere, belongs to it.
func (m *module) functionAt(addr uint64) (entry uint64, name string) {
	if m.debug != nil {
		if u := m.debug.unitAt(addr); u != nil {
			u.loadTree()
			if chain := u.scopesAt(addr); len(chain) > 0 {
				entry = chain[0].ranges[0][0]
			}
		}
	}
	if s, ok := m.code.find(max(entry, 1)); ok && s.addr == entry {
		return entry, s.name
	}
	if entry != 0 {
		return entry, ""
	}
	if s, ok := m.code.find(addr); ok {
		return s.addr, s.name
	}
	return 0, ""
}

// call is a call instruction: the address after it.
type call struct {
	after uint64
	jump  bool
}

// callsTo looks through the module's code for calls of functions with one of the names,
// imported or its own, and of those that begin at one of the addresses in wanted, to which
// it adds.
func (m *module) callsTo(names []string, wanted map[uint64]bool) []call {
	if m.err != nil {
		return nil // the file is not the one that runs
	}
	f, err := regular.OpenELF(m.Path)
	if err != nil || f.Machine != elf.EM_X86_64 {
		return nil
	}
	defer f.Close()
	for i := range m.code {
		if s := &m.code[i]; slices.Contains(names, s.name) {
			wanted[s.addr] = true
		}
	}
	slots := importSlots(f.File, names)
	if len(slots) == 0 && len(wanted) == 0 {
		return nil
	}
	var code []elfBytes
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR == 0 || s.Type == elf.SHT_NOBITS {
			continue
		}
		b, err := s.Data()
		if err != nil {
			continue
		}
		part := elfBytes{s.Addr, b}
		if strings.HasPrefix(s.Name, ".plt") || strings.HasPrefix(s.Name, ".iplt") {
			part.stubs(slots, wanted)
			continue
		}
		code = append(code, part)
	}
	var out []call
	for _, part := range code {
		out = part.calls(slots, wanted, out)
	}
	return out
}

// elfBytes are bytes at an address of a file.
type elfBytes struct {
	addr uint64
	b    []byte
}

// target is what the 32-bit displacement at b[i] leads to, counted from the byte after it.
func (p elfBytes) target(i int) uint64 {
	return p.addr + uint64(i) + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(p.b[i:]))))
}

// stubs adds the entries of a procedure linkage table that jump to what is in one of slots.
// An entry begins with the jump, or with endbr64 or a bnd prefix before it.
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

// calls finds call and jmp to wanted addresses, and through wanted slots. Four bytes that
// are not a displacement but look like exactly one of these would be a great coincidence.
func (p elfBytes) calls(slots, wanted map[uint64]bool, out []call) []call {
	for i := 0; i+5 <= len(p.b); i++ {
		switch p.b[i] {
		case 0xe8, 0xe9: // call, jmp
			if wanted[p.target(i+1)] {
				out = append(out, call{p.addr + uint64(i) + 5, p.b[i] == 0xe9})
			}
		case 0xff: // call or jmp through memory
			if i+6 <= len(p.b) && (p.b[i+1] == 0x15 || p.b[i+1] == 0x25) && slots[p.target(i+2)] {
				out = append(out, call{p.addr + uint64(i) + 6, p.b[i+1] == 0x25})
			}
		}
	}
	return out
}

// importSlots are the addresses of the global offset table that the loader fills with the
// functions names.
func importSlots(f *elf.File, names []string) map[uint64]bool {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil
	}
	slots := map[uint64]bool{}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		b, err := s.Data()
		if err != nil {
			continue
		}
		for ; len(b) >= 24; b = b[24:] {
			slot, info := f.ByteOrder.Uint64(b), f.ByteOrder.Uint64(b[8:])
			switch elf.R_X86_64(info & 0xffffffff) {
			case elf.R_X86_64_JMP_SLOT, elf.R_X86_64_GLOB_DAT:
				if n := int(info >> 32); n >= 1 && n <= len(symbols) && slices.Contains(names, symbols[n-1].Name) {
					slots[slot] = true
				}
			}
		}
	}
	return slots
}
