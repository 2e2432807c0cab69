package dwarfinfo

import (
	"debug/dwarf"
	"iter"
	"slices"
	"sort"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
)

// Info is the DWARF of one module. It reads units on first use, and is not safe for concurrent use.
type Info struct {
	im    *Sections // holds the debug sections
	data  *dwarf.Data
	alt   *Info // entries shared by dwz, or nil
	inext func(addr uint64) bool
	units []*unit
	// ranges maps code to units; built once.
	ranges []unitRange
	names  map[dwarf.Offset]dieName
	scopes map[dwarf.Offset]string // namespaces of functions and classes, `a::b::`
	types  map[dwarf.Offset]*Type
	// Variables and complete class types, from all units; see walk.
	walked  bool
	vars    []variable
	classes map[string]dieRef
	goTypes map[uint64]dieRef // by address of the type descriptor, see attrGoRuntimeType

	modulePath   string
	basePointers map[uint64]bool // by function, see unit.basePointer
	// Of what is in a file of its own: see split.go and typeunit.go. root and part are nil
	// for the module itself, which has the rest.
	root       *Info
	part       *dwoPart
	signatures map[uint64]dieRef
	missing    []error // why files are missing
	packed     *dwo
	packOpened bool
}

func newDebug(im *Sections, data *dwarf.Data, inext func(uint64) bool) *Info {
	return &Info{
		im: im, data: data, inext: inext,
		names: map[dwarf.Offset]dieName{}, scopes: map[dwarf.Offset]string{}, types: map[dwarf.Offset]*Type{},
	}
}

type unitRange struct {
	lo, hi uint64
	u      *unit
}

// New reads the list of compilation units of im. Executable segments come from main, the module
// itself, because a separate debug file may leave them empty. alt is the file to which dwz moved
// common entries, or nil.
func New(im *Sections, main *elffile.File, alt *Sections) *Info {
	d := newDebug(im, im.Data, main.InText)
	d.modulePath = main.Path
	d.basePointers, d.classes, d.signatures = map[uint64]bool{}, map[string]dieRef{}, map[uint64]dieRef{}
	for sig, off := range im.signatures {
		d.addSignature(sig, dieRef{d, off})
	}
	if im.types != nil {
		typesInfo(d, im.abbrev, im.types, im.str) // damaged, its types are opaque
	}
	if alt != nil && alt.Data != nil {
		d.alt = New(alt, main, nil)
	}
	r := d.data.Reader()
	for {
		e, err := r.Next()
		if e == nil || err != nil {
			break
		}
		if e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagPartialUnit || e.Tag == dwarf.TagSkeletonUnit {
			d.addUnit(e)
		}
		r.SkipChildren()
	}
	sort.Slice(d.ranges, func(i, j int) bool { return d.ranges[i].lo < d.ranges[j].lo })
	return d
}

func (d *Info) addUnit(e *dwarf.Entry) {
	u := &unit{d: d, entry: e}
	u.compDir, _ = e.Val(dwarf.AttrCompDir).(string)
	if lang, ok := e.Val(dwarf.AttrLanguage).(int64); ok {
		u.lang = lang
	}
	u.addrBase, _ = e.Val(dwarf.AttrAddrBase).(int64)
	u.skeleton = u.newSkeleton()
	d.units = append(d.units, u)
	ranges, err := d.data.Ranges(e)
	if err != nil {
		return
	}
	if len(ranges) == 0 && e.Children && e.Val(dwarf.AttrStmtList) != nil {
		// The producer gave no ranges for the unit; use those of its functions.
		u.loadTree()
		for _, f := range u.funcs {
			ranges = append(ranges, f.ranges...)
		}
	}
	for _, r := range ranges {
		if r[0] < r[1] && d.inext(r[0]) {
			d.ranges = append(d.ranges, unitRange{r[0], r[1], u})
		}
	}
}

// unitAt returns the compilation unit whose code contains addr, or nil. For a split unit it belongs
// to another Info.
func (d *Info) unitAt(addr uint64) *unit {
	// Ranges of different units do not overlap, except in damaged files, where any answer will do.
	i := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i].lo > addr }) - 1
	if i < 0 || addr >= d.ranges[i].hi {
		return nil
	}
	return d.ranges[i].u.full()
}

// Frames returns the frames at addr, innermost first, or nil if the debug information does not
// cover it.
func (d *Info) Frames(addr uint64) []Frame {
	u := d.unitAt(addr)
	if u == nil {
		return nil
	}
	u.loadTree()
	u.loadLines()
	chain := u.scopesAt(addr)
	file, line, col := u.lineAt(addr, func(before uint64) bool {
		return slices.Equal(u.scopesAt(before), chain)
	})
	if len(chain) == 0 {
		if file == "" {
			return nil
		}
		return []Frame{{File: file, Line: line, Column: col}}
	}
	out := make([]Frame, 0, len(chain))
	for i := len(chain) - 1; i >= 0; i-- {
		s := chain[i]
		n := u.d.nameOf(s.off)
		f := Frame{Func: n.display(), Linkage: n.linker(), File: file, Line: line, Column: col, Inlined: s.inlined}
		if u.lang == langGo {
			f.Func = goname.Readable(f.Linkage)
		}
		declared := n.file
		if n.line > 0 {
			f.Begins = n.line
		} else if !s.inlined { // code that the compiler outlined
			declared, f.Begins, _ = u.lineAt(s.ranges[0][0], func(uint64) bool { return false })
		}
		if declared != "" && declared != file {
			f.Begins = 0
		}
		out = append(out, f)
		file, line, col = u.file(s.callFile), s.callLine, s.callCol
	}
	return out
}

// unitOf returns the compilation unit that contains the entry at off, or nil.
func (d *Info) unitOf(off dwarf.Offset) *unit {
	i := sort.Search(len(d.units), func(i int) bool { return d.units[i].entry.Offset > off }) - 1
	if i < 0 {
		return nil
	}
	return d.units[i]
}

// Declared returns where the function at addr is declared; line is 0 if unknown.
func (d *Info) Declared(addr uint64) (file string, line int) {
	u := d.unitAt(addr)
	if u == nil {
		return "", 0
	}
	u.loadTree()
	chain := u.scopesAt(addr)
	if len(chain) == 0 {
		return "", 0
	}
	n := u.d.nameOf(chain[0].off)
	return n.file, n.line
}

// Entry returns the address of the first instruction of the function at addr, or 0 if unknown.
func (d *Info) Entry(addr uint64) uint64 {
	if u := d.unitAt(addr); u != nil {
		u.loadTree()
		if chain := u.scopesAt(addr); len(chain) > 0 {
			return chain[0].ranges[0][0]
		}
	}
	return 0
}

// Files yields the source files listed in the line tables.
func (d *Info) Files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, u := range d.units {
			u.loadLines()
			for _, f := range u.files {
				if p := u.path(f); p != "" && !yield(p) {
					return
				}
			}
		}
	}
}

// Missing returns why parts of the debug information stored in separate files are missing.
func (d *Info) Missing() []error { return d.missing }
