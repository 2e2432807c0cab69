package dwarfinfo

import (
	"debug/dwarf"
	"encoding/binary"
)

// attrLoclistsBase is DW_AT_loclists_base.
const attrLoclistsBase dwarf.Attr = 0x8c

// located is a location that a variable has while the code in [lo, hi) runs.
type located struct {
	lo, hi uint64
	expr   []byte
}

// locationList reads the list of locations of e, which is empty if e has none or if the list cannot be read.
// Lists of split units are not read.
func (u *unit) locationList(e *dwarf.Entry) []located {
	f := e.AttrField(dwarf.AttrLocation)
	if f == nil || u.stub != nil || u.d.root != nil {
		return nil
	}
	low, _ := u.entry.Val(dwarf.AttrLowpc).(uint64)
	switch v := f.Val.(type) {
	case int64:
		if u.d.version(u.entry.Offset) < 5 {
			return oldLocations(u.d.im.loc, v, low)
		}
		return u.newLocations(v, low)
	case uint64: // an index into the unit's table of offsets
		base, ok := u.entry.Val(attrLoclistsBase).(int64)
		if !ok || v > 1<<40 || base < 0 || uint64(base)+4*v+4 > uint64(len(u.d.im.loclists)) {
			return nil
		}
		return u.newLocations(base+int64(binary.LittleEndian.Uint32(u.d.im.loclists[uint64(base)+4*v:])), low)
	}
	return nil
}

// version returns the DWARF version of the unit whose first entry is at off, or 0 if unknown.
func (d *Info) version(off dwarf.Offset) int { return d.im.versions[off] }

// oldLocations reads a list of .debug_loc.
func oldLocations(b []byte, off int64, base uint64) (out []located) {
	if off < 0 || off > int64(len(b)) {
		return nil
	}
	for b = b[off:]; len(b) >= 18; {
		lo, hi := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		switch {
		case lo == 0 && hi == 0:
			return out
		case lo == ^uint64(0):
			base, b = hi, b[16:]
			continue
		}
		n := int(binary.LittleEndian.Uint16(b[16:]))
		if b = b[18:]; n > len(b) {
			break
		}
		out = append(out, located{base + lo, base + hi, b[:n]})
		b = b[n:]
	}
	return nil
}

// newLocations reads a list of .debug_loclists.
func (u *unit) newLocations(off int64, base uint64) (out []located) {
	b := u.d.im.loclists
	if off < 0 || off > int64(len(b)) {
		return nil
	}
	r := listReader{u: u, b: b[off:]}
	for len(r.b) > 0 {
		kind := r.byte()
		switch {
		case kind == endOfList:
			return out
		case kind == viewPair:
			r.number()
			r.number()
			continue
		case kind > viewPair:
			return nil
		}
		lo, hi, ok := r.bounds(kind, &base)
		if !ok {
			continue
		}
		n := r.number()
		if n > uint64(len(r.b)) {
			break
		}
		out = append(out, located{lo, hi, r.b[:n]})
		r.b = r.b[n:]
	}
	return nil // it does not end: damaged
}

// Kinds of the entries of a list of locations, DW_LLE_*. Lists of ranges have the same, DW_RLE_*, without defaultLocation.
const (
	endOfList = iota
	baseAddressx
	startxEndx
	startxLength
	offsetPair
	defaultLocation
	baseAddress
	startEnd
	startLength
	viewPair // of GNU
)

// listReader reads the entries of a list of ranges or locations of DWARF 5. After damage it is empty.
type listReader struct {
	u *unit
	b []byte
}

// bounds reads the addresses between which an entry applies. It reports false for an entry that sets base instead.
func (r *listReader) bounds(kind byte, base *uint64) (lo, hi uint64, ok bool) {
	switch kind {
	case baseAddressx:
		*base = r.indexed()
		return 0, 0, false
	case baseAddress:
		*base = r.address()
		return 0, 0, false
	case startxEndx:
		return r.indexed(), r.indexed(), true
	case startxLength:
		lo = r.indexed()
		return lo, lo + r.number(), true
	case offsetPair:
		return *base + r.number(), *base + r.number(), true
	case startEnd:
		return r.address(), r.address(), true
	case startLength:
		lo = r.address()
		return lo, lo + r.number(), true
	}
	return 0, ^uint64(0), true // defaultLocation
}

func (r *listReader) byte() byte {
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *listReader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b = nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *listReader) address() uint64 {
	if len(r.b) < 8 {
		r.b = nil
		return 0
	}
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

// indexed reads an index into .debug_addr.
func (r *listReader) indexed() uint64 {
	at, base, addr := r.number(), r.u.addrBase, r.u.d.im.addr
	if at > 1<<40 || base < 0 || uint64(base)+8*at+8 > uint64(len(addr)) {
		r.b = nil
		return 0
	}
	return binary.LittleEndian.Uint64(addr[uint64(base)+8*at:])
}
