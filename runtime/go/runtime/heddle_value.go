//go:build heddle

// Values of plain accesses. The compiler's hooks have an address, and for structures and arrays a size. What is
// there, and how long it is, follows from the type that the memory was allocated with (hdAllocations), so
// accesses of objects from before the execution, and of package-level variables, have no values.
package runtime

import (
	"internal/abi"
	"unsafe"
)

// hdUnsettled is the recorded write that the program has not performed yet: the hook comes before it.
// The next event is recorded after it, because one goroutine runs at a time.
var hdUnsettled struct {
	event uintptr // *hdEvent in hdEv.block, 0 for none; where it is set there must be no write barriers
	at    uintptr
	typ   uintptr // *_type
}

// hdValue adds the value to event e of access p, or, if p writes, arranges that hdSettleValue does.
func hdValue(e *hdEvent, p *hdPend) {
	typ := hdTypeAt(p.obj, uintptr(p.size), p.op == hdOpReadRange || p.op == hdOpWriteRange)
	if typ == nil {
		return
	}
	if p.op == hdOpWrite || p.op == hdOpWriteRange {
		hdUnsettled.event, hdUnsettled.at, hdUnsettled.typ = uintptr(unsafe.Pointer(e)), p.obj, uintptr(unsafe.Pointer(typ))
		return
	}
	hdReadValue(e, p.obj, typ)
}

// hdSettleValue adds the value of the last write to its event.
func hdSettleValue() {
	if e := (*hdEvent)(unsafe.Pointer(hdUnsettled.event)); e != nil {
		hdUnsettled.event = 0
		hdReadValue(e, hdUnsettled.at, (*_type)(unsafe.Pointer(hdUnsettled.typ)))
	}
}

// hdReadValue adds the value at addr to event e, if it does not depend on addresses or heddle can name the
// place that it points to. typ is what hdTypeAt returned.
func hdReadValue(e *hdEvent, addr uintptr, typ *_type) {
	p := unsafe.Pointer(addr)
	if e.Op == hdOpReadRange || e.Op == hdOpWriteRange {
		e.Value = hdContents(addr, uintptr(e.Size))
		e.Flags |= hdEvValue
		return
	}
	switch hdKindOf(typ) {
	case abi.Bool, abi.Int8, abi.Uint8:
		e.Value = uint64(*(*uint8)(p))
	case abi.Int16, abi.Uint16:
		e.Value = uint64(*(*uint16)(p))
	case abi.Int32, abi.Uint32, abi.Float32:
		e.Value = uint64(*(*uint32)(p))
	case abi.Int, abi.Uint, abi.Int64, abi.Uint64, abi.Float64:
		e.Value = *(*uint64)(p)
	case abi.Pointer, abi.UnsafePointer, abi.Map, abi.Chan, abi.Func:
		name, known := hdPlace(*(*uintptr)(p))
		if !known {
			return
		}
		if e.Value = name; name != 0 {
			e.Flags |= hdEvPointer
		}
	case abi.String, abi.Slice: // where the elements are, and how many
		name, known := hdPlace(*(*uintptr)(p))
		if !known {
			return
		}
		if e.Value = name; name != 0 {
			e.Flags |= hdEvPointer
		}
		e.Aux = *(*uint64)(add(p, 8))
	default:
		return
	}
	e.Size = uint32(typ.Size_)
	e.Flags |= hdEvValue
}

// hdPlace returns the name of the place at addr, 0 for nil. It does not know objects from before the
// execution: their numbers depend on the schedule.
func hdPlace(addr uintptr) (name uint64, known bool) {
	if addr == 0 {
		return 0, true
	}
	for md := &firstmoduledata; md != nil; md = md.next {
		if addr >= md.text && addr < md.end {
			return uint64(addr), true
		}
	}
	block := hdBlockOf(addr)
	if block == 0 {
		return 0, false
	}
	if a := hdTypeSlot(block); a == nil || a.epoch != uint32(hdEv.epoch) || a.block != block || hdCached((*_type)(unsafe.Pointer(a.typ))) {
		return 0, false
	}
	name = hdObject(addr)
	return name, name != hdNameless
}

// hdContents returns the bytes at addr, or a hash if they are more than 8.
func hdContents(addr, size uintptr) uint64 {
	h, wide := uint64(0), size > 8
	if wide {
		h = uint64(size)
	}
	for i := uintptr(0); i < size; i += 8 {
		w := uint64(0)
		for j := uintptr(0); j < min(8, size-i); j++ {
			w |= uint64(*(*uint8)(unsafe.Pointer(addr + i + j))) << (8 * j)
		}
		if !wide {
			return w
		}
		h = hdMix(h, w)
	}
	return h | 1 // 0 would mean that the contents are unknown
}

// hdTypeAt returns the type of the variable at addr that is neither structure nor array. Of a range of size
// bytes it returns the type with which the memory was allocated. It returns nil if the type is unknown, or
// a range may contain pointers.
func hdTypeAt(addr, size uintptr, ranged bool) *_type {
	block := hdBlockOf(addr)
	if block == 0 {
		return nil
	}
	a := hdTypeSlot(block)
	if a == nil || a.epoch != uint32(hdEv.epoch) || a.block != block || a.typ == 0 || a.channel || addr < a.at || addr >= a.at+a.size {
		return nil
	}
	if ranged {
		if typ := (*_type)(unsafe.Pointer(a.typ)); typ.PtrBytes == 0 && addr+size <= a.at+a.size {
			return typ
		}
		return nil
	}
	typ, off := (*_type)(unsafe.Pointer(a.typ)), addr-a.at
	for typ.Size_ > 0 {
		off %= typ.Size_
		switch hdKindOf(typ) {
		case abi.Array:
			typ = (*abi.ArrayType)(unsafe.Pointer(typ)).Elem
		case abi.Struct:
			var in *_type
			for _, f := range (*abi.StructType)(unsafe.Pointer(typ)).Fields {
				if off >= f.Offset && off < f.Offset+f.Typ.Size_ {
					in, off = f.Typ, off-f.Offset
					break
				}
			}
			if in == nil {
				return nil // padding
			}
			typ = in
		default:
			if off != 0 {
				return nil // inside a string, slice or interface, or memory of another type
			}
			return typ
		}
	}
	return nil
}

// hdKindOf returns t's kind; the field differs between releases.
func hdKindOf(t *_type) abi.Kind { return abi.Kind(t.Kind_) & (1<<5 - 1) }
