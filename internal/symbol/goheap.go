package symbol

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/dwarfinfo"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
	"github.com/heddle-dev/heddle/trace"
)

// goTypes names the heap objects of a Go program by the types they were allocated as.
type goTypes struct {
	t       *Table
	objects map[uint64]goObject // by number, see goHeapBits
	// as are the numbers in another trace, and there its objects, if they are named as in it; otherwise nil.
	as    map[uint64]uint64
	there map[uint64]goObject
}

type goObject struct {
	trace.Type
	base  string // the name without the part that distinguishes it from others of its kind
	typ   *Type  // Opaque if the debug information lacks it
	inner bool   // name places inside it
	other bool   // objects with other numbers have the same base
}

func (t *Table) goTypes(types []trace.Type) goTypes {
	g := goTypes{t: t, objects: map[uint64]goObject{}}
	t.mu.Lock()
	defer t.mu.Unlock()
	variables := map[string]trace.Site{} // the site that allocates each
	var order []goObject
	for _, y := range types {
		o := goObject{Type: y, typ: dwarfinfo.Opaque, inner: true}
		m := t.module(y.Descriptor.Module())
		if m != nil && m.debug != nil {
			o.typ = m.debug.GoType(y.Descriptor.Offset(), m.goTypesAt, y.Name)
		}
		if v := t.goVariable(y); v != "" {
			o.base = v
			if at, ok := variables[v]; ok && at != y.Site {
				variables[v] = 0 // ambiguous
			} else if !ok {
				variables[v] = y.Site
			}
		}
		order = append(order, o)
	}
	number := map[string]int{}
	for i := range order {
		o := &order[i]
		if o.base == "" || variables[o.base] == 0 {
			o.base = o.kind()
		}
		number[o.base]++
	}
	for _, o := range order {
		if o.base != "" {
			o.other = number[o.base] > 1
			g.objects[uint64(o.Object.Offset())>>goHeapBits] = o
		}
	}
	return g
}

// kind returns the name of an object of which only the type is known; empty for types internal to
// Go's implementation.
func (o *goObject) kind() string {
	name := goname.Short(o.Name) // of a generic type it has the paths of its arguments
	switch {
	case o.Unit == 0 || strings.HasPrefix(name, "runtime."):
		return ""
	case o.Channel:
		o.inner = false
		return name
	case strings.HasPrefix(name, "map.group["):
		o.inner = false
		return "map[" + strings.TrimPrefix(name, "map.group[")
	case o.typ.Name == "internal/runtime/maps.Map":
		o.inner = false
		return "map"
	case strings.HasPrefix(name, "struct { F uintptr"):
		name = "closure"
	case strings.HasPrefix(name, "struct {") && len(name) > 40:
		name = "struct {…}"
	}
	if o.Size > o.Unit {
		return "[]" + name
	}
	return "*" + name
}

// name names size bytes at obj, inside an object; ok is false if the object's type is unknown.
func (g goTypes) name(obj trace.Object, size uint32) (n Name, ok bool) {
	o, ok := g.objects[uint64(obj.Offset())>>goHeapBits]
	if !ok || obj < o.Object || uint64(obj-o.Object) >= max(o.Size, 1) {
		return n, false
	}
	g.t.mu.Lock()
	defer g.t.mu.Unlock()
	off := uint64(obj - o.Object)
	p := dwarfinfo.Place{}
	element := ""
	if o.inner {
		if o.Size > o.Unit {
			element = fmt.Sprintf("[%d]", off/o.Unit)
			if end := off + uint64(max(size, 1)) - 1; end/o.Unit != off/o.Unit {
				element = fmt.Sprintf("[%d..%d]", off/o.Unit, end/o.Unit)
				size = 0
			}
			off %= o.Unit
		}
		p = o.typ.Locate(int64(off), int64(size))
	}
	base, suffix := o.base, element+p.String()
	number := goNumber(o.Object)
	if g.as != nil {
		number = g.as[number]
		if named, ok := g.there[number]; ok {
			base, o.other = named.base, named.other
		}
	}
	if o.other && number > 0 {
		base += fmt.Sprintf(" #%d", number)
	}
	if suffix != "" && strings.ContainsAny(base[:1], "*[") {
		base = "(" + base + ")"
	}
	n = newName(base, suffix)
	n.Type, n.Of = p.Leaf, p.OfName()
	if o.Site != 0 {
		if f := g.t.frame(o.Site); f.Known() {
			n.File, n.Line = f.File, f.Line
		}
	}
	return n, true
}

// frame returns the innermost frame of a call.
func (t *Table) frame(s trace.Site) (f Frame) {
	if m := t.module(s.Module()); m != nil && s.Offset() > 0 {
		if fs := m.frames(s.Offset(), 1); len(fs) > 0 {
			f = fs[0]
		}
	}
	return f
}

// goVariable returns the variable that an allocation is for, or "" if unknown.
func (t *Table) goVariable(y trace.Type) string {
	m := t.module(y.Site.Module())
	if y.Site.Offset() == 0 || y.Size != y.Unit || m == nil || m.debug == nil {
		return ""
	}
	return m.debug.GoMoved(y.Site.Offset()-1, t.frame(y.Site).Line, y.Name)
}
