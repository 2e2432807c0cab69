package elffile

import (
	"debug/elf"
	"iter"

	"github.com/heddle-dev/heddle/internal/regular"
)

// Code returns the sections of a file that have instructions, with their contents. It leaves out those that cannot be read.
func Code(f *elf.File) iter.Seq2[*elf.Section, []byte] {
	return func(yield func(*elf.Section, []byte) bool) {
		for _, s := range f.Sections {
			if !hasCode(s) {
				continue
			}
			if b, err := s.Data(); err == nil && !yield(s, b) {
				return
			}
		}
	}
}

func hasCode(s *elf.Section) bool { return s.Flags&elf.SHF_EXECINSTR != 0 && s.Type != elf.SHT_NOBITS }

// CodeAt returns up to size bytes of the instructions at addr in the file at path, or nil if it cannot be read.
func CodeAt(path string, addr uint64, size int) []byte {
	f, err := regular.OpenELF(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	for _, s := range f.Sections {
		if hasCode(s) && addr >= s.Addr && addr-s.Addr < s.Size {
			b := make([]byte, min(uint64(size), s.Size-(addr-s.Addr)))
			if _, err := s.ReadAt(b, int64(addr-s.Addr)); err == nil {
				return b
			}
		}
	}
	return nil
}
