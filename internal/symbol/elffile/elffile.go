// Package elffile reads the identity, the debug links and the symbols of ELF files.
package elffile

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"

	"github.com/heddle-dev/heddle/internal/regular"
)

// File is the information kept about one ELF file, which is closed after reading.
type File struct {
	Path    string
	BuildID string // hex, empty if it has none
	Link    string // .gnu_debuglink: file name of the separate debug file
	LinkCRC uint32
	AltLink string // .gnu_debugaltlink: file shared by dwz
	AltID   string
	Symbols []elf.Symbol
	text    [][2]uint64
	// Constants are the sections of data that the program cannot write, and in which compilers put string literals; nil
	// for Go programs, whose strings do not end with a zero.
	Constants []Constants
}

// Constants is a section's data.
type Constants struct {
	Section string
	Addr    uint64
	Data    []byte
}

// mostConstants bounds the size of such a section.
const mostConstants = 16 << 20

// constants reads File.Constants.
func constants(e *elf.File) (out []Constants) {
	if e.Section(".gopclntab") != nil || e.Section(".data.rel.ro.gopclntab") != nil {
		return nil
	}
	for _, s := range e.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Flags&(elf.SHF_ALLOC|elf.SHF_WRITE|elf.SHF_EXECINSTR) == elf.SHF_ALLOC && strings.HasPrefix(s.Name, ".rodata") && s.Size <= mostConstants {
			if b, err := s.Data(); err == nil {
				out = append(out, Constants{s.Name, s.Addr, b})
			}
		}
	}
	return out
}

// Literal returns the string literal that an address of the section is in, without quotes, and the offset in it. A
// literal has at least four bytes, all of them printable, and ends with a zero.
func (c *Constants) Literal(addr uint64) (text string, off int, ok bool) {
	const least = 4
	at := int(addr - c.Addr)
	from, to := at, at
	for from > 0 && c.Data[from-1] != 0 {
		from--
	}
	for to < len(c.Data) && c.Data[to] != 0 {
		to++
	}
	if to == len(c.Data) || to-from < least {
		return "", 0, false
	}
	for _, b := range c.Data[from:to] {
		if (b < 0x20 || b > 0x7e) && b != '\n' && b != '\t' && b != '\r' {
			return "", 0, false
		}
	}
	return string(c.Data[from:to]), at - from, true
}

// ErrNotELF is returned for files that are not ELF images.
var ErrNotELF = errors.New("not an ELF file")

// Read reads path and calls visit, which can read more from the file. The error is ErrNotELF for a
// file of another kind.
func Read(path string, visit func(*elf.File)) (*File, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e, err := elf.NewFile(f)
	if err != nil {
		var format *elf.FormatError
		if errors.As(err, &format) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, ErrNotELF
		}
		return nil, err
	}
	im := &File{Path: path, BuildID: BuildID(e), Constants: constants(e)}
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			im.text = append(im.text, [2]uint64{p.Vaddr, p.Vaddr + p.Memsz})
		}
	}
	if b := Section(e, ".gnu_debuglink"); b != nil {
		// Name, zero, padding to four bytes, checksum.
		if n := bytes.IndexByte(b, 0); n > 0 && len(b) >= (n+4)&^3+4 {
			im.Link = string(b[:n])
			im.LinkCRC = e.ByteOrder.Uint32(b[(n+4)&^3:])
		}
	}
	if b := Section(e, ".gnu_debugaltlink"); b != nil {
		if n := bytes.IndexByte(b, 0); n > 0 {
			im.AltLink, im.AltID = string(b[:n]), hex.EncodeToString(b[n+1:])
		}
	}
	im.Symbols, _ = e.Symbols()
	if dyn, err := e.DynamicSymbols(); err == nil {
		im.Symbols = append(im.Symbols, dyn...)
	}
	visit(e)
	return im, nil
}

// Section returns the contents of a section, or nil if the file does not have it.
func Section(e *elf.File, name string) []byte {
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

// BuildID returns the GNU build id of a file in hex, or "". It is compared with that of a trace's
// module.
func BuildID(e *elf.File) string {
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

// gnuBuildID searches a note section for NT_GNU_BUILD_ID.
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

// InText reports whether addr is in an executable segment. Functions removed by the linker have
// address ranges outside of all of them.
func (im *File) InText(addr uint64) bool {
	for _, r := range im.text {
		if r[0] <= addr && addr < r[1] {
			return true
		}
	}
	return false
}

// SHA256 returns the hash of a file in hex.
func SHA256(path string) (string, error) {
	h := sha256.New()
	if err := readInto(h, path); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// CRC32 returns the checksum of a file in the form used by .gnu_debuglink.
func CRC32(path string) (uint32, error) {
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

// Plain removes the path from a file error, because the surrounding message names it.
func Plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
