package dwarfinfo

import (
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
)

// Kind classifies a type.
type Kind uint8

const (
	Other  Kind = iota // the inside is unknown
	Scalar             // a number, see Type.Encoding
	Pointer
	Enum
	Struct // struct or class
	Union
	Array
)

// Encoding is how the bits of a scalar are to be read.
type Encoding uint8

const (
	Unsigned Encoding = iota
	Signed
	Bool
	Char
	UnsignedChar
	Float
)

// Type is the layout of a variable, as far as naming places in it and printing values
// needs it. Qualifiers and typedefs are looked through.
type Type struct {
	Kind     Kind
	Encoding Encoding // of Scalar and Enum
	Name     string   // of a scalar, enum, struct or union; may be empty
	Scope    string   // namespaces of Name: `std::`
	Size     int64    // bytes; -1 if unknown
	fields   []field
	elem     dieRef  // of an array, or of what a pointer points to
	closure  bool    // the class of a lambda expression
	param    dieRef  // of a class with room for an object: the object's type
	counts   []int64 // of an array: elements per dimension, -1 where open
	stride   int64   // bytes between elements, 0: the element's size
	names    map[int64]string
}

// field is a member of a struct or union, or a base class.
type field struct {
	name string // empty for anonymous members and base classes
	off  int64  // bytes
	bits bool   // a bit-field; off is the first byte that it touches
	size int64  // bytes touched by a bit-field
	base bool
	typ  dieRef
}

// Opaque is an unknown type.
var Opaque = &Type{Size: -1}

// typ reads the type at r; Opaque if it is not available.
func (r dieRef) typ() *Type {
	if r.d == nil {
		return Opaque
	}
	if t, ok := r.d.types[r.off]; ok {
		return t
	}
	r.d.types[r.off] = Opaque // what a type that contains itself, in a damaged file, finds
	t := r.readType()
	r.d.types[r.off] = t
	return t
}

func (r dieRef) readType() *Type {
	d := r.d
	rd := d.data.Reader()
	rd.Seek(r.off)
	e, err := rd.Next()
	if e == nil || err != nil {
		return Opaque
	}
	t := &Type{Name: d.text(e, dwarf.AttrName), Scope: d.scopes[r.off], Size: -1}
	if n, ok := e.Val(dwarf.AttrByteSize).(int64); ok && n >= 0 {
		t.Size = n
	}
	switch e.Tag {
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagAtomicType,
		dwarf.TagRestrictType, dwarf.TagImmutableType, dwarf.TagSharedType, dwarf.TagPackedType:
		to, ok := d.ref(e, dwarf.AttrType)
		if !ok {
			return Opaque
		}
		under := to.typ()
		if t.Name != "" && under.Name == "" && under != Opaque {
			named := *under // the typedef of an unnamed struct is its name
			named.Name = t.Name
			return &named
		}
		return under
	case dwarf.TagBaseType:
		t.Kind = Scalar
		enc, _ := e.Val(dwarf.AttrEncoding).(int64)
		t.Encoding = encodingOf(enc)
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType, dwarf.TagPtrToMemberType:
		t.Kind = Pointer
		t.elem, _ = d.ref(e, dwarf.AttrType)
		if t.Size < 0 {
			t.Size = int64(rd.AddressSize())
		}
	case dwarf.TagEnumerationType:
		t.Kind, t.names = Enum, map[int64]string{}
		if to, ok := d.ref(e, dwarf.AttrType); ok {
			t.Encoding = to.typ().Encoding
		}
		eachChild(rd, e, func(c *dwarf.Entry) bool {
			if v, ok := c.Val(dwarf.AttrConstValue).(int64); ok && c.Tag == dwarf.TagEnumerator {
				if v < 0 {
					t.Encoding = Signed
				}
				if _, dup := t.names[v]; !dup {
					t.names[v] = d.text(c, dwarf.AttrName)
				}
			}
			return false
		})
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		if decl, _ := e.Val(dwarf.AttrDeclaration).(bool); decl {
			if to, ok := d.ref(e, dwarf.AttrSignature); ok {
				return to.typ() // it is in a unit of its own
			}
			return r.complete(t.Name)
		}
		t.Kind = Struct
		if e.Tag == dwarf.TagUnionType {
			t.Kind = Union
		}
		eachChild(rd, e, func(c *dwarf.Entry) bool {
			if f, ok := d.field(c); ok {
				t.fields = append(t.fields, f)
			}
			if c.Tag == dwarf.TagTemplateTypeParameter && room(t.Name) {
				t.param, _ = d.ref(c, dwarf.AttrType)
			}
			if c.Tag == dwarf.TagSubprogram && (t.Name == "" || strings.Contains(t.Name, "<lambda")) && d.text(c, dwarf.AttrName) == "operator()" {
				t.closure = true
			}
			return false
		})
	case dwarf.TagArrayType:
		t.Kind = Array
		t.elem, _ = d.ref(e, dwarf.AttrType)
		if n, ok := e.Val(dwarf.AttrStride).(int64); ok {
			t.stride = n
		}
		eachChild(rd, e, func(c *dwarf.Entry) bool {
			if c.Tag == dwarf.TagSubrangeType {
				t.counts = append(t.counts, countOf(c))
			}
			return false
		})
		if t.Size < 0 {
			t.Size = t.arraySize()
		}
	default:
		return Opaque
	}
	return t
}

// Pointee returns what a pointer points to: Opaque if that is not known, and for void.
func (t *Type) Pointee() *Type {
	if t.Kind != Pointer {
		return Opaque
	}
	return t.elem.typ()
}

// Stored returns the type of the value that a node of a container, or the block that std::make_shared allocates, has
// room for, and where in it. It returns nil for other types.
func (t *Type) Stored() (value *Type, at int64) { return t.stored(0) }

func (t *Type) stored(depth int) (*Type, int64) {
	if t.param.d != nil {
		return t.param.typ(), 0
	}
	for i := range t.fields {
		if f := &t.fields[i]; depth < 4 && !f.bits && (f.base || cxxname.Reserved(f.name)) {
			if v, at := f.typ.typ().stored(depth + 1); v != nil {
				return v, f.off + at
			}
		}
	}
	return nil, 0
}

// room reports whether a class is libstdc++'s for memory in which an object of another type begins and ends its life.
func room(class string) bool {
	return strings.HasPrefix(class, "__aligned_buffer<") || strings.HasPrefix(class, "__aligned_membuf<")
}

// OpenEnded reports whether the type's last member is an array that goes on after the type's size.
func (t *Type) OpenEnded() bool {
	if t.Kind != Struct || len(t.fields) == 0 {
		return false
	}
	last := t.fields[len(t.fields)-1].typ.typ()
	return last.Kind == Array && (last.Size <= 0 || slices.Equal(last.counts, []int64{1}))
}

// complete finds the description of a class that r only names.
func (r dieRef) complete(name string) *Type {
	for d := r.d.top(); d != nil && name != ""; d = d.alt {
		if at, ok := d.class(name); ok {
			return at.typ()
		}
	}
	return Opaque
}

// class returns the complete class named name in any namespace, if only one exists: an entry does
// not record its namespace.
func (d *Info) class(name string) (found dieRef, ok bool) {
	d.walk()
	if at, ok := d.classes[name]; ok {
		return at, true
	}
	for key, at := range d.classes {
		if strings.HasSuffix(key, "::"+name) {
			if ok {
				return dieRef{}, false
			}
			found, ok = at, true
		}
	}
	return found, ok
}

// field reads a member; ok is false for entries that occupy no bytes of the object.
func (d *Info) field(c *dwarf.Entry) (f field, ok bool) {
	switch c.Tag {
	case dwarf.TagMember:
		if ext, _ := c.Val(dwarf.AttrExternal).(bool); ext {
			return f, false // a static member
		}
		if decl, _ := c.Val(dwarf.AttrDeclaration).(bool); decl {
			return f, false
		}
	case dwarf.TagInheritance:
		if v, _ := c.Val(dwarf.AttrVirtuality).(int64); v != 0 {
			return f, false // where a virtual base lies is only known at run time
		}
		f.base = true
	default:
		return f, false
	}
	if !f.base {
		f.name = d.text(c, dwarf.AttrName)
	}
	f.typ, _ = d.ref(c, dwarf.AttrType)
	switch v := c.Val(dwarf.AttrDataMemberLoc).(type) {
	case int64:
		f.off = v
	case []byte: // DWARF 2: DW_OP_plus_uconst n
		if len(v) < 2 || v[0] != opPlusUconst {
			return f, false
		}
		off, _ := binary.Uvarint(v[1:])
		f.off = int64(off)
	}
	if width, isBits := c.Val(dwarf.AttrBitSize).(int64); isBits && width > 0 {
		f.bits = true
		first := f.off * 8
		if at, ok := c.Val(dwarf.AttrDataBitOffset).(int64); ok {
			first += at
		} else if at, ok := c.Val(dwarf.AttrBitOffset).(int64); ok {
			// Up to DWARF 3 bits count from the most significant end of the storage
			// unit, which on a little-endian machine is its far end.
			unit, ok := c.Val(dwarf.AttrByteSize).(int64)
			if !ok {
				unit = f.typ.typ().Size
			}
			first += unit*8 - at - width
		}
		f.off = first / 8
		f.size = (first+width+7)/8 - f.off
	}
	return f, f.off >= 0
}

func encodingOf(e int64) Encoding {
	switch e { // DW_ATE_*
	case 0x02:
		return Bool
	case 0x03, 0x04, 0x0f:
		return Float
	case 0x05, 0x0d:
		return Signed
	case 0x06:
		return Char
	case 0x08, 0x10: // unsigned char, char8_t
		return UnsignedChar
	}
	return Unsigned
}

// countOf is the number of elements of one dimension, -1 if it is open.
func countOf(c *dwarf.Entry) int64 {
	if n, ok := c.Val(dwarf.AttrCount).(int64); ok {
		return n
	}
	if n, ok := c.Val(dwarf.AttrUpperBound).(int64); ok && n >= -1 {
		return n + 1
	}
	return -1
}

// step is the distance between elements in bytes, 0 if unknown.
func (t *Type) step() int64 {
	if t.stride > 0 {
		return t.stride
	}
	return max(0, t.elem.typ().Size)
}

func (t *Type) arraySize() int64 {
	n := t.step()
	if n == 0 || len(t.counts) == 0 {
		return -1
	}
	for _, c := range t.counts {
		if c < 0 || n > 1<<46/max(c, 1) {
			return -1
		}
		n *= c
	}
	return n
}
