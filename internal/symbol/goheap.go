package symbol

import (
	"debug/dwarf"
	"fmt"
	"regexp"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// attrGoRuntimeType is DW_AT_go_runtime_type: where a type's descriptor lies, as an address or
// from the symbol runtime.types on.
const attrGoRuntimeType dwarf.Attr = 0x2904

// goTypes names the objects on the heap of a Go program by what they were allocated as.
type goTypes struct {
	t       *Table
	objects map[uint64]goObject // by number, see goHeapBits
}

type goObject struct {
	trace.Type
	base  string // of the name, without what tells it from others of the kind
	typ   *Type  // opaque where the debug information does not have it
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
		o := goObject{Type: y, typ: opaque, inner: true}
		m := t.module(y.Descriptor.Module())
		if m != nil && m.debug != nil {
			o.typ = m.goType(y.Descriptor.Offset(), y.Name)
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
	name := goShort(o.Name) // of a generic type it has the paths of its arguments
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
	p := place{}
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
		p = o.typ.locate(int64(off), int64(size))
	}
	base, suffix := o.base, element+p.String()
	if o.other {
		base += fmt.Sprintf(" #%d", uint64(o.Object.Offset())>>goHeapBits)
	}
	if suffix != "" && strings.ContainsAny(o.base[:1], "*[") {
		base = "(" + base + ")"
	}
	n = newName(base, suffix)
	n.Type, n.Of = p.leaf, p.ofName()
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

// goType is the type with the descriptor at addr, if it has the name that the runtime knows.
func (m *module) goType(addr uint64, name string) *Type {
	m.debug.walk()
	for _, base := range []uint64{0, m.goTypesAt} {
		at, ok := m.debug.goTypes[addr-base]
		if !ok {
			continue
		}
		if e := at.entry(); e != nil && goShort(at.d.text(e, dwarf.AttrName)) == goShort(name) {
			return at.typ()
		}
	}
	return opaque
}

// addGoType notes the type that e describes.
func (d *debugInfo) addGoType(e *dwarf.Entry) {
	if at, ok := e.Val(attrGoRuntimeType).(uint64); ok && at != 0 {
		if d.goTypes == nil {
			d.goTypes = map[uint64]dieRef{}
		}
		d.goTypes[at] = dieRef{d, e.Offset}
	}
}

// goVariable is the variable that an allocation is for: Go's compiler moves those to the heap
// that outlive their function, and describes them by a pointer with the name &x. It has the
// line and the type of the allocation, and no other variable does.
func (t *Table) goVariable(y trace.Type) string {
	m := t.module(y.Site.Module())
	if y.Site.Offset() == 0 || y.Size != y.Unit || m == nil || m.debug == nil {
		return ""
	}
	pc := y.Site.Offset() - 1
	u := m.debug.unitAt(pc)
	if u == nil || u.lang != langGo {
		return ""
	}
	u.loadTree()
	chain := u.scopesAt(pc)
	if len(chain) == 0 {
		return ""
	}
	in := chain[len(chain)-1]
	rd := u.d.data.Reader()
	rd.Seek(in.off)
	e, err := rd.Next()
	if e == nil || err != nil {
		return ""
	}
	names := map[string]bool{}
	u.goMoved(rd, e, t.frame(y.Site).Line, "*"+goShort(y.Name), names, 0)
	if len(names) != 1 {
		return ""
	}
	_, fn := GoName(u.d.nameOf(in.off).linker())
	for name := range names {
		fn += "." + name
	}
	return fn
}

// goMoved collects the variables of a function that were moved to the heap where they are
// declared at line, with a pointer of the type called typ.
func (u *unit) goMoved(rd *dwarf.Reader, e *dwarf.Entry, line int, typ string, names map[string]bool, depth int) {
	if !e.Children || depth > maxDepth {
		return
	}
	for {
		c, err := rd.Next()
		if c == nil || err != nil || c.Tag == 0 {
			return
		}
		switch c.Tag {
		case dwarf.TagVariable, dwarf.TagFormalParameter:
			about := u.d.nameOf(c.Offset)
			name, moved := strings.CutPrefix(about.name, "&")
			if !moved || about.typ.d == nil || u.declLine(c) != line {
				break
			}
			if p := about.typ.entry(); p != nil && goShort(about.typ.d.text(p, dwarf.AttrName)) == typ {
				names[name] = true
			}
		case dwarf.TagLexDwarfBlock:
			u.goMoved(rd, c, line, typ, names, depth+1)
			continue
		}
		if c.Children {
			rd.SkipChildren()
		}
	}
}

// declLine is the line that a variable is declared at, which Go's compiler tells without the file.
func (u *unit) declLine(e *dwarf.Entry) int {
	for at := (dieRef{u.d, e.Offset}); e != nil; e = at.entry() {
		if line, ok := e.Val(dwarf.AttrDeclLine).(int64); ok {
			return int(line)
		}
		var ok bool
		if at, ok = at.d.ref(e, dwarf.AttrAbstractOrigin); !ok {
			break
		}
	}
	return 0
}

var importPath = regexp.MustCompile(`[^][(){},;*&\s]*/`)

// goShort is the name of a Go type with packages as programs write them: without the path.
func goShort(name string) string {
	if !strings.Contains(name, "/") {
		return name
	}
	return importPath.ReplaceAllString(unescapeGo(name), "")
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
