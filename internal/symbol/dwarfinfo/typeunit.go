package dwarfinfo

import (
	"debug/dwarf"
	"encoding/binary"
	"maps"
	"slices"
)

// Kinds of units, DW_UT_*, that matter here. Up to DWARF 4 a unit has no kind.
const (
	unitType         = 2
	unitSkeleton     = 4
	unitSplitCompile = 5
	unitSplitType    = 6
)

// unitHeader is what the reader of package dwarf keeps to itself.
type unitHeader struct {
	version int
	kind    byte
	id      uint64       // of a skeleton and a split unit; the signature of a type unit
	entry   dwarf.Offset // the unit's first entry
	typ     dwarf.Offset // of a type unit: the type's entry
}

// unitHeaders reads the headers of .debug_info, up to the first that is damaged. DWARF of
// 64 bits is not made by any compiler for programs that heddle runs.
func unitHeaders(info []byte) (out []unitHeader) {
	for base := uint64(0); base+11 <= uint64(len(info)); {
		b := info[base:]
		length := uint64(binary.LittleEndian.Uint32(b)) + 4
		if length > uint64(len(b)) || length < 11 {
			break
		}
		h := unitHeader{version: int(binary.LittleEndian.Uint16(b[4:])), entry: dwarf.Offset(base + 11)}
		if h.version >= 5 {
			h.kind, h.entry = b[6], dwarf.Offset(base+12)
			switch {
			case (h.kind == unitSkeleton || h.kind == unitSplitCompile) && length >= 20:
				h.id, h.entry = binary.LittleEndian.Uint64(b[12:]), dwarf.Offset(base+20)
			case (h.kind == unitType || h.kind == unitSplitType) && length >= 24:
				h.id, h.entry = binary.LittleEndian.Uint64(b[12:]), dwarf.Offset(base+24)
				h.typ = dwarf.Offset(base + uint64(binary.LittleEndian.Uint32(b[20:])))
			}
		}
		out = append(out, h)
		base += length
	}
	return out
}

// typeSignatures are the types that headers have, by signature.
func typeSignatures(headers []unitHeader) map[uint64]dwarf.Offset {
	out := map[uint64]dwarf.Offset{}
	for _, h := range headers {
		if h.typ != 0 {
			out[h.id] = h.typ
		}
	}
	return out
}

// typesInfo is the debug information in a .debug_types section of DWARF 4, whose types it
// gives d's root. The header of a type unit begins like any other; the signature and the
// type's place follow where otherwise the first entry is, so entries are only read from the
// places that the headers name.
func typesInfo(d *Info, abbrev, types, str []byte) (*Info, error) {
	data, err := dwarf.New(abbrev, nil, nil, types, nil, nil, nil, str)
	if err != nil {
		return nil, err
	}
	td := newDebug(d.im, data, d.inext)
	td.root = d.top()
	for base := uint64(0); base+23 <= uint64(len(types)); {
		b := types[base:]
		length := uint64(binary.LittleEndian.Uint32(b)) + 4
		if length > uint64(len(b)) || length < 23 {
			break
		}
		d.top().addSignature(binary.LittleEndian.Uint64(b[11:]), dieRef{td, dwarf.Offset(base + uint64(binary.LittleEndian.Uint32(b[19:])))})
		base += length
	}
	return td, nil
}

// top is the debug information of the whole module that d is a part of.
func (d *Info) top() *Info {
	if d.root != nil {
		return d.root
	}
	return d
}

// addSignature notes where a type is. All units with a signature hold the same type.
func (d *Info) addSignature(sig uint64, at dieRef) {
	if _, ok := d.signatures[sig]; !ok {
		d.signatures[sig] = at
	}
}

// signature returns the type with a signature, if it is available.
func (d *Info) signature(sig uint64) (dieRef, bool) {
	root := d.top()
	r, ok := root.signatures[sig]
	if ok {
		return r, true
	}
	if part, found := root.pack().typeUnit(sig); found {
		if part.types == nil {
			root.splitInfo(part, &unit{d: root})
		} else if td, err := typesInfo(root, gnuForms(part.abbrev), part.types, part.str); err == nil {
			td.data.AddSection(".debug_str_offsets", part.strOffsets)
		}
		r, ok = root.signatures[sig]
	}
	return r, ok
}

// typeClasses notes the names of the complete classes in type units, whose namespaces are not
// looked for: two of one name are none.
func (d *Info) typeClasses() {
	if p := d.pack(); p != nil && p.types != nil {
		for sig := range p.types.rows {
			d.signature(sig)
		}
	}
	twice := map[string]bool{}
	for _, sig := range slices.Sorted(maps.Keys(d.signatures)) {
		at := d.signatures[sig]
		e := at.entry()
		if e == nil || e.Val(dwarf.AttrByteSize) == nil {
			continue
		}
		name := at.d.text(e, dwarf.AttrName)
		if known, ok := d.classes[name]; ok && known != at {
			twice[name] = true
		}
		d.classes[name] = at
	}
	for name := range twice {
		delete(d.classes, name)
	}
}
