package dwarfinfo

import (
	"bytes"
	"debug/dwarf"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
)

// dieRef names an entry; a reference may lead into the file that dwz made.
type dieRef struct {
	d   *Info
	off dwarf.Offset
}

// ref is where attribute a of e points to; ok is false if it has none that can be
// followed.
func (d *Info) ref(e *dwarf.Entry, a dwarf.Attr) (r dieRef, ok bool) {
	f := e.AttrField(a)
	if f == nil {
		return dieRef{}, false
	}
	switch v := f.Val.(type) {
	case dwarf.Offset:
		return dieRef{d, v}, true
	case uint64:
		if f.Class == dwarf.ClassReferenceSig {
			return d.signature(v)
		}
	case int64:
		if f.Class == dwarf.ClassReferenceAlt && d.alt != nil {
			return dieRef{d.alt, dwarf.Offset(v)}, true
		}
	}
	return dieRef{}, false
}

// text is the string attribute a of e, empty if it has none.
func (d *Info) text(e *dwarf.Entry, a dwarf.Attr) string {
	f := e.AttrField(a)
	if f == nil {
		return ""
	}
	switch v := f.Val.(type) {
	case string:
		return v
	case int64:
		if f.Class == dwarf.ClassStringAlt && d.alt != nil && v >= 0 && v < int64(len(d.alt.im.str)) {
			s, _, _ := bytes.Cut(d.alt.im.str[v:], []byte{0})
			return string(s)
		}
	}
	return ""
}

// entry reads the entry at r, nil if none exists.
func (r dieRef) entry() *dwarf.Entry {
	rd := r.d.data.Reader()
	rd.Seek(r.off)
	e, err := rd.Next()
	if err != nil {
		return nil
	}
	return e
}

// dieName is what an entry is called, and where it was declared.
type dieName struct {
	name, linkage string
	scope         string // namespaces, where no linkage name includes them
	typ           dieRef
	file          string
	line          int
}

func (n dieName) display() string {
	if n.linkage != "" {
		return cxxname.Readable(n.linkage)
	}
	return cxxname.Short(n.scope + n.name)
}

func (n dieName) linker() string {
	if n.linkage != "" {
		return n.linkage
	}
	return n.name
}

// attrMIPSLinkageName is what DWARF 2 and 3 producers use for DW_AT_linkage_name.
const attrMIPSLinkageName dwarf.Attr = 0x2007

// nameOf collects the name of the entry at off along its chain of abstract origins and
// specifications: a concrete entry holds only what the abstract one does not.
func (d *Info) nameOf(off dwarf.Offset) dieName {
	if n, ok := d.names[off]; ok {
		return n
	}
	var n dieName
	at := dieRef{d, off}
	for range 8 { // a longer chain is a ring
		e := at.entry()
		if e == nil {
			break
		}
		if n.name == "" {
			n.name = at.d.text(e, dwarf.AttrName)
		}
		if n.linkage == "" {
			n.linkage = at.d.text(e, dwarf.AttrLinkageName)
		}
		if n.linkage == "" {
			n.linkage = at.d.text(e, attrMIPSLinkageName)
		}
		if n.scope == "" {
			n.scope = at.d.scopes[at.off]
		}
		if n.typ.d == nil {
			n.typ, _ = at.d.ref(e, dwarf.AttrType)
		}
		// GCC gives the definition of a member only what differs from the declaration, most often the line.
		if line, _ := e.Val(dwarf.AttrDeclLine).(int64); n.line == 0 && line > 0 {
			n.line = int(line)
		}
		if file, ok := e.Val(dwarf.AttrDeclFile).(int64); n.file == "" && ok {
			if u := at.d.unitOf(at.off); u != nil {
				n.file = u.file(int(file))
			}
		}
		next, ok := at.d.ref(e, dwarf.AttrAbstractOrigin)
		if !ok {
			next, ok = at.d.ref(e, dwarf.AttrSpecification)
		}
		if !ok {
			break
		}
		at = next
	}
	d.names[off] = n
	return n
}
