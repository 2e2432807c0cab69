package symbol

import (
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/dwarfinfo"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
	"github.com/heddle-dev/heddle/trace"
)

// goTypes names the objects on the heap of a Go program by what they were allocated as.
type goTypes struct {
	t       *Table
	objects map[uint64]goObject // by number, see goHeapBits
}

type goObject struct {
	trace.Type
	base  string // of the name, without what tells it from others of the kind
	typ   *Type  // Opaque where the debug information does not have it
	inner bool   // the name of a place in it is of interest
	other bool   // objects of another number have the same base
}

func (t *Table) goTypes(types []trace.Type) goTypes {
	g := goTypes{t: t, objects: map[uint64]goObject{}}
	t.mu.Lock()
	defer t.mu.Unlock()
	variables := map[string]trace.Site{} // where each was allocated
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
				variables[v] = 0 // one of them is something else
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

// kind is the name of an object of which no more than its type is known; empty for what a
// programmer has never seen.
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

// name names size bytes of the object that obj lies in; ok is false where its type is not known.
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
	if o.other {
		base += fmt.Sprintf(" #%d", uint64(o.Object.Offset())>>goHeapBits)
	}
	if suffix != "" && strings.ContainsAny(o.base[:1], "*[") {
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

// frame is the innermost frame of a call.
func (t *Table) frame(s trace.Site) (f Frame) {
	if m := t.module(s.Module()); m != nil && s.Offset() > 0 {
		if fs := m.frames(s.Offset(), 1); len(fs) > 0 {
			f = fs[0]
		}
	}
	return f
}

// goVariable is the variable that an allocation is for, empty if that is not known.
func (t *Table) goVariable(y trace.Type) string {
	m := t.module(y.Site.Module())
	if y.Site.Offset() == 0 || y.Size != y.Unit || m == nil || m.debug == nil {
		return ""
	}
	return m.debug.GoMoved(y.Site.Offset()-1, t.frame(y.Site).Line, y.Name)
}
