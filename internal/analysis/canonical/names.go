package canonical

import (
	"path"
	"slices"
	"strconv"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// maxDepth is the depth in the spawn tree down to which a thread's name is its path. Paths of deeper
// threads would make names quadratic in the length of a chain of threads; their names end in the
// hash of the path.
const maxDepth = 64

// names gives the threads and the memory of one execution names that do not depend on the schedule
// or on where anything was loaded, as long as the execution is pseudo-deterministic (DSN'20, section
// IV-C): each thread is named by its path in the spawn tree, each heap block by the thread that
// allocated it and how many that thread had allocated before.
type names struct {
	target  string
	threads []threadNames // indexed by trace.ThreadID
	modules []string
	used    map[int]bool // modules that a name refers to
	blocks  []block      // of a C program: ascending by first
	objects map[uint64]block
	pages   map[uint64]string // outside of all regions, by number
}

// threadNames is what names know of one thread.
type threadNames struct {
	name      string
	depth     int
	allocated int // blocks that it allocated so far
	touched   int // unnamed Go objects that it used first
	mapped    int // pages outside of all regions that it used first
}

// block is a heap block with the beginning of its name.
type block struct {
	first, size uint64
	name        string
}

func newNames(target string) *names {
	return &names{target: target, objects: map[uint64]block{}, used: map[int]bool{}, pages: map[uint64]string{}}
}

// learn adds the threads and modules that the tables of a trace have gained.
func (n *names) learn(threads []trace.Thread, modules []trace.Module) {
	for i := len(n.threads); i < len(threads); i++ {
		n.threads = append(n.threads, n.named(&threads[i]))
	}
	for i := len(n.modules); i < len(modules); i++ {
		n.modules = append(n.modules, n.moduleNamed(&modules[i]))
	}
}

// named names a thread: its parent's name, and that it is the parent's n-th child. Two threads
// without a parent are main and the clock.
func (n *names) named(th *trace.Thread) threadNames {
	if th.Parent < 0 || int(th.Parent) >= len(n.threads) {
		if th.IsClock() {
			return threadNames{name: "clock"}
		}
		if th.ID == 0 {
			return threadNames{name: "T0"}
		}
		return threadNames{name: "T?" + strconv.FormatUint(th.Name, 16)}
	}
	parent := &n.threads[th.Parent]
	if parent.depth >= maxDepth {
		return threadNames{name: "T?" + strconv.FormatUint(th.Name, 16), depth: maxDepth}
	}
	return threadNames{name: parent.name + "." + strconv.Itoa(th.Nth), depth: parent.depth + 1}
}

// moduleNamed names a module by the last element of its path: the same program in another directory
// is the same program. A second module of that name has its number in the name.
func (n *names) moduleNamed(m *trace.Module) string {
	name := path.Base(m.Path)
	if m.Path == trace.RuntimePath {
		name = "heddle"
	}
	b := []byte(name)
	for i, c := range b {
		if c <= ' ' || c == '+' || c >= 0x7f {
			b[i] = '_'
		}
	}
	name = string(b)
	if slices.Contains(n.modules, name) {
		name += "#" + strconv.Itoa(len(n.modules))
	}
	return name
}

// thread returns a thread's name.
func (n *names) thread(id trace.ThreadID) string {
	if id < 0 || int(id) >= len(n.threads) {
		return "-"
	}
	return n.threads[id].name
}

// allocate names the block of an allocation, in place of freed blocks that were there.
func (n *names) allocate(a *trace.Event) {
	if a.Thread < 0 || int(a.Thread) >= len(n.threads) {
		return
	}
	th := &n.threads[a.Thread]
	switch {
	case !a.Allocates():
		th.allocated++ // the names of later blocks do not depend on whether it failed
		return
	case a.Object.Region() != trace.RegionHeap:
		return
	}
	th.allocated++
	b := block{first: a.Object.Offset(), size: a.Bytes(), name: th.name + ":h" + strconv.Itoa(th.allocated)}
	if n.target == "go" {
		n.objects[b.first>>abi.HeapOffsetBits] = b
		return
	}
	if k := len(n.blocks); k == 0 || n.blocks[k-1].first < b.first {
		n.blocks = append(n.blocks, b)
		return
	}
	i, _ := slices.BinarySearchFunc(n.blocks, b.first, func(b block, at uint64) int {
		switch {
		case b.first < at:
			return -1
		case b.first > at:
			return 1
		}
		return 0
	})
	covered := i
	for covered < len(n.blocks) && n.blocks[covered].first < b.first+max(b.size, 1) {
		covered++
	}
	n.blocks = slices.Replace(n.blocks, i, covered, b)
}

// heap appends the name of a place in the heap that the thread refers to.
func (n *names) heap(dst []byte, offset uint64, by trace.ThreadID) []byte {
	if n.target == "go" {
		return n.goHeap(dst, offset, by)
	}
	lo, hi := 0, len(n.blocks) // the last block that begins at or before offset is in [lo-1, hi)
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); n.blocks[m].first <= offset {
			lo = m + 1
		} else {
			hi = m
		}
	}
	// The end of a block is a place in it, since programs hold pointers there. It is never the
	// beginning of the next one: a header lies between them.
	if lo > 0 && offset-n.blocks[lo-1].first <= n.blocks[lo-1].size {
		b := &n.blocks[lo-1]
		return appendOffset(append(dst, b.name...), offset-b.first)
	}
	return appendOffset(append(dst, 'h'), offset) // allocated before main: the same in every schedule
}

// goHeap names a place in an object of a Go program. Traces number objects in order of first use. An
// object whose allocation the trace does not have is named by the thread that used it first.
func (n *names) goHeap(dst []byte, offset uint64, by trace.ThreadID) []byte {
	b, ok := n.objects[offset>>abi.HeapOffsetBits]
	if !ok && by >= 0 && int(by) < len(n.threads) {
		th := &n.threads[by]
		th.touched++
		b = block{first: offset >> abi.HeapOffsetBits << abi.HeapOffsetBits, name: th.name + ":f" + strconv.Itoa(th.touched)}
		n.objects[offset>>abi.HeapOffsetBits] = b
	}
	return appendOffset(append(dst, b.name...), offset-b.first)
}

// place appends the name of a place in memory, or of a channel, that the thread refers to.
func (n *names) place(dst []byte, o trace.Object, by trace.ThreadID) []byte {
	if o == 0 {
		return append(dst, '-')
	}
	switch o.Region() {
	case trace.RegionHeap:
		return n.heap(dst, o.Offset(), by)
	case trace.RegionGlobal:
		if i := o.Index(); i < len(n.modules) {
			n.used[i] = true
			return appendOffset(append(append(dst, "g:"...), n.modules[i]...), o.Offset())
		}
	case trace.RegionStack:
		dst = append(append(dst, n.thread(trace.ThreadID(o.Index()))...), ":s-"...)
		return strconv.AppendUint(dst, o.Offset(), 10)
	}
	switch at := uint64(o); {
	case at-trace.ArgumentVectors < argumentsMost:
		return appendOffset(append(dst, "argv"...), at-trace.ArgumentVectors)
	case at-trace.ArgumentStrings < argumentsMost:
		return appendOffset(append(dst, "args"...), at-trace.ArgumentStrings)
	}
	if _, _, channel := o.Channel(); !channel && !o.Nowhere() && o.Region() == trace.RegionOther && by >= 0 && int(by) < len(n.threads) {
		if _, known := n.pages[uint64(o)>>pageBits]; !known {
			th := &n.threads[by]
			th.mapped++
			n.pages[uint64(o)>>pageBits] = th.name + ":p" + strconv.Itoa(th.mapped)
		}
		dst, _ = n.mapped(dst, uint64(o))
		return dst
	}
	return strconv.AppendUint(append(dst, "a:0x"...), uint64(o), 16)
}

// argumentsMost bounds the bytes of the arguments and the environment, which is a quarter of the stack in
// Linux.
const argumentsMost = 1 << 32

// pageBits is the binary logarithm of the size of a page: what the system maps lies at a multiple of
// it.
const pageBits = 12

// mapped appends the name of an address in memory that belongs to no region, such as what the program
// mapped, or thread-local variables of main: its page is named by the thread that used the page first.
// It returns false for an address in a page that no thread has used.
func (n *names) mapped(dst []byte, addr uint64) ([]byte, bool) {
	page, ok := n.pages[addr>>pageBits]
	if !ok {
		return dst, false
	}
	return appendOffset(append(dst, page...), addr&(1<<pageBits-1)), true
}

// site appends the name of an instruction.
func (n *names) site(dst []byte, s trace.Site) []byte {
	i := s.Module()
	switch {
	case s == 0:
		return append(dst, '-')
	case i < 0 || i >= len(n.modules):
		dst = append(dst, '?')
	default:
		n.used[i] = true
		dst = append(dst, n.modules[i]...)
	}
	return strconv.AppendUint(append(dst, "+0x"...), s.Offset(), 16)
}

func appendOffset(dst []byte, offset uint64) []byte {
	return strconv.AppendUint(append(dst, '+'), offset, 10)
}
