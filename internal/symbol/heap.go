package symbol

import (
	"fmt"
	"maps"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/symbol/dwarfinfo"
	"github.com/heddle-dev/heddle/trace"
)

// heapTypes names the places in heap blocks of C and C++ by the static type of a pointer: of the variable
// that the allocation's result goes to, or of one in memory that the block's address is written to later.
// Where these disagree, or the block's size does not fit, places keep the block's name.
type heapTypes struct {
	blocks map[int]*blockType // by index into Trace.Allocs
	number map[string]int     // blocks that a variable pointed to
}

type blockType struct {
	typ      *Type
	variable string // a pointer to the block, empty if none is known
	kind     pointerKind
	elements bool // a block of several times the type's size is an array
	differ   bool
	made     bool  // by the type's constructor, so it is the type whatever the pointers are to
	at       int64 // where in the block the object of the type, or the first element, begins
	whole    int64 // the block's size if there is something else in it, or 0
}

// pointerKind orders the pointers to a block: a block is named by the greatest.
type pointerKind uint8

const (
	localPointer pointerKind = iota
	fieldPointer             // in another block
	globalPointer
)

// Pointer is a write of a block's address to a word of memory.
type Pointer struct {
	Word  trace.Object `json:"word"`
	Block trace.Object `json:"block"`
	Site  trace.Site   `json:"site"`
	Event int          `json:"event"` // that it is, or that follows it
}

// pointerAt returns the pointer that an event writes to memory.
func pointerAt(events []trace.Event, i int) (p Pointer, ok bool) {
	e := &events[i]
	ok = e.Flags&trace.FlagPointer != 0 && (e.Op == trace.OpWrite || e.Op == trace.OpAtomicStore)
	return Pointer{e.Object, trace.Object(e.Value), e.Site, i}, ok
}

// mostPointers bounds what Pointers returns.
const mostPointers = 2000

// Pointers returns the addresses of heap blocks that a C or C++ program writes to variables and other blocks, each once; nil if they are too
// many.
func Pointers(t *trace.Trace) (out []Pointer) {
	type place struct{ word, block trace.Object }
	seen := map[place]bool{}
	for i := range t.Events {
		p, ok := pointerAt(t.Events, i)
		if at := (place{p.Word, p.Block}); !ok || p.Block.Region() != trace.RegionHeap || p.Word.Region() != trace.RegionGlobal && p.Word.Region() != trace.RegionHeap || seen[at] {
			continue
		} else {
			seen[at] = true
		}
		if out = append(out, p); len(out) > mostPointers {
			return nil
		}
	}
	return out
}

// wrappers is the maximum number of functions around malloc that return untyped pointers.
const wrappers = 4

func (o *Objects) newHeapTypes() *heapTypes {
	h := &heapTypes{blocks: map[int]*blockType{}, number: map[string]int{}}
	arrays := o.t.arrays()
	for i := range o.allocs {
		if b := o.allocated(&o.allocs[i]); b != nil {
			b.elements = b.elements || arrays[o.allocs[i].Site]
			h.add(i, b)
		}
	}
	globals := map[trace.Object]Name{}
	points := func(p *Pointer) {
		block := o.Block(p.Block, p.Event)
		if block < 0 {
			return
		}
		if at := int64(p.Block) - int64(o.allocs[block].Object); at != 0 && (h.blocks[block] == nil || !h.blocks[block].elements || h.blocks[block].at != at) {
			return
		}
		var v Name
		kind := globalPointer
		switch p.Word.Region() {
		case trace.RegionGlobal:
			known := false
			if v, known = globals[p.Word]; !known {
				v = o.t.Global(p.Word.Index(), p.Word.Offset(), 8)
				globals[p.Word] = v
			}
		case trace.RegionHeap:
			kind = fieldPointer
			if in := o.Block(p.Word, p.Event); in >= 0 && h.blocks[in] != nil && h.blocks[in].kind == globalPointer {
				v, _ = h.name(&o.allocs[in], in, o.number(in), int64(p.Word-o.allocs[in].Object), 8)
			}
		}
		if v.Type != nil && v.Type.Kind == dwarfinfo.Pointer && !strings.Contains(v.Suffix, "+") {
			h.add(block, &blockType{typ: v.Type.Pointee(), variable: v.Text, kind: kind, elements: o.t.isC(p.Site) || arrays[o.allocs[block].Site]})
		}
	}
	for i := range o.events {
		if p, ok := pointerAt(o.events, i); ok {
			points(&p)
		}
	}
	named := maps.Clone(h.blocks) // by the writes that the trace has
	for i := range o.pointers {
		if p := &o.pointers[i]; named[o.Block(p.Block, p.Event)] == nil {
			points(p)
		}
	}
	if o.as != nil {
		there := o.as.newHeapTypes()
		for i := range o.allocs {
			if b := there.blocks[o.numbers[i]-1]; b != nil {
				h.blocks[i], h.number[b.variable] = b, there.number[b.variable]
			}
		}
	}
	return h
}

// add notes that a pointer to a block has a type.
func (h *heapTypes) add(block int, b *blockType) {
	if b.typ.Size <= 0 || b.typ.Kind == dwarfinfo.Scalar && b.typ.Size == 1 {
		return // a pointer to void or to characters may point to anything
	}
	if strings.HasSuffix(b.typ.Name, "_node_base") {
		return // what all nodes of the C++ library's containers begin with
	}
	known := h.blocks[block]
	if known == nil || known.variable != b.variable {
		h.number[b.variable]++
	}
	switch {
	case known == nil:
		h.blocks[block] = b
	case !same(known.typ, b.typ):
		known.differ = known.differ || !known.made
	case known.kind < b.kind:
		known.variable, known.kind = b.variable, b.kind
	case known.kind == b.kind && known.variable != b.variable:
		known.variable = "" // several variables point to the block
	}
}

// same reports whether two descriptions, perhaps of different compilation units, are of one type.
func same(a, b *Type) bool {
	return a == b || a.Name == b.Name && a.Scope == b.Scope && a.Size == b.Size && a.Kind == b.Kind
}

// allocated returns the type of the pointer that an allocation's result goes to, or nil if unknown.
func (o *Objects) allocated(a *trace.Alloc) *blockType {
	sites := []trace.Site{a.Site}
	if int(a.Stack) < len(o.stacks) {
		sites = append(sites, o.stacks[a.Stack]...)
	}
	for i, s := range sites[:min(len(sites), wrappers)] {
		found, wraps, ok := o.t.allocated(s)
		if !ok {
			found = dwarfinfo.Allocated{}
		}
		t := found.Type
		if t != nil && found.Whole > 0 {
			if found.Whole != int64(a.Size) {
				return nil
			}
			return &blockType{typ: t, at: found.At, whole: found.Whole}
		}
		if t == nil || t.Kind == dwarfinfo.Struct && t.Size != int64(a.Size) {
			if b := o.handed(found.Handed, a, s); b != nil {
				return b
			}
		}
		if t != nil && t.Size > 0 {
			if i > 0 && t.Size != int64(a.Size) && !(t.OpenEnded() && t.Size < int64(a.Size)) {
				return nil
			}
			return &blockType{typ: t, variable: found.Name, elements: found.Elements}
		}
		if !wraps && o.t.hasDebug(s) {
			return nil
		}
	}
	return nil
}

// handed returns the type that the functions agree on which a block is handed to. A constructor knows better than they do.
func (o *Objects) handed(to []dwarfinfo.Handed, a *trace.Alloc, s trace.Site) (b *blockType) {
	array, size := o.t.arrays()[s], int64(a.Size)
	for _, h := range to {
		unit := h.Type.Size
		if unit <= 0 || unit == 1 && h.Type.Kind == dwarfinfo.Scalar {
			continue
		}
		of := &blockType{typ: h.Type, at: h.At, made: h.Constructor, elements: array}
		fits := h.At == 0 && unit == size
		if array || !h.Constructor && o.t.isC(s) {
			of.elements = true
			fits = (h.At == 0 || h.At == cookie) && size > h.At && (size-h.At)%unit == 0
		}
		switch {
		case !fits:
		case of.made:
			return of
		case b == nil:
			b = of
		case !same(b.typ, of.typ):
			b.differ = true
		}
	}
	if b != nil && b.differ {
		return nil
	}
	return b
}

// cookie is how many bytes operator new[] puts before the first element to count those that have a destructor.
const cookie = 8

// name names size bytes at off in a block with a number. It reports false if no type is known that fits.
func (h *heapTypes) name(a *trace.Alloc, alloc, number int, off int64, size uint32) (n Name, ok bool) {
	b := h.blocks[alloc]
	if b == nil || b.differ {
		return n, false
	}
	if size == Block {
		size = 0
	}
	all, unit := int64(a.Size)-b.at, b.typ.Size
	element := ""
	off -= b.at
	switch {
	case off < 0:
		return n, false
	case b.whole > 0:
		if off >= unit {
			return n, false
		}
	case unit == all:
	case b.typ.OpenEnded() && unit < all:
	case b.typ.Kind == dwarfinfo.Struct && !b.elements, unit > all, all%unit != 0:
		return n, false
	default:
		i, last := off/unit, (off+int64(max(size, 1))-1)/unit
		if i != last {
			return n, false
		}
		element, off = fmt.Sprintf("[%d]", i), off%unit
	}
	in := b.typ.Locate(off, int64(size))
	path := in.String()
	if strings.HasPrefix(path, "+") {
		return n, false
	}
	if b.variable != "" && h.number[b.variable] == 1 {
		switch {
		case element != "":
			n = newName(b.variable, element+path)
		case path == "":
			n = newName("*"+b.variable, "")
		case path[0] == '.':
			n = newName(b.variable, "->"+path[1:])
		default:
			n = newName("(*"+b.variable+")", path)
		}
		n.Plain = n.Text
	} else {
		kind := b.typeName()
		if kind == "" {
			return n, false
		}
		n = newName(fmt.Sprintf("%s #%d", kind, number), element+path)
		n.Plain = kind + element + path
	}
	n.Type, n.Of = in.Leaf, in.OfName()
	return n, true
}

// typeName returns the name of the block's type, empty if it has none.
func (b *blockType) typeName() string {
	if b.typ.Name == "" {
		return ""
	}
	return cxxname.Short(b.typ.Scope + b.typ.Name)
}

// describe returns how the block as a whole is called: `*queue`, `node`, `int[]`.
func (h *heapTypes) describe(alloc int, size uint64) string {
	b := h.blocks[alloc]
	if b == nil || b.differ {
		return ""
	}
	array := ""
	size -= uint64(b.at)
	if uint64(b.typ.Size) < size && !b.typ.OpenEnded() && b.whole == 0 {
		if b.typ.Kind == dwarfinfo.Struct && !b.elements || size%uint64(b.typ.Size) != 0 {
			return ""
		}
		array = "[]"
	}
	if b.variable != "" && h.number[b.variable] == 1 {
		if array != "" {
			return b.variable + array
		}
		return "*" + b.variable
	}
	if kind := b.typeName(); kind != "" {
		return kind + array
	}
	return ""
}

// allocation is what Table.allocated returns.
type allocation struct {
	dwarfinfo.Allocated
	wraps, ok bool
}

// allocated is dwarfinfo.Info.Allocated for a return address. It caches the result, which takes a look into the file.
func (t *Table) allocated(s trace.Site) (a dwarfinfo.Allocated, wraps, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, known := t.allocations[s]
	if m := t.module(s.Module()); !known && m != nil && m.debug != nil && s.Offset() > 0 {
		found.Allocated, found.wraps, found.ok = m.debug.Allocated(s.Offset())
	}
	t.allocations[s] = found
	return found.Allocated, found.wraps, found.ok
}

// arrays returns the call sites of operator new[].
func (t *Table) arrays() map[trace.Site]bool {
	t.findArrays.Do(func() {
		t.newArrays = map[trace.Site]bool{}
		for _, c := range t.CallsTo([]string{"_Znam", "_ZnamRKSt9nothrow_t", "_ZnamSt11align_val_t"}, nil) {
			t.newArrays[c.Site] = true
		}
	})
	return t.newArrays
}

// isC reports whether the code at s is C.
func (t *Table) isC(s trace.Site) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.module(s.Module())
	return m != nil && m.debug != nil && m.debug.IsC(s.Offset())
}

// hasDebug reports whether s is in a module with debug information.
func (t *Table) hasDebug(s trace.Site) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.module(s.Module())
	return m != nil && m.debug != nil
}
