package dwarfinfo

import (
	"debug/dwarf"
	"debug/elf"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// Sections is the debug information of one file as it was read.
type Sections struct {
	Data *dwarf.Data // nil if the file has none, or if it cannot be read
	Err  error       // why Data is nil though the file has debug sections

	path   string
	addr   []byte // .debug_addr, for locations by index
	str    []byte // .debug_str, for files that share this one
	ranges []byte // .debug_ranges, for split units
	types  []byte // .debug_types, and for it
	abbrev []byte // .debug_abbrev
	// .debug_loc and .debug_loclists, for variables that are not always at one place.
	loc, loclists []byte
	// What the headers of .debug_info say: versions and ids of skeletons by their entry, and types by
	// signature.
	versions   map[dwarf.Offset]int
	unitIDs    map[dwarf.Offset]uint64
	signatures map[uint64]dwarf.Offset
}

// ReadSections reads the debug sections of e, the file at path.
func ReadSections(path string, e *elf.File) *Sections {
	s := &Sections{path: path}
	if !present(e) {
		return s
	}
	s.Data, s.Err = e.DWARF()
	s.addr = elffile.Section(e, ".debug_addr")
	s.str = elffile.Section(e, ".debug_str")
	s.ranges = elffile.Section(e, ".debug_ranges")
	if s.types = elffile.Section(e, ".debug_types"); s.types != nil {
		s.abbrev = elffile.Section(e, ".debug_abbrev")
	}
	headers := unitHeaders(elffile.Section(e, ".debug_info"))
	s.loc, s.loclists = elffile.Section(e, ".debug_loc"), elffile.Section(e, ".debug_loclists")
	s.signatures, s.unitIDs, s.versions = typeSignatures(headers), map[dwarf.Offset]uint64{}, map[dwarf.Offset]int{}
	for _, h := range headers {
		s.versions[h.entry] = h.version
		if h.kind == unitSkeleton {
			s.unitIDs[h.entry] = h.id
		}
	}
	return s
}

// present reports whether the file itself carries DWARF. In a stripped file the
// section may still be listed, without contents.
func present(e *elf.File) bool {
	for _, name := range []string{".debug_info", ".zdebug_info"} {
		if s := e.Section(name); s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0 {
			return true
		}
	}
	return false
}
