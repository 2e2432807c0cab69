package elffile

import (
	"debug/elf"
	"iter"
)

// Imports returns the addresses in a file's global offset table into which the loader stores addresses of functions and variables,
// each with the symbol's name. It leaves out what cannot be read.
func Imports(f *elf.File) iter.Seq2[uint64, string] {
	return func(yield func(slot uint64, name string) bool) {
		symbols, err := f.DynamicSymbols()
		if err != nil {
			return
		}
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
					if n := int(info >> 32); n >= 1 && n <= len(symbols) && !yield(slot, symbols[n-1].Name) {
						return
					}
				}
			}
		}
	}
}
