package dwarfinfo

import (
	"debug/dwarf"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/goname"
)

// langGo is DW_LANG_Go.
const langGo = 0x16

// attrGoRuntimeType is DW_AT_go_runtime_type: where a type's descriptor lies, as an address or
// from the symbol runtime.types on.
const attrGoRuntimeType dwarf.Attr = 0x2904

// addGoType notes the type that e describes.
func (d *Info) addGoType(e *dwarf.Entry) {
	if at, ok := e.Val(attrGoRuntimeType).(uint64); ok && at != 0 {
		if d.goTypes == nil {
			d.goTypes = map[uint64]dieRef{}
		}
		d.goTypes[at] = dieRef{d, e.Offset}
	}
}

// GoType is the type with the descriptor at addr, or at addr from base on, if it has the name that
// Go's runtime knows; Opaque if there is no such type.
func (d *Info) GoType(addr, base uint64, name string) *Type {
	d.walk()
	for _, base := range []uint64{0, base} {
		at, ok := d.goTypes[addr-base]
		if !ok {
			continue
		}
		if e := at.entry(); e != nil && goname.Unqualified(at.d.text(e, dwarf.AttrName)) == goname.Unqualified(name) {
			return at.typ()
		}
	}
	return Opaque
}

// GoMoved is the variable that an allocation of a type by the code at pc, of a source line, is
// for; empty if that is not known. Go's compiler moves variables to the heap that outlive their
// function, and describes them by a pointer with the name &x. It has the line and the type of the
// allocation, and no other variable does.
func (d *Info) GoMoved(pc uint64, line int, typ string) string {
	u := d.unitAt(pc)
	if u == nil || u.lang != langGo {
		return ""
	}
	u.loadTree()
	chain := u.scopesAt(pc)
	if len(chain) == 0 {
		return ""
	}
	in := chain[len(chain)-1]
	e, rd := u.d.entryAt(in.off)
	if e == nil {
		return ""
	}
	names := map[string]bool{}
	u.goMoved(rd, e, line, "*"+goname.Unqualified(typ), names, 0)
	if len(names) != 1 {
		return ""
	}
	_, fn := goname.Split(u.d.nameOf(in.off).linker())
	for name := range names {
		fn += "." + name
	}
	return fn
}

// goMoved collects the variables of a function that were moved to the heap where they are
// declared at line, with a pointer of the type typ, unqualified.
func (u *unit) goMoved(rd *dwarf.Reader, e *dwarf.Entry, line int, typ string, names map[string]bool, depth int) {
	if depth > maxDepth {
		rd.SkipChildren()
		return
	}
	eachChild(rd, e, func(c *dwarf.Entry) bool {
		switch c.Tag {
		case dwarf.TagVariable, dwarf.TagFormalParameter:
			about := u.d.nameOf(c.Offset)
			name, moved := strings.CutPrefix(about.name, "&")
			if !moved || about.typ.d == nil || u.declLine(c) != line {
				break
			}
			if p := about.typ.entry(); p != nil && goname.Unqualified(about.typ.d.text(p, dwarf.AttrName)) == typ {
				names[name] = true
			}
		case dwarf.TagLexDwarfBlock:
			u.goMoved(rd, c, line, typ, names, depth+1)
			return true
		}
		return false
	})
}

// declLine is the line that a variable is declared at, which Go's compiler records without the file.
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
