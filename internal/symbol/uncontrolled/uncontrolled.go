// Package uncontrolled finds in a program's files what heddle does not control, so that no search of the program is
// complete: instructions whose results differ from execution to execution, and functions of libc with state that
// heddle does not know.
package uncontrolled

import (
	"bytes"
	"debug/elf"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// opcode is the beginning of an instruction, without its prefixes.
type opcode struct {
	name  string
	bytes string
	// field is the value of bits 3 to 5 of the next byte, whose bits 6 and 7 are set; -1: the bytes are all.
	field int
}

var opcodes = []opcode{
	{"rdtsc", "\x0f\x31", -1},
	{"rdtscp", "\x0f\x01\xf9", -1},
	{"rdpmc", "\x0f\x33", -1},
	{"rdrand", "\x0f\xc7", 6},
	{"rdseed", "\x0f\xc7", 7}, // with the prefix f3 it is rdpid
}

// Instructions returns the names of the instructions in the code of f that read the processor's counters or random
// numbers. code lists the file's functions. It may return one that only looks like an instruction, where the
// code before it cannot be decoded.
func Instructions(f *elf.File, code elffile.Symtab) (names []string) {
	if f.Machine != elf.EM_X86_64 {
		return nil
	}
	for s, b := range elffile.Code(f) {
		for i := range opcodes {
			if !slices.Contains(names, opcodes[i].name) && opcodes[i].in(b, s.Addr, code) {
				names = append(names, opcodes[i].name)
			}
		}
	}
	return names
}

// in reports whether b, which is at addr, contains the instruction.
func (o *opcode) in(b []byte, addr uint64, code elffile.Symtab) bool {
	for at := 0; ; at++ {
		i := bytes.Index(b[at:], []byte(o.bytes))
		if i < 0 {
			return false
		}
		at += i
		next := at + len(o.bytes)
		if o.field >= 0 && (next >= len(b) || b[next]>>6 != 3 || int(b[next]>>3&7) != o.field) {
			continue
		}
		from := 0
		if f, ok := code.Find(addr + uint64(at)); ok && f.Addr >= addr {
			from = int(f.Addr - addr)
		}
		if begins(b[from:], at-from) {
			return true
		}
	}
}

// settles is the number of bytes after which decoding is in step again, if it was not.
const settles = 64

// begins reports whether an instruction of b begins at the byte at, apart from its prefixes, or may do so.
func begins(b []byte, at int) bool {
	unknown := -settles
	for i := 0; i <= at; {
		inst, err := x86asm.Decode(b[i:], 64)
		if err != nil || inst.Len == 0 { // AVX, for instance, is not decoded
			unknown = i
			i++
			continue
		}
		if at < i+inst.Len {
			prefixes := 0
			for prefixes < inst.Len && isPrefix(b[i+prefixes]) {
				prefixes++
			}
			return i+prefixes == at || at-unknown < settles
		}
		i += inst.Len
	}
	return true
}

func isPrefix(c byte) bool {
	return c>>4 == 4 || slices.Contains([]byte{0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3}, c)
}

// libc reports whether a library is a part of libc.
func libc(library string) bool {
	name, _, _ := strings.Cut(library, ".so")
	switch name {
	case "libc", "libpthread", "librt", "libdl", "libutil", "libresolv", "libanl", "libcrypt", "libnsl":
		return true
	}
	return false
}

// Names returns the functions and variables of libc that f uses and of which it is not known that threads share
// no state in them. runtime are those that heddle's runtime defines.
func Names(f *elf.File, runtime map[string]bool) (names []string) {
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil // it uses no library
	}
	uses := map[string]bool{}
	for i := range symbols {
		// A variable of libc that the program accesses directly is copied, and so defined, in it.
		if s := &symbols[i]; s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) == elf.STT_OBJECT {
			uses[s.Name] = true
		}
	}
	for i := range symbols {
		s := &symbols[i]
		variable := elf.ST_TYPE(s.Info) == elf.STT_OBJECT
		switch {
		case s.Section != elf.SHN_UNDEF && !variable, runtime[s.Name], s.Name == "":
		case !libc(s.Library) && !(variable && strings.HasPrefix(s.Library, "libm.")): // lgamma sets a variable
		case variable && strings.HasPrefix(s.Name, "__") && uses[s.Name[2:]]: // another name for it
		case variables[s.Name], stateless[s.Name] && !variable:
		case settings[s.Name] != nil && !slices.ContainsFunc(settings[s.Name], func(setter string) bool { return uses[setter] }):
		default:
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
