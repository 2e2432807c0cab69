package symbol

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
	"github.com/heddle-dev/heddle/trace"
)

// Name is the name of an object.
type Name struct {
	// Text is the short name: `queue.head`, `block #3+8`, `stack of T1 -0x40`, `lock.mdb+0x40`, `0x7f00`, and of a
	// heap object of Go `(*pool.Pool).mu`, `([]int)[3]`, the variable `f.n` that was moved to the
	// heap, or `#3+8` where its type is not known.
	Text string
	// Base is the variable or block that Text lies in: `queue`, `block #3`.
	Base string
	// Suffix is Text after Base.
	Suffix string
	// Detail is the origin of a block: `malloc at file.c:12, 24 bytes`. Empty for other objects.
	Detail string
	File   string // where a variable is declared or a block was allocated; may be empty
	Line   int
	Type   *Type  // type of the value there, or nil if unknown
	Of     string // type name of the object that Text names: `std::mutex`; may be empty
	Alloc  int    // index into Trace.Allocs, -1 if it is not a heap block
	// Plain is Text without the block's number, which means nothing in another trace. Empty for what is named by its
	// block alone, and for what lies outside of blocks.
	Plain string

	number int // of the block
}

// Full returns the name with its origin or type: `block #3 (malloc at file.c:12, 24 bytes)+8`,
// `std::mutex main::lock`.
func (n Name) Full() string {
	if n.Detail == "" && n.Of != "" {
		return n.Of + " " + n.Text
	}
	if n.Detail == "" {
		return n.Text
	}
	if n.Plain != "" {
		return fmt.Sprintf("%s in block #%d (%s)", n.Text, n.number, n.Detail)
	}
	return n.Base + " (" + n.Detail + ")" + n.Suffix
}

func newName(base, suffix string) Name {
	return Name{Text: base + suffix, Base: base, Suffix: suffix, Alloc: -1}
}

// Objects names the objects of one trace. It may be used by several goroutines at once.
type Objects struct {
	t        *Table
	allocs   []trace.Alloc
	stacks   [][]trace.Site
	events   []trace.Event
	pointers []Pointer // written by events that the trace lacks
	blocks   *blockIndex
	locals   map[trace.Object][]trace.Local // by object, in order of Event
	maps     []trace.Mapping
	golang   bool
	types    goTypes
	heap     *heapTypes // nil until it is asked for
	// numbers are those of the blocks, by index into allocs; nil if they are numbered in the order of allocs.
	numbers []int
	as      *Objects // of the trace in which the objects of a C program have the names that they have here; nil: this one

	tried []string // trace.Header.TryLock

	mu       sync.Mutex
	cache    map[objectKey]Name
	byThread [][]int32 // events of each thread, nil until they are asked for
	seen     map[frame][]trace.Site
}

// frame is a place in the frame of a function, at all times.
type frame struct {
	object  trace.Object
	cfa, sp int64
}

// goHeapBits divides the offset of a heap object of a Go program: the low bits are the offset in
// the object, the high bits its number, from 1, in the order of first access. (Go's collector frees
// objects without an event, so there is no list of blocks.)
const goHeapBits = abi.HeapOffsetBits

// exactly stands for an event that tells where a function was: the local itself tells it.
const exactly = -2

type objectKey struct {
	o     trace.Object
	size  uint32
	alloc int
	file  *trace.Mapping // nil if it is in none
	local trace.Local    // zero if not a local
	site  trace.Site     // of the event that tells where the local's function was; 0: none
	stack uint32         // of that event
}

// Objects returns the names of the objects of tr, which must have the modules that the table was
// made for. Pointers are what another recording of the execution has seen.
func (t *Table) Objects(tr *trace.Trace, pointers ...Pointer) *Objects {
	locals := map[trace.Object][]trace.Local{}
	for _, l := range tr.Locals {
		locals[l.Object] = append(locals[l.Object], l)
	}
	blocks := tr.Allocs
	if tr.Header.Target == "go" {
		blocks = nil // types name Go's objects better
	}
	return &Objects{t: t, tried: tr.Header.TryLock, types: t.goTypes(tr.Types), locals: locals, allocs: tr.Allocs, maps: tr.Mappings, stacks: tr.Stacks, events: tr.Events, pointers: pointers, blocks: newBlockIndex(blocks), golang: tr.Header.Target == "go", cache: map[objectKey]Name{}}
}

// Block is the size that stands for the heap block that an address is the beginning of, not for what lies there.
const Block = ^uint32(0)

// Name names the size bytes at obj (0 for locks and other things whose extent is not
// known, or Block) as they were when event number at happened: the same heap address belongs to
// different blocks at different times.
func (o *Objects) Name(obj trace.Object, size uint32, at int) Name {
	alloc := o.Block(obj, at)
	local, isLocal := o.local(obj, at)
	o.mu.Lock()
	defer o.mu.Unlock()
	if size == Block && alloc < 0 {
		size = 0
	}
	key, told := objectKey{o: obj, size: size, alloc: alloc, file: o.file(obj, at), local: local}, -1
	if isLocal {
		if at != local.Event {
			told = o.running(trace.ThreadID(obj.Index()), at)
		}
		switch {
		case at == local.Event, told == local.Event,
			// The thread has been in one call since.
			told > at && at > local.Event && o.running(trace.ThreadID(obj.Index()), local.Event) == told:
			told, key.site = exactly, o.position(local)
		case told >= 0:
			key.site, key.stack = o.events[told].Site, o.events[told].Stack
		}
	}
	if n, ok := o.cache[key]; ok {
		return n
	}
	n, known := Name{}, false
	if isLocal {
		n, known = o.localName(local, size, told)
	}
	if !known {
		n = o.name(obj, size, alloc, key.file)
	}
	o.cache[key] = n
	return n
}

// file returns the mapped file that an address was in as of event at, nil for none.
func (o *Objects) file(obj trace.Object, at int) *trace.Mapping {
	for i := len(o.maps) - 1; i >= 0 && obj.Region() == trace.RegionOther; i-- {
		if m := &o.maps[i]; m.Event <= at && m.Object <= obj && uint64(obj-m.Object) < m.Size {
			if m.Path == "" {
				return nil
			}
			return m
		}
	}
	return nil
}

// local returns the frame that contained a stack address as of event at.
func (o *Objects) local(obj trace.Object, at int) (found trace.Local, ok bool) {
	if obj.Region() != trace.RegionStack {
		return found, false
	}
	list := o.locals[obj]
	if len(list) == 0 {
		return found, false
	}
	later := sort.Search(len(list), func(i int) bool { return list[i].Event > at })
	return list[max(later-1, 0)], true
}

// running is trace.Running of the trace's events.
func (o *Objects) running(t trace.ThreadID, at int) int {
	if o.byThread == nil {
		o.byThread = [][]int32{}
		for i := range o.events {
			t := int(o.events[i].Thread)
			for t >= len(o.byThread) {
				o.byThread = append(o.byThread, nil)
			}
			o.byThread[t] = append(o.byThread[t], int32(i))
		}
	}
	if int(t) >= len(o.byThread) || len(o.byThread[t]) == 0 {
		return -1
	}
	own := o.byThread[t]
	next, _ := slices.BinarySearch(own, int32(max(at, 0)))
	return int(own[min(next, len(own)-1)])
}

// localName names a variable of a frame. Except for main, the name includes the thread, because
// every thread may have such a variable.
//
// A compiler lets variables of several blocks share a place. Which of them it is depends on where the
// function was, which event number told says. If it does not, the places where the object was seen in
// the frame must agree: no name is better than a wrong one.
func (o *Objects) localName(l trace.Local, size uint32, told int) (Name, bool) {
	places := o.positions(l, told)
	var n Name
	for i, p := range places {
		l.Site = p
		found, ok := o.t.Local(l, size)
		if !ok || i > 0 && (found.Text != n.Text || found.Line != n.Line) {
			return Name{}, false
		}
		n = found
	}
	ok := len(places) > 0
	if t := l.Object.Index(); ok && t > 0 {
		n.Suffix += fmt.Sprintf(" of T%d", t)
		n.Text = n.Base + n.Suffix
	}
	return n, ok
}

// positions returns where the function of a frame was: one place unless that is not known, or the
// function calls itself.
func (o *Objects) positions(l trace.Local, told int) (at []trace.Site) {
	switch {
	case told == exactly:
		return []trace.Site{o.position(l)}
	case told >= 0:
		e := &o.events[told]
		calls := []trace.Site{e.Site}
		if int(e.Stack) < len(o.stacks) {
			calls = append(calls, o.stacks[e.Stack]...)
		}
		for _, s := range calls {
			if o.t.sameFunction(s, function(l)) {
				at = append(at, s)
			}
		}
		if len(at) > 0 {
			return at
		}
	}
	for _, site := range o.sites(l) {
		if o.t.sameFunction(site, function(l)) {
			at = append(at, site)
		}
	}
	if len(at) == 0 {
		at = []trace.Site{l.Site} // no debug information, hence no name
	}
	return at
}

// position returns where the function of a frame was when the local was recorded, 0 if that is not known.
func (o *Objects) position(l trace.Local) trace.Site {
	if l.Function == 0 {
		return l.Site // of a trace that an older version recorded
	}
	for _, s := range []trace.Site{l.Site, l.Below} {
		if o.t.sameFunction(s, l.Function) {
			return s
		}
	}
	return 0
}

// function returns an address in the function of a frame.
func function(l trace.Local) trace.Site {
	if l.Function == 0 {
		return l.Site
	}
	return l.Function
}

// sites returns where the threads were that used the place of a frame.
func (o *Objects) sites(l trace.Local) []trace.Site {
	if o.seen == nil {
		o.seen = map[frame][]trace.Site{}
	}
	if _, known := o.seen[frameOf(l)]; !known {
		for _, other := range o.locals[l.Object] {
			if f, at := frameOf(other), o.position(other); !slices.Contains(o.seen[f], at) {
				o.seen[f] = append(o.seen[f], at)
			}
		}
	}
	return o.seen[frameOf(l)]
}

func frameOf(l trace.Local) frame { return frame{l.Object, l.CFA, l.SP} }

// Block returns the index into Trace.Allocs of the heap block, alive or freed, that contained obj
// as of event at, or -1.
func (o *Objects) Block(obj trace.Object, at int) int {
	if obj.Region() != trace.RegionHeap {
		return -1
	}
	return o.blocks.find(obj, at)
}

func (o *Objects) name(obj trace.Object, size uint32, alloc int, file *trace.Mapping) Name {
	switch {
	case obj == 0:
		return newName("", "")
	case alloc >= 0:
		return o.blockName(obj, size, alloc)
	case file != nil:
		suffix := ""
		if off := file.Offset + uint64(obj-file.Object); off > 0 {
			suffix = fmt.Sprintf("+%#x", off)
		}
		return newName(filepath.Base(file.Path), suffix)
	}
	if kind, fd, ok := obj.Channel(); ok {
		text := fmt.Sprintf("%s fd %d", kind, fd)
		if kind == "loader" {
			text = [...]string{abi.LoaderLock: "the loader's lock", abi.LoaderList: "the loader's list"}[obj&1]
		}
		if kind == trace.ChannelStream && fd <= 2 && obj&(1<<abi.FdShift-1) == 0 {
			text = [...]string{"stdin", "stdout", "stderr"}[fd]
		}
		if kind == trace.ChannelNumber {
			text = fmt.Sprintf("descriptor %d", fd)
		}
		if kind == trace.ChannelTried && fd < len(o.tried) {
			text, _, _ = strings.Cut(o.tried[fd], "@")
		}
		return newName(text, "")
	}
	switch obj.Region() {
	case trace.RegionGlobal:
		return o.t.Global(obj.Index(), obj.Offset(), size)
	case trace.RegionHeap:
		if n := obj.Offset() >> goHeapBits; o.golang && n > 0 {
			if n, ok := o.types.name(obj, size); ok {
				return n
			}
			suffix := ""
			if off := obj.Offset() & (1<<goHeapBits - 1); off > 0 {
				suffix = fmt.Sprintf("+%d", off)
			}
			if o.types.as != nil {
				if n = o.types.as[n]; n == 0 {
					return newName("object", suffix)
				}
			}
			return newName(fmt.Sprintf("#%d", n), suffix)
		}
		return newName(fmt.Sprintf("heap+%#x", obj.Offset()), "")
	case trace.RegionStack:
		return newName(fmt.Sprintf("stack of T%d", obj.Index()), fmt.Sprintf(" -%#x", obj.Offset()))
	}
	return newName(fmt.Sprintf("%#x", uint64(obj)&(1<<abi.RegionShift-1)), "")
}

// blockName names a place in heap block number alloc.
func (o *Objects) blockName(obj trace.Object, size uint32, alloc int) Name {
	a := &o.allocs[alloc]
	suffix := ""
	if off := uint64(obj - a.Object); off > 0 {
		suffix = fmt.Sprintf("+%d", off)
	}
	n := newName(fmt.Sprintf("block #%d", o.number(alloc)), suffix)
	if o.heap == nil {
		o.heap = o.newHeapTypes()
	}
	off := uint64(obj - a.Object)
	if whole := off == 0 && (size == Block || uint64(size) == a.Size && size > 8); !whole {
		if in, ok := o.heap.name(a, alloc, o.number(alloc), int64(off), size); ok {
			n = in
		}
	}
	n.Alloc, n.number = alloc, o.number(alloc)
	f := o.allocator(a)
	n.File, n.Line = f.File, f.Line
	where := ""
	if f.Module != "" {
		where = " at " + f.Place()
	}
	n.Detail = fmt.Sprintf("malloc%s, %d bytes", where, a.Size)
	if what := o.heap.describe(alloc, a.Size); what != "" {
		n.Detail = what + ", " + n.Detail
	}
	return n
}

// number returns the number of a block in its name.
func (o *Objects) number(alloc int) int {
	if o.numbers != nil {
		return o.numbers[alloc]
	}
	return alloc + 1
}

// allocator returns the innermost frame of the allocation that has source code, if possible code of the program's own, to skip
// library functions that call malloc, such as operator new and strdup, and std::make_unique and the C++ library's containers.
func (o *Objects) allocator(a *trace.Alloc) Frame {
	sites := []trace.Site{a.Site}
	if int(a.Stack) < len(o.stacks) {
		sites = append(sites, o.stacks[a.Stack]...)
	}
	found := o.t.Call(a.Site)[0]
	for _, s := range sites {
		for _, f := range o.t.Call(s) {
			switch {
			case f.Known() && !f.System():
				return f
			case f.Known() && !found.Known():
				found = f
			}
		}
	}
	return found
}

// Global names the size bytes at an offset from the load address of module: a variable
// and the member of it, a function, or `module+0x1234`.
func (t *Table) Global(module int, offset uint64, size uint32) Name {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.module(module)
	if m == nil {
		return newName(fmt.Sprintf("module %d+%#x", module, offset), "")
	}
	return m.global(offset, size)
}

func (m *module) global(addr uint64, size uint32) Name {
	sym, inSym := m.data.Find(addr)
	if m.debug != nil {
		if v, ok := m.debug.VariableAt(addr); ok && (!inSym || v.Addr >= sym.Addr) {
			base := v.Name
			if inSym && sym.Addr == v.Addr && cxxname.Mangled(sym.Name) && v.Linkage == "" {
				base = cxxname.Readable(sym.Name)
			}
			extent := v.Type.Size
			if inSym && sym.Addr == v.Addr {
				extent = max(extent, int64(sym.Size))
			}
			if off := int64(addr - v.Addr); off == 0 || off < extent {
				return nameOf(base, v, v.Type.Locate(off, int64(size)))
			}
		}
	}
	if inSym {
		suffix := ""
		if off := addr - sym.Addr; off > 0 {
			suffix = fmt.Sprintf("+%d", off)
		}
		name := cxxname.Readable(sym.Name)
		if m.golang != nil {
			name = goname.Readable(sym.Name)
		}
		return newName(name, suffix)
	}
	for i := range m.constants {
		if c := &m.constants[i]; addr >= c.Addr && addr-c.Addr < uint64(len(c.Data)) {
			return constant(c, addr)
		}
	}
	// An address of code: a thread's entry, a callback.
	if f := m.frames(addr, 0); f[len(f)-1].Func != "" {
		fn := f[len(f)-1]
		n := newName(fn.Func, "")
		if s, ok := m.code.Find(addr); ok && s.Addr != addr {
			n = newName(fn.Func, fmt.Sprintf("+%#x", addr-s.Addr))
		}
		n.File, n.Line = fn.File, fn.Line
		if m.debug != nil {
			if file, line := m.debug.Declared(addr); line > 0 {
				n.File, n.Line = file, line
			}
		}
		return n
	}
	if m.Path == trace.RuntimePath {
		return newName(libraryTasks, "")
	}
	return newName(fmt.Sprintf("%s+%#x", filepath.Base(m.Path), addr), "")
}

// libraryTasks names the objects of heddle's own runtime. Their only use in a program's events is to order what a library such as oneTBB
// passes from one thread to another.
const libraryTasks = "the library's tasks"

// literalShown is how many bytes of a string literal a name has.
const literalShown = 24

// constant names an address of read-only data without a symbol: by the string literal there, or by the section.
func constant(c *elffile.Constants, addr uint64) Name {
	text, off, ok := c.Literal(addr)
	if !ok {
		return newName(fmt.Sprintf("%s+%#x", c.Section, addr-c.Addr), "")
	}
	if len(text) > literalShown {
		text = text[:literalShown] + "…"
	}
	suffix := ""
	if off > 0 {
		suffix = fmt.Sprintf("+%d", off)
	}
	return newName(strconv.Quote(text), suffix)
}
