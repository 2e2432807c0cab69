package dwarfinfo

import (
	"debug/dwarf"
	"path/filepath"
	"sort"
	"strings"
)

// unit is one compilation unit. The tree of functions and the line table are read
// apart: variables need only the first.
type unit struct {
	d        *Info
	entry    *dwarf.Entry
	compDir  string
	lang     int64
	addrBase int64
	skeleton *skeleton // the rest is in another file; nil for most
	stub     *unit     // this is that rest, of which stub is the skeleton

	treeLoaded, linesLoaded bool
	funcs                   []*scope // functions with code; kids are what was inlined into them
	index                   []scopeRange
	vars                    []variable
	seqs                    []sequence
	files                   []*dwarf.LineFile
}

// scope is a function, or one inlined call of a function.
type scope struct {
	off      dwarf.Offset
	ranges   [][2]uint64
	inlined  bool
	callFile int
	callLine int
	callCol  int
	kids     []*scope
}

type scopeRange struct {
	lo, hi uint64
	reach  uint64 // highest hi up to here, so that a search backwards knows when to stop
	s      *scope
}

func (s *scope) contains(addr uint64) bool {
	for _, r := range s.ranges {
		if r[0] <= addr && addr < r[1] {
			return true
		}
	}
	return false
}

// sequence is a run of rows of the line table with rising addresses.
type sequence struct {
	lo, hi uint64
	rows   []lineRow
}

type lineRow struct {
	addr uint64
	file *dwarf.LineFile
	line int32
	col  int32
}

// maxDepth bounds the nesting that is followed in a file's entries, damaged ones included.
const maxDepth = 200

// loadTree walks the unit's entries for functions, inlined calls and variables.
func (u *unit) loadTree() {
	if u.treeLoaded {
		return
	}
	u.treeLoaded = true
	r := u.d.data.Reader()
	r.Seek(u.entry.Offset)
	if e, err := r.Next(); e == nil || err != nil || !e.Children {
		return
	}
	u.walk(r, context{}, 0)
	for _, f := range u.funcs {
		for _, rg := range f.ranges {
			u.index = append(u.index, scopeRange{lo: rg[0], hi: rg[1], s: f})
		}
	}
	sort.Slice(u.index, func(i, j int) bool { return u.index[i].lo < u.index[j].lo })
	var reach uint64
	for i := range u.index {
		reach = max(reach, u.index[i].hi)
		u.index[i].reach = reach
	}
}

// context is where in the tree an entry stands.
type context struct {
	fn     *scope // innermost function or inlined call with code, nil outside
	fnOff  dwarf.Offset
	inFunc bool   // within a function, with code or abstract
	scope  string // namespaces, `a::b::`
}

// walk reads the children of the entry just read.
func (u *unit) walk(r *dwarf.Reader, c context, depth int) {
	for {
		e, err := r.Next()
		if e == nil || err != nil || e.Tag == 0 {
			return
		}
		next := c
		if u.lang == langGo && depth == 0 {
			u.d.addGoType(e)
		}
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			next.inFunc, next.fnOff = true, e.Offset
			if c.scope != "" && e.Tag == dwarf.TagSubprogram {
				u.d.scopes[e.Offset] = c.scope
			}
			if s := u.newScope(e); s != nil {
				if s.inlined && c.fn != nil {
					c.fn.kids = append(c.fn.kids, s)
				} else if !s.inlined {
					u.funcs = append(u.funcs, s)
				}
				next.fn = s
			}
		case dwarf.TagVariable:
			u.addVariable(e, c)
		case dwarf.TagNamespace:
			name, _ := e.Val(dwarf.AttrName).(string)
			if name == "" {
				name = "(anonymous namespace)"
			}
			next.scope = c.scope + name + "::"
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
			u.addClass(e, c)
			if c.scope != "" {
				u.d.scopes[e.Offset] = c.scope
			}
			if !c.inFunc {
				r.SkipChildren()
				continue
			}
			// GCC describes the body of a lambda inside its class, inside the function.
		case dwarf.TagLexDwarfBlock, dwarf.TagModule, dwarf.TagCommonDwarfBlock:
		default:
			r.SkipChildren()
			continue
		}
		if !e.Children {
			continue
		}
		if depth > maxDepth {
			r.SkipChildren()
			continue
		}
		u.walk(r, next, depth+1)
	}
}

// newScope is the scope of a function entry, nil if it has no code.
func (u *unit) newScope(e *dwarf.Entry) *scope {
	all, err := u.rangesOf(e)
	if err != nil {
		return nil
	}
	s := &scope{off: e.Offset, inlined: e.Tag == dwarf.TagInlinedSubroutine}
	for _, r := range all {
		if r[0] < r[1] && u.d.inext(r[0]) {
			s.ranges = append(s.ranges, r)
		}
	}
	if len(s.ranges) == 0 {
		return nil
	}
	number := func(a dwarf.Attr) int { n, _ := e.Val(a).(int64); return int(n) }
	s.callFile, s.callLine, s.callCol = number(dwarf.AttrCallFile), number(dwarf.AttrCallLine), number(dwarf.AttrCallColumn)
	return s
}

// scopesAt is the function at addr and the calls inlined there, outermost first.
func (u *unit) scopesAt(addr uint64) []*scope {
	// Nested functions of GNU C and damaged files make ranges overlap: the one that
	// starts last is the innermost.
	i := sort.Search(len(u.index), func(i int) bool { return u.index[i].lo > addr }) - 1
	for i >= 0 && addr >= u.index[i].hi {
		if addr >= u.index[i].reach {
			return nil
		}
		i--
	}
	if i < 0 {
		return nil
	}
	chain := []*scope{u.index[i].s}
	for kids := u.index[i].s.kids; len(kids) > 0; {
		var in *scope
		for _, k := range kids {
			if k.contains(addr) {
				in = k
				break
			}
		}
		if in == nil {
			break
		}
		chain = append(chain, in)
		kids = in.kids
	}
	return chain
}

// loadLines reads the unit's line table.
func (u *unit) loadLines() {
	if u.linesLoaded {
		return
	}
	u.linesLoaded = true
	of := u
	if u.stub != nil {
		of = u.stub
	}
	lr, err := of.d.data.LineReader(of.entry)
	if lr == nil || err != nil {
		return
	}
	var rows []lineRow
	for {
		var e dwarf.LineEntry
		if lr.Next(&e) != nil {
			break
		}
		if e.EndSequence {
			if len(rows) > 0 && rows[0].addr < e.Address && u.d.inext(rows[0].addr) {
				u.seqs = append(u.seqs, sequence{rows[0].addr, e.Address, rows})
			}
			rows = nil
			continue
		}
		// Of rows with one address the last holds; decreasing addresses mean a corrupt table.
		if n := len(rows); n > 0 && rows[n-1].addr >= e.Address {
			if rows[n-1].addr > e.Address {
				continue
			}
			rows = rows[:n-1]
		}
		rows = append(rows, lineRow{e.Address, e.File, int32(e.Line), int32(e.Column)})
	}
	u.files = lr.Files()
	sort.Slice(u.seqs, func(i, j int) bool { return u.seqs[i].lo < u.seqs[j].lo })
}

// lineAt is the source position of addr. Compilers assign line 0 to code
// that belongs to no line; lineAt then returns the nearest line before it that near accepts, if any.
func (u *unit) lineAt(addr uint64, near func(addr uint64) bool) (file string, line, col int) {
	i := sort.Search(len(u.seqs), func(i int) bool { return u.seqs[i].lo > addr }) - 1
	if i < 0 || addr >= u.seqs[i].hi {
		return "", 0, 0
	}
	rows := u.seqs[i].rows
	at := sort.Search(len(rows), func(j int) bool { return rows[j].addr > addr }) - 1
	for j := at; j >= 0 && at-j < 32; j-- {
		if rows[j].line != 0 && (j == at || near(rows[j].addr)) {
			at = j
			break
		}
	}
	r := rows[at]
	return u.path(r.file), int(r.line), int(r.col)
}

// file is the path of file number i of the unit, empty if none exists.
func (u *unit) file(i int) string {
	u.loadLines()
	if i < 0 || i >= len(u.files) {
		return ""
	}
	return u.path(u.files[i])
}

// path is the name of f, joined with the compilation directory where it is relative.
func (u *unit) path(f *dwarf.LineFile) string {
	if f == nil || f.Name == "" {
		return ""
	}
	name := f.Name
	if own := u.d.text(u.entry, dwarf.AttrName); filepath.IsAbs(own) && name == filepath.Join(u.compDir, own) {
		return filepath.Clean(own) // package dwarf joins them though the name is absolute
	}
	if !filepath.IsAbs(name) && u.compDir != "" && !strings.HasPrefix(name, u.compDir+"/") {
		// Up to DWARF 4 the reader has joined them already.
		name = filepath.Join(u.compDir, name)
	}
	return filepath.Clean(name)
}
