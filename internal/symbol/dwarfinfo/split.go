package dwarfinfo

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"path/filepath"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// Split DWARF: a compilation unit of the program is a skeleton that names a file (.dwo) with
// the rest, or the files of all units are gathered in one (.dwp). What is in there is read
// as debug information of its own; the line table, the addresses and, up to DWARF 4, the
// lists of ranges stay with the skeleton.

// Attributes of GNU's split DWARF 4; DWARF 5 has others.
const (
	attrGNUDwoName    dwarf.Attr = 0x2130
	attrGNUDwoID      dwarf.Attr = 0x2131
	attrGNURangesBase dwarf.Attr = 0x2132
	attrGNUAddrBase   dwarf.Attr = 0x2133
)

// skeleton is what the program holds of a unit that is in another file.
type skeleton struct {
	name       string // of the file, relative to the compilation directory
	id         uint64 // of the unit in there
	low        uint64 // what the unit's ranges are relative to
	rangesBase int64  // of lists in the program's .debug_ranges
	opened     bool
	whole      *unit // nil if the file is not available
}

// newSkeleton is nil for a unit that is whole.
func (u *unit) newSkeleton() *skeleton {
	e := u.entry
	s := &skeleton{}
	if s.name = u.d.text(e, dwarf.AttrDwoName); s.name != "" {
		s.id = u.d.im.unitIDs[e.Offset]
	} else if s.name = u.d.text(e, attrGNUDwoName); s.name != "" {
		id, _ := e.Val(attrGNUDwoID).(int64)
		s.id = uint64(id)
		s.rangesBase, _ = e.Val(attrGNURangesBase).(int64)
		u.addrBase, _ = e.Val(attrGNUAddrBase).(int64)
	} else {
		return nil
	}
	s.low, _ = e.Val(dwarf.AttrLowpc).(uint64)
	return s
}

// full is the complete unit: for a skeleton, the one in the other file.
func (u *unit) full() *unit {
	s := u.skeleton
	if s == nil {
		return u
	}
	if !s.opened {
		s.opened = true
		if whole, err := u.openSplit(); err != nil {
			u.d.missing = append(u.d.missing, err)
		} else {
			s.whole = whole
		}
	}
	if s.whole == nil {
		return u
	}
	return s.whole
}

// openSplit reads the rest of a skeleton.
func (u *unit) openSplit() (*unit, error) {
	s := u.skeleton
	part, ok := u.d.pack().unit(s.id)
	if !ok {
		path := s.name
		if !filepath.IsAbs(path) {
			path = filepath.Join(u.compDir, path)
		}
		f, err := readDwo(path)
		if errors.Is(err, fs.ErrNotExist) {
			// Moved together with the program.
			path = filepath.Join(filepath.Dir(u.d.im.path), filepath.Base(s.name))
			f, err = readDwo(path)
		}
		if err != nil {
			return nil, fmt.Errorf("no functions and variables of %s: %s cannot be read (%w); keep it, or put all such files into %s.dwp with dwp",
				u.name(), s.name, elffile.Plain(err), filepath.Base(u.d.im.path))
		}
		if part, ok = f.unit(s.id); !ok {
			return nil, u.otherBuild()
		}
	}
	d, err := u.d.splitInfo(part, u)
	if err != nil {
		return nil, fmt.Errorf("no functions and variables of %s: %s cannot be read (%w)", u.name(), s.name, err)
	}
	r := d.data.Reader()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			return nil, fmt.Errorf("no functions and variables of %s: %s has no compilation unit", u.name(), s.name)
		}
		id := part.id(e.Offset)
		if old, ok := e.Val(attrGNUDwoID).(int64); ok && part.version < 5 {
			id = uint64(old)
		}
		if e.Tag == dwarf.TagCompileUnit && id != s.id && part.version < 5 {
			return nil, u.otherBuild()
		}
		if e.Tag != dwarf.TagCompileUnit || id != s.id {
			r.SkipChildren()
			continue
		}
		w := &unit{d: d, entry: e, stub: u, compDir: u.compDir, addrBase: u.addrBase}
		w.lang, _ = e.Val(dwarf.AttrLanguage).(int64)
		d.units = []*unit{w}
		return w, nil
	}
}

func (u *unit) otherBuild() error {
	return fmt.Errorf("no functions and variables of %s: %s is of another build; build the program again", u.name(), u.skeleton.name)
}

// name is the unit's source file, for messages.
func (u *unit) name() string {
	if n := u.d.text(u.entry, dwarf.AttrName); n != "" {
		return n
	}
	return filepath.Base(u.skeleton.name)
}

// splitInfo is the debug information in part, which belongs to the skeleton stub.
func (d *Info) splitInfo(part *dwoPart, stub *unit) (*Info, error) {
	data, err := dwarf.New(gnuForms(part.abbrev), nil, nil, part.info, nil, nil, nil, part.str)
	if err != nil {
		return nil, err
	}
	addr := []byte{}
	if base := stub.addrBase; base >= 0 && base < int64(len(d.im.addr)) {
		addr = d.im.addr[base:]
	}
	data.AddSection(".debug_addr", addr)
	data.AddSection(".debug_str_offsets", part.strOffsets)
	data.AddSection(".debug_rnglists", part.rnglists)
	in := newDebug(d.im, data, d.inext)
	in.root, in.part = d, part
	for sig, off := range part.signatures() {
		d.addSignature(sig, dieRef{in, off})
	}
	if part.types != nil {
		if td, err := typesInfo(in, gnuForms(part.abbrev), part.types, part.str); err == nil {
			td.data.AddSection(".debug_str_offsets", part.strOffsets)
		}
	}
	return in, nil
}

// rangesOf is the code that e covers. Of an entry in a split unit the list, if there is one,
// is relative to what only the skeleton knows.
func (u *unit) rangesOf(e *dwarf.Entry) ([][2]uint64, error) {
	f := e.AttrField(dwarf.AttrRanges)
	if u.stub == nil || f == nil {
		return u.d.data.Ranges(e)
	}
	off, ok := f.Val.(int64)
	if v, isIndex := f.Val.(uint64); isIndex {
		off, ok = int64(v), true
	}
	if !ok || off < 0 {
		return nil, nil
	}
	s := u.stub.skeleton
	if u.d.part.version < 5 {
		return oldRanges(u.d.im.ranges, off+s.rangesBase, s.low), nil
	}
	return u.newRanges(u.d.part.rnglists, off, s.low), nil
}

// oldRanges reads a list of .debug_ranges.
func oldRanges(b []byte, off int64, base uint64) (out [][2]uint64) {
	if off < 0 || off > int64(len(b)) {
		return nil
	}
	for b = b[off:]; len(b) >= 16; b = b[16:] {
		lo, hi := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		switch {
		case lo == 0 && hi == 0:
			return out
		case lo == ^uint64(0):
			base = hi
		default:
			out = append(out, [2]uint64{base + lo, base + hi})
		}
	}
	return out
}

// newRanges reads a list of .debug_rnglists.
func (u *unit) newRanges(b []byte, off int64, base uint64) (out [][2]uint64) {
	if off > int64(len(b)) {
		return nil
	}
	r := listReader{u: u, b: b[off:]}
	for len(r.b) > 0 {
		kind := r.byte()
		if kind >= defaultLocation {
			kind++
		}
		if kind == endOfList || kind > startLength {
			return out
		}
		if lo, hi, ok := r.bounds(kind, &base); ok && r.b != nil {
			out = append(out, [2]uint64{lo, hi})
		}
	}
	return out
}

// gnuForms is an abbreviation table in which the forms of GNU's split DWARF 4 are those that
// DWARF 5 has for the same.
func gnuForms(abbrev []byte) []byte {
	out := bytes.Clone(abbrev)
	const formImplicitConst = 0x21
	at := 0
	number := func() uint64 {
		v, n := binary.Uvarint(out[min(at, len(out)):])
		if n <= 0 {
			at = len(out)
			return 0
		}
		at += n
		return v
	}
	for at < len(out) {
		if number() == 0 {
			continue // the end of a unit's table
		}
		number() // tag
		at++     // has children
		for at < len(out) {
			attr, from := number(), at
			form := number()
			if at-from == 2 && (form == 0x1f01 || form == 0x1f02) {
				out[from], out[from+1] = 0x80|byte(0x1b-(form-0x1f01)), 0 // addrx, strx
			}
			if form == formImplicitConst {
				number() // signed, but as long
			}
			if attr == 0 && form == 0 {
				break
			}
		}
	}
	return out
}

// dwo is a file with split units: one of them, or a whole package with indices.
type dwo struct {
	sections map[string][]byte
	units    *dwoIndex // of a package, nil otherwise
	types    *dwoIndex
}

// dwoPart is the part of one unit in such a file.
type dwoPart struct {
	version                                        int
	info, types, abbrev, str, strOffsets, rnglists []byte
	headers                                        []unitHeader // of info
}

// readDwo reads a .dwo or .dwp file.
func readDwo(path string) (*dwo, error) {
	e, err := regular.OpenELF(path)
	if err != nil {
		var format *elf.FormatError
		if errors.As(err, &format) {
			return nil, elffile.ErrNotELF
		}
		return nil, err
	}
	defer e.Close()
	f := &dwo{sections: map[string][]byte{}}
	for _, name := range []string{"info", "types", "abbrev", "str", "str_offsets", "rnglists"} {
		// No linker has put together the sections of a .dwo file: each type unit may have
		// its own.
		for _, s := range e.Sections {
			if s.Name == ".debug_"+name+".dwo" && s.Type != elf.SHT_NOBITS {
				if b, err := s.Data(); err == nil {
					f.sections[name] = append(f.sections[name], b...)
				}
			}
		}
	}
	f.units = readDwoIndex(elffile.Section(e.File, ".debug_cu_index"))
	f.types = readDwoIndex(elffile.Section(e.File, ".debug_tu_index"))
	if len(f.sections["info"]) == 0 {
		return nil, errors.New("it has no split debug information")
	}
	return f, nil
}

// unit is the part with the compilation unit id. f may be nil.
func (f *dwo) unit(id uint64) (*dwoPart, bool) {
	if f == nil {
		return nil, false
	}
	if f.units != nil {
		return f.packed(f.units, id)
	}
	p := newDwoPart(f.sections["info"], f.sections["types"], f.sections["abbrev"], f.sections["str"], f.sections["str_offsets"], f.sections["rnglists"])
	if p.version < 5 {
		return p, true // the id is in the entry, and the file has one unit
	}
	for _, h := range p.headers {
		if h.kind == unitSplitCompile && h.id == id {
			return p, true
		}
	}
	return nil, false
}

// typeUnit is the part with the type unit of a signature, of a package.
func (f *dwo) typeUnit(sig uint64) (*dwoPart, bool) {
	if f == nil || f.types == nil {
		return nil, false
	}
	return f.packed(f.types, sig)
}

func (f *dwo) packed(x *dwoIndex, id uint64) (*dwoPart, bool) {
	row, ok := x.rows[id]
	if !ok {
		return nil, false
	}
	cut := func(name string, columns ...uint32) []byte {
		for _, c := range columns {
			if r, ok := row[c]; ok {
				if b := f.sections[name]; uint64(r[0])+uint64(r[1]) <= uint64(len(b)) {
					return b[r[0] : r[0]+r[1]]
				}
			}
		}
		return nil
	}
	// Columns of an index, DW_SECT_*.
	const sectInfo, sectTypes, sectAbbrev, sectStrOffsets, sectRnglists = 1, 2, 3, 6, 8
	var types, rnglists []byte
	if x.version < 5 {
		types = cut("types", sectTypes)
	} else {
		rnglists = cut("rnglists", sectRnglists)
	}
	return newDwoPart(cut("info", sectInfo), types, cut("abbrev", sectAbbrev), f.sections["str"], cut("str_offsets", sectStrOffsets), rnglists), true
}

func newDwoPart(info, types, abbrev, str, strOffsets, rnglists []byte) *dwoPart {
	p := &dwoPart{info: info, types: types, abbrev: abbrev, str: str, strOffsets: strOffsets, rnglists: rnglists}
	p.headers = unitHeaders(info)
	if len(p.headers) > 0 {
		p.version = p.headers[0].version
	}
	if p.version >= 5 {
		// Indices count from the end of the tables' headers, which no attribute in the file records.
		p.strOffsets, p.rnglists = strOffsets[min(8, len(strOffsets)):], rnglists[min(12, len(rnglists)):]
	}
	return p
}

// id is that of the unit whose first entry is at off, 0 without.
func (p *dwoPart) id(off dwarf.Offset) uint64 {
	for _, h := range p.headers {
		if h.entry == off {
			return h.id
		}
	}
	return 0
}

// signatures are the types in the part's info section.
func (p *dwoPart) signatures() map[uint64]dwarf.Offset { return typeSignatures(p.headers) }

// dwoIndex locates the parts of a unit in a package's sections: by id, offset and
// size for each column.
type dwoIndex struct {
	version uint32
	rows    map[uint64]map[uint32][2]uint32
}

// readDwoIndex reads .debug_cu_index or .debug_tu_index, nil without a valid one.
func readDwoIndex(b []byte) *dwoIndex {
	if len(b) < 16 {
		return nil
	}
	word := func(i uint64) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
	version, columns, units, slots := word(0)&0xffff, uint64(word(4)), uint64(word(8)), uint64(word(12))
	hash, index := uint64(16), 16+8*slots
	names := index + 4*slots
	offsets := names + 4*columns
	sizes := offsets + 4*columns*units
	if bits.Len64(columns|units|slots) > 24 || sizes+4*columns*units > uint64(len(b)) {
		return nil
	}
	x := &dwoIndex{version, map[uint64]map[uint32][2]uint32{}}
	for s := range slots {
		row := uint64(word(index + 4*s))
		if row == 0 || row > units {
			continue
		}
		parts := map[uint32][2]uint32{}
		for c := range columns {
			at := 4 * ((row-1)*columns + c)
			parts[word(names+4*c)] = [2]uint32{word(offsets + at), word(sizes + at)}
		}
		x.rows[binary.LittleEndian.Uint64(b[hash+8*s:])] = parts
	}
	return x
}

// pack is the package beside the program, nil without one.
func (d *Info) pack() *dwo {
	if d.root != nil {
		return d.root.pack()
	}
	if !d.packOpened {
		d.packOpened = true
		for _, path := range []string{d.modulePath + ".dwp", d.im.path + ".dwp"} {
			if f, err := readDwo(path); err == nil && f.units != nil {
				d.packed = f
				break
			}
		}
	}
	return d.packed
}
