package symbol

import (
	"bytes"
	"crypto/sha256"
	"debug/dwarf"
	"debug/elf"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"

	"github.com/heddle-dev/heddle/internal/regular"
)

// image is what is kept of one ELF file. The file itself is closed again.
type image struct {
	path    string
	buildID string // hex, empty if it has none
	text    [][2]uint64
	link    string // .gnu_debuglink: file name of the separate debug file
	linkCRC uint32
	altLink string // .gnu_debugaltlink: file shared by dwz
	altID   string
	symbols []elf.Symbol
	pclntab *goTable // of a Go program, nil otherwise
	dwarf   *dwarf.Data
	addr    []byte // .debug_addr, for locations by index
	str     []byte // .debug_str, for files that share this one
	ranges  []byte // .debug_ranges, for split units
	types   []byte // .debug_types, and for it
	abbrev  []byte // .debug_abbrev
	// What the headers of .debug_info say: ids of skeletons by their entry, and types by
	// signature.
	unitIDs    map[dwarf.Offset]uint64
	signatures map[uint64]dwarf.Offset
	// dwarfErr says why dwarf is nil though the file has debug sections.
	dwarfErr error
}

// errNotELF is returned for files that hold no ELF image at all.
var errNotELF = errors.New("not an ELF file")

// readImage reads path. Damaged debug information is not an error: the symbol tables may
// still do.
func readImage(path string) (*image, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, err := elf.NewFile(f)
	if err != nil {
		var format *elf.FormatError
		if errors.As(err, &format) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errNotELF
		}
		return nil, err
	}
	im := &image{path: path, buildID: noteBuildID(e)}
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			im.text = append(im.text, [2]uint64{p.Vaddr, p.Vaddr + p.Memsz})
		}
	}
	if b := sectionBytes(e, ".gnu_debuglink"); b != nil {
		// Name, zero, padding to four bytes, checksum.
		if n := bytes.IndexByte(b, 0); n > 0 && len(b) >= (n+4)&^3+4 {
			im.link = string(b[:n])
			im.linkCRC = e.ByteOrder.Uint32(b[(n+4)&^3:])
		}
	}
	if b := sectionBytes(e, ".gnu_debugaltlink"); b != nil {
		if n := bytes.IndexByte(b, 0); n > 0 {
			im.altLink, im.altID = string(b[:n]), hex.EncodeToString(b[n+1:])
		}
	}
	im.symbols, _ = e.Symbols()
	if dyn, err := e.DynamicSymbols(); err == nil {
		im.symbols = append(im.symbols, dyn...)
	}
	im.pclntab = readGoTable(e)
	if hasDebugInfo(e) {
		im.dwarf, im.dwarfErr = e.DWARF()
		im.addr = sectionBytes(e, ".debug_addr")
		im.str = sectionBytes(e, ".debug_str")
		im.ranges = sectionBytes(e, ".debug_ranges")
		if im.types = sectionBytes(e, ".debug_types"); im.types != nil {
			im.abbrev = sectionBytes(e, ".debug_abbrev")
		}
		headers := unitHeaders(sectionBytes(e, ".debug_info"))
		im.signatures, im.unitIDs = typeSignatures(headers), map[dwarf.Offset]uint64{}
		for _, h := range headers {
			if h.kind == unitSkeleton {
				im.unitIDs[h.entry] = h.id
			}
		}
	}
	return im, nil
}

// hasDebugInfo reports whether the file itself carries DWARF. In a stripped file the
// section may still be listed, without contents.
func hasDebugInfo(e *elf.File) bool {
	for _, name := range []string{".debug_info", ".zdebug_info"} {
		if s := e.Section(name); s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0 {
			return true
		}
	}
	return false
}

func sectionBytes(e *elf.File, name string) []byte {
	s := e.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}

// noteBuildID is the GNU build id in hex, empty if the file has none.
func noteBuildID(e *elf.File) string {
	for _, s := range e.Sections {
		if s.Type == elf.SHT_NOTE {
			if b, err := s.Data(); err == nil {
				if id := gnuBuildID(b, e); id != "" {
					return id
				}
			}
		}
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_NOTE && p.Filesz < 1<<20 {
			b := make([]byte, p.Filesz)
			if _, err := p.ReadAt(b, 0); err == nil {
				if id := gnuBuildID(b, e); id != "" {
					return id
				}
			}
		}
	}
	return ""
}

// gnuBuildID looks through a note section for NT_GNU_BUILD_ID.
func gnuBuildID(b []byte, e *elf.File) string {
	const ntGNUBuildID = 3
	align := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
	for len(b) >= 12 {
		nameLen, descLen := e.ByteOrder.Uint32(b), e.ByteOrder.Uint32(b[4:])
		kind := e.ByteOrder.Uint32(b[8:])
		b = b[12:]
		if align(nameLen)+align(descLen) > uint64(len(b)) {
			return ""
		}
		if kind == ntGNUBuildID && string(b[:nameLen]) == "GNU\x00" {
			return hex.EncodeToString(b[align(nameLen) : align(nameLen)+uint64(descLen)])
		}
		b = b[align(nameLen)+align(descLen):]
	}
	return ""
}

// inText reports whether addr is in an executable segment. Ranges that are not belong to
// functions that the linker dropped.
func (im *image) inText(addr uint64) bool {
	for _, r := range im.text {
		if r[0] <= addr && addr < r[1] {
			return true
		}
	}
	return false
}

func fileSHA256(path string) (string, error) {
	h := sha256.New()
	if err := readInto(h, path); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func fileCRC32(path string) (uint32, error) {
	h := crc32.NewIEEE()
	if err := readInto(h, path); err != nil {
		return 0, err
	}
	return h.Sum32(), nil
}

func readInto(w io.Writer, path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
