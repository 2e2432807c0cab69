package dwarfinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
)

// Place is where in a variable some bytes lie.
type Place struct {
	path string // `.head`, `[2].balance`, `[0..11]`; empty for the variable as a whole
	rest int64  // bytes into what path names
	Leaf *Type  // type of what the bytes are, nil unless they are exactly one value
	of   *Type  // type of what path names
}

// OfName is the name of the type of what the path names, empty for a part of it and for types
// that say no more than a value does.
func (p Place) OfName() string {
	if p.rest != 0 || p.of == nil || p.of.Kind != Struct && p.of.Kind != Union || p.of.Name == "" {
		return ""
	}
	return cxxname.Short(p.of.Scope + goname.Short(p.of.Name))
}

// Mutex reports whether the path names a mutex of Pthreads, C11 or C++ as a whole. Each begins with
// glibc's, so its address is that of a pthread_mutex_t.
func (p Place) Mutex() bool {
	const size = 40 // of pthread_mutex_t on x86-64
	t := p.of
	if p.rest != 0 || t == nil || t.Size != size {
		return false
	}
	if t.Kind == Union { // pthread_mutex_t and mtx_t; no other of glibc's types has this size
		return slices.ContainsFunc(t.fields, func(f field) bool { return f.name == "__align" })
	}
	return t.Kind == Struct && strings.HasPrefix(t.Scope, "std::") && (t.Name == "mutex" || t.Name == "recursive_mutex")
}

func (p Place) String() string {
	if p.rest != 0 {
		return fmt.Sprintf("%s+%d", p.path, p.rest)
	}
	return p.path
}

// Locate finds the smallest member of t that holds the size bytes at off; size 0 stands
// for an object whose extent is not known, such as a lock, and finds the innermost member
// that starts there.
//
// Members with reserved names (`__data`, `_M_impl`) are the library's business: the path
// ends before them, so that a lock is called `q.mut` rather than
// `q.mut.__data.__lock`. Only if such members hold nothing but one value, or an array,
// are they looked through: an atomic counter is `hits`, an element of a std::array
// `slot[3]`.
func (t *Type) Locate(off, size int64) Place {
	p := Place{rest: off, of: t}
	t.descend(off, size, &p, false, 0)
	return p
}

// descend extends p into t at off. hidden: the path has ended and only the type
// of the value is still wanted; p.rest then stays relative to where it ended.
func (t *Type) descend(off, size int64, p *Place, hidden bool, depth int) {
	if depth > 64 {
		return
	}
	switch t.Kind {
	case Scalar, Pointer, Enum:
		if p.rest == 0 && off == 0 && (size == 0 || size == t.Size) {
			p.Leaf = t
		}
	case Struct, Union:
		t.descendField(off, size, p, hidden, depth)
	case Array:
		t.descendElement(off, size, p, hidden, depth)
	}
}

func (t *Type) descendField(off, size int64, p *Place, hidden bool, depth int) {
	if !hidden && t.goOpaque() {
		hidden, p.rest = true, 0
	}
	f, bits := t.fieldAt(off, size)
	if f == nil {
		return
	}
	if f.bits {
		if !hidden && bits[0] != "" {
			p.path += "." + bitFieldNames(bits)
			p.rest, p.of = 0, nil
		}
		return
	}
	inner := f.typ.typ()
	switch {
	case hidden, f.base, f.name == "":
	case t.closure: // gcc writes __x for a captured x
		p.path += "." + strings.TrimPrefix(f.name, "__")
		p.rest, p.of = off-f.off, inner
	case !cxxname.Reserved(f.name):
		p.path += "." + f.name
		p.rest, p.of = off-f.off, inner
	case inner.Kind != Array || t.Kind == Union:
		hidden = true
	}
	inner.descend(off-f.off, size, p, hidden, depth+1)
}

// fieldAt is the member that holds [off, off+size), nil if none does. Of several
// bit-fields in those bytes it gives the first, and the names of all.
func (t *Type) fieldAt(off, size int64) (best *field, bits []string) {
	for i := range t.fields {
		f := &t.fields[i]
		if !f.bits && f.typ.typ().empty(0) {
			continue // as a base class it takes no bytes, though its type has a size
		}
		if f.bits {
			if f.off < off+max(size, 1) && off < f.off+f.size {
				bits = append(bits, f.name)
				if best == nil {
					best = f
				}
			}
			continue
		}
		if !f.covers(off, size) {
			if t.Kind == Struct && f.off >= off && f.off < off+size {
				return nil, nil // the access covers several members
			}
			continue
		}
		// The members of a union overlap: the one that fits the access exactly is
		// most likely what the program meant.
		// A member may lie in the padding at the end of a base class.
		if best == nil || best.bits || best.base || t.Kind == Union && size > 0 && f.fits(off, size) && !best.fits(off, size) {
			best = f
		}
	}
	return best, bits
}

// empty reports whether a class has no values in it. Its size is 1.
func (t *Type) empty(depth int) bool {
	if t.Kind != Struct || t.Size != 1 || depth > 64 {
		return false
	}
	return !slices.ContainsFunc(t.fields, func(f field) bool { return f.bits || !f.typ.typ().empty(depth+1) })
}

// covers reports whether the field holds all of [off, off+size).
func (f *field) covers(off, size int64) bool {
	typ := f.typ.typ()
	switch {
	case off < f.off:
		return false
	case typ.Size < 0:
		return typ.Kind == Array || off == f.off // a flexible array reaches to the end
	case size == 0:
		return off < f.off+typ.Size || off == f.off
	}
	return off+size <= f.off+typ.Size
}

// fits reports whether exactly one value of the field fills the bytes.
func (f *field) fits(off, size int64) bool {
	return f.typ.typ().Locate(off-f.off, size).Leaf != nil
}

// bitFieldNames names what shares a byte: an access to one is an access to all.
func bitFieldNames(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	if len(names) > 3 {
		names = append(names[:3:3], "…")
	}
	return "{" + strings.Join(names, ",") + "}"
}

func (t *Type) descendElement(off, size int64, p *Place, hidden bool, depth int) {
	step := t.step()
	if step == 0 {
		return
	}
	dims := t.counts
	if len(dims) == 0 {
		dims = []int64{-1}
	}
	// Bytes in one index step of each dimension, outermost first.
	steps := make([]int64, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		steps[i] = step
		if dims[i] > 0 {
			step *= dims[i]
		}
		if step > 1<<46 {
			return
		}
	}
	last := off + max(size, 1) - 1
	for d, s := range steps {
		i, j := off/s, last/s
		if i != j {
			whole := i == 0 && off == 0 && last+1 == s*dims[d]
			if !hidden && !whole {
				p.path += fmt.Sprintf("[%d..%d]", i, j)
				p.rest, p.of = off%s, nil
			}
			return
		}
		if !hidden {
			p.path += fmt.Sprintf("[%d]", i)
			p.rest, p.of = off%s, nil
			if d == len(steps)-1 {
				p.of = t.elem.typ()
			}
		}
		off, last = off%s, last%s
	}
	t.elem.typ().descend(off, size, p, hidden, depth+1)
}

// goOpaque reports whether the inside of a Go type is nothing that a programmer has written.
func (t *Type) goOpaque() bool {
	for _, prefix := range []string{"sync.", "sync/", "internal/", "runtime.", "time.", "[]", "func(", "map[", "chan ", "interface {"} {
		if strings.HasPrefix(t.Name, prefix) {
			return true
		}
	}
	slice := t.Kind == Struct && len(t.fields) == 3 && t.fields[0].name == "array" && t.fields[1].name == "len" && t.fields[2].name == "cap"
	return slice || t.Name == "string" && t.Kind == Struct
}
