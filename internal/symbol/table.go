package symbol

import (
	"errors"
	"fmt"
	"sync"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
	"github.com/heddle-dev/heddle/trace"
)

// Options configure a Table. The zero value is right for most machines.
type Options struct {
	// DebugDirs are the roots of separate debug files; nil means /usr/lib/debug.
	DebugDirs []string
}

func (o Options) debugDirs() []string {
	if o.DebugDirs == nil {
		return []string{"/usr/lib/debug"}
	}
	return o.DebugDirs
}

// Table resolves the sites and global objects of the modules it was made for. It may be
// used by several goroutines at once.
type Table struct {
	mu    sync.Mutex
	mods  []*module
	calls map[trace.Site][]Frame
	exact map[trace.Site][]Frame

	allocations map[trace.Site]allocation
	findArrays  sync.Once
	newArrays   map[trace.Site]bool
}

// New returns a table for modules; sites and objects refer to them by index. It opens no file.
func New(modules []trace.Module, opt Options) *Table {
	t := &Table{
		mods:  make([]*module, len(modules)),
		calls: map[trace.Site][]Frame{},
		exact: map[trace.Site][]Frame{},

		allocations: map[trace.Site]allocation{},
	}
	for i, m := range modules {
		t.mods[i] = &module{Module: m, opt: opt}
	}
	return t
}

// ForTrace is New for the modules of a trace. It checks a program without a build id by the hash in
// the trace's header instead.
func ForTrace(tr *trace.Trace, opt Options) *Table {
	t := New(tr.Modules, opt)
	for _, m := range t.mods {
		if m.Program && m.BuildID == "" {
			m.BuildID = tr.Header.BuildID
		}
	}
	return t
}

// Function returns the name of the function that contains s, and where it is declared. Without
// debug information it returns the last frame of Exact.
func (t *Table) Function(s trace.Site) Frame {
	frames := t.Exact(s)
	f := frames[len(frames)-1]
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.module(s.Module())
	if m == nil || m.debug == nil {
		return f
	}
	if file, line := m.debug.Declared(s.Offset()); line > 0 {
		f.File, f.Line, f.Column = file, line, 0
	}
	return f
}

// Call resolves a return address, which is what the site of an operation and an entry of
// a call stack are: the instruction looked up is the call before it. The chain is
// innermost first and has at least one frame; an unknown site gives one empty frame. The
// caller must not change it.
func (t *Table) Call(s trace.Site) []Frame { return t.lookup(t.calls, s, 1) }

// Exact is like Call for the address of the instruction itself, such as a function's entry or a
// faulting instruction.
func (t *Table) Exact(s trace.Site) []Frame { return t.lookup(t.exact, s, 0) }

// lookup resolves s minus back bytes and caches the result.
func (t *Table) lookup(cache map[trace.Site][]Frame, s trace.Site, back uint64) []Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f, ok := cache[s]; ok {
		return f
	}
	m := t.module(s.Module())
	frames := []Frame{{}}
	if m != nil {
		frames = m.frames(s.Offset(), back)
	}
	cache[s] = frames
	return frames
}

// module returns the loaded module with index i, or nil if i is invalid.
func (t *Table) module(i int) *module {
	if i < 0 || i >= len(t.mods) {
		return nil
	}
	t.mods[i].load()
	return t.mods[i]
}

// Problems explains, one error each, why names of the modules used so far are missing or poor: a
// file that was removed or rebuilt, or debug information that is damaged or, for the program
// itself, missing. Nil means no problems.
func (t *Table) Problems() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []error
	for _, m := range t.mods {
		switch {
		case !m.loaded || errors.Is(m.err, errNoFile):
		case m.err != nil:
			out = append(out, m.err)
		case m.debug != nil && len(m.debug.Missing()) > 0:
			out = append(out, m.debug.Missing()[0])
		case m.Program && m.debug == nil && m.golang == nil:
			out = append(out, fmt.Errorf("no line numbers for %s: it has no debug information; build it with -g", m.Path))
		}
	}
	return out
}

// frames resolves offset-back, which equals a virtual address of the file: the load
// address is the difference between the two, for programs at a fixed address (zero) and
// position-independent ones alike.
func (m *module) frames(offset, back uint64) []Frame {
	addr := offset - back
	if m.debug != nil {
		if f := m.debug.Frames(addr); f != nil {
			for i := range f {
				f[i].Module = m.Path
			}
			m.mangledName(&f[len(f)-1], addr)
			if last := &f[len(f)-1]; last.Func == "" { // its unit is in a missing file
				if s, ok := m.code.Find(addr); ok {
					last.Func, last.Linkage = cxxname.Readable(s.Name), s.Name
				}
			}
			return f
		}
	}
	if m.golang != nil {
		if p, ok := m.golang.Find(addr); ok {
			return []Frame{{Func: goname.Readable(p.Linkage), Linkage: p.Linkage, File: p.File, Line: p.Line, Begins: p.Begins, Module: m.Path}}
		}
	}
	if s, ok := m.code.Find(addr); ok {
		f := Frame{Func: cxxname.Readable(s.Name), Linkage: s.Name, Offset: offset - s.Addr, Module: m.Path}
		if s.Name == cxxname.ThreadEntry {
			f.Offset = 0 // it only calls the program's function
		}
		return []Frame{f}
	}
	return []Frame{{Module: m.Path, Offset: offset}}
}

// mangledName completes the name of f, the function that addr is in, from the symbol table: GCC
// omits the linkage name of functions with internal linkage, and with it the enclosing function of
// a lambda.
func (m *module) mangledName(f *Frame, addr uint64) {
	if cxxname.Mangled(f.Linkage) {
		return
	}
	if s, ok := m.code.Find(addr); ok && cxxname.Mangled(s.Name) {
		f.Func, f.Linkage = cxxname.Readable(s.Name), s.Name
	}
}
