package elffile

import (
	"debug/elf"
	"iter"
)

// Code returns the sections of a file that have instructions, with their contents. It leaves out those that cannot be read.
func Code(f *elf.File) iter.Seq2[*elf.Section, []byte] {
	return func(yield func(*elf.Section, []byte) bool) {
		for _, s := range f.Sections {
			if s.Flags&elf.SHF_EXECINSTR == 0 || s.Type == elf.SHT_NOBITS {
				continue
			}
			if b, err := s.Data(); err == nil && !yield(s, b) {
				return
			}
		}
	}
}
