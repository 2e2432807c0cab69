//go:build heddle

// Types of objects on the heap. An access has only an address, but memory is allocated with its
// type. While an execution is recorded the types are stored by the memory's address, and each is
// sent before the first event on its object.
package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

const (
	hdTypeSlots  = 1 << 16
	hdTypeProbes = 32
	hdTypeName   = 200 // longest name in bytes: unnamed structures have all their fields in it
)

type hdAllocation struct {
	block   uintptr // of the allocator's
	at      uintptr // where the requested memory begins
	size    uintptr
	typ     uintptr // *_type, 0 if unknown
	pc      uintptr
	epoch   uint32
	told    uint32 // the object's number when the type was last sent
	channel bool
}

type hdAllocationTable struct {
	_     sys.NotInHeap
	slots [hdTypeSlots]hdAllocation
}

var hdAllocations *hdAllocationTable

// hdTypeSlot returns the slot for the type of a block's object, nil if the table is full.
func hdTypeSlot(block uintptr) *hdAllocation {
	if hdAllocations == nil {
		p, err := mmap(nil, unsafe.Sizeof(*hdAllocations), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
		if err != 0 {
			return nil
		}
		hdAllocations = (*hdAllocationTable)(p)
	}
	i, step := uint64(block>>4), uint64(0)
	for range hdTypeProbes {
		if a := &hdAllocations.slots[i%hdTypeSlots]; a.epoch != uint32(hdEv.epoch) || a.block == block {
			return a
		}
		i, step = hdNextSlot(i, step, block)
	}
	return nil
}

// hdBlockOf returns the allocator's block that contains p, 0 if p is not on the heap.
func hdBlockOf(p uintptr) uintptr {
	span := spanOfHeap(p)
	if span == nil {
		return 0
	}
	return span.base() + span.objIndex(p)*span.elemsize
}

// hdMade is called when size bytes for values of typ, nil if unknown, have been allocated at p.
//
//go:noinline
func hdMade(p unsafe.Pointer, size uintptr, typ *_type) {
	if !hd.active || hd.warm {
		return
	}
	pc, fp := uintptr(0), uintptr(0)
	if gp := getg(); gp == gp.m.curg {
		pc, fp = sys.GetCallerPC(), hdDepth(getcallerfp())
	}
	systemstack(func() {
		block := hdBlockOf(uintptr(p))
		a := hdTypeSlot(block)
		if block == 0 || a == nil {
			return
		}
		*a = hdAllocation{block: block, at: uintptr(p), size: size, typ: hdLasting(typ), epoch: uint32(hdEv.epoch)}
		if pc != 0 {
			a.pc = hdWhere(pc, fp, hdSkipLibrary)
			if hd.values && hd.accesses && !hdCached(typ) {
				hdRecordAllocation(uintptr(p), size, a.pc)
			}
		}
	})
}

// hdRecordAllocation records an allocation of the running goroutine, which names the object by it. The
// number of the object is given here, and not when it is first used.
func hdRecordAllocation(p, size, pc uintptr) {
	t := hdThreadOf(getg().m.curg)
	if t == nil || t.finalizes || !hdProfiles() {
		return
	}
	hdRecord(t, &hdPend{op: hdOpMalloc, pc: pc, obj: p, size: uint32(size), value: uint64(size) >> 32}, hdEvNodecision)
}

// hdCached reports whether the runtime caches values of typ: whether one is allocated depends on how
// many goroutines waited before, and so on the schedule.
func hdCached(typ *_type) bool {
	if typ == nil {
		return false
	}
	switch toRType(typ).string() {
	case "runtime.sudog", "runtime._defer", "runtime.g", "runtime.timers":
		return true
	}
	return false
}

// hdLasting returns the address of typ if its descriptor is part of the program, 0 otherwise: other
// descriptors are garbage-collected.
func hdLasting(typ *_type) uintptr {
	for md := &firstmoduledata; md != nil; md = md.next {
		if at := uintptr(unsafe.Pointer(typ)); at >= md.types && at < md.etypes {
			return at
		}
	}
	return 0
}

// hdMadeOf records more about the memory just allocated at p: that it is an array of elements, or a
// channel of the type.
func hdMadeOf(p unsafe.Pointer, typ *_type, channel bool) {
	if !hd.active || hd.warm {
		return
	}
	systemstack(func() {
		a := hdTypeSlot(hdBlockOf(uintptr(p)))
		if a == nil || a.epoch != uint32(hdEv.epoch) || a.at != uintptr(p) {
			return
		}
		a.typ, a.channel = hdLasting(typ), channel
	})
}

// hdTyped sends the type of an object in block, unless it has been sent. It returns the object.
func hdTyped(block uintptr, object uint64) uint64 {
	if !hd.record || hd.warm || hdAllocations == nil {
		return object
	}
	number := uint32(object >> hdHeapOffsetBits & (1<<(hdOffsetBits-hdHeapOffsetBits) - 1))
	a := hdTypeSlot(block)
	if number == 0 || a == nil || a.epoch != uint32(hdEv.epoch) || a.typ == 0 || a.told == number || a.at-block >= 1<<hdHeapOffsetBits {
		return object
	}
	a.told = number
	typ := (*_type)(unsafe.Pointer(a.typ))
	rec := hdType{
		Object: object>>hdHeapOffsetBits<<hdHeapOffsetBits | uint64(a.at-block), Size: uint64(a.size),
		Type: uint64(a.typ), Pc: uint64(a.pc), Unit: uint64(typ.Size_),
	}
	if a.channel {
		rec.Flags = hdTypeChannel
	}
	var name [hdTypeName + 1]byte // terminated by a zero byte
	n := copy(name[:hdTypeName], toRType(typ).string())
	hdOut2(hdRecType, unsafe.Pointer(&rec), hdSizeofType, unsafe.Pointer(&name), uintptr(n)+1)
	return object
}
