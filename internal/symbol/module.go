package symbol

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/dwarfinfo"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
	"github.com/heddle-dev/heddle/trace"
)

// module is one loaded file of the trace. load sets its fields.
type module struct {
	trace.Module
	opt    Options
	loaded bool
	debug  *dwarfinfo.Info // nil without DWARF
	code   elffile.Symtab
	data   elffile.Symtab
	golang *goname.Table
	// constants are the file's read-only data.
	constants []elffile.Constants
	// used are the literals in them that the code uses, once literalsRead.
	used         []literal
	literalsRead bool
	// goTypesAt is the address at which Go's linker put the type descriptors.
	goTypesAt uint64
	err       error // why names are missing or poor, or nil
}

// load finds and reads the files that describe the module. It never fails; m.err reports missing
// information.
func (m *module) load() {
	if m.loaded {
		return
	}
	m.loaded = true
	main, err := m.open()
	if err != nil {
		m.err = err
		// An installed debug file may still describe the recorded build.
		main = m.openByID()
		if main == nil {
			return
		}
		m.err = nil
	}
	info := main
	if info.debug.Data == nil {
		if sep := m.openSeparate(main); sep != nil {
			info = sep
		}
	}
	if info.debug.Data != nil {
		m.debug = dwarfinfo.New(info.debug, main.File, m.openAlt(info))
	} else if info.debug.Err != nil {
		m.err = fmt.Errorf("the debug information of %s cannot be read: %w", info.Path, info.debug.Err)
	}
	symbols := main.Symbols
	if info != main {
		symbols = append(symbols[:len(symbols):len(symbols)], info.Symbols...)
	}
	m.code, m.data = elffile.NewSymtabs(symbols)
	if entries := threadEntry(main.Path, m.code); len(entries) > 0 {
		m.code = m.code.With(entries...)
	}
	if main.pclntab != nil {
		for _, s := range symbols {
			if s.Name == "runtime.types" {
				m.goTypesAt = s.Value
			}
		}
	}
	m.golang = main.pclntab
	m.constants = main.Constants
}

// open reads the module's own file and checks that it is the recorded one.
func (m *module) open() (*image, error) {
	if m.Path == trace.RuntimePath || !strings.HasPrefix(m.Path, "/") && strings.HasPrefix(filepath.Base(m.Path), "linux-vdso") || m.Path == "[vdso]" {
		return nil, errNoFile
	}
	im, err := readImage(m.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no symbols for %s: the file no longer exists; restore the recorded build", m.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("no symbols for %s: %w", m.Path, elffile.Plain(err))
	}
	if have, ok := m.matches(im); !ok {
		return nil, fmt.Errorf("symbols do not match: %s has build id %s, the trace was recorded with %s; restore that build, or record again",
			m.Path, shortID(have), shortID(m.BuildID))
	}
	return im, nil
}

// errNoFile is for modules that the kernel maps without a file; nothing is missing.
var errNoFile = errors.New("no file")

// shaPrefix marks the identity of a program that has no build id (trace.Header.BuildID).
const shaPrefix = "sha256:"

// matches reports whether im is the recorded build, and returns the identity that im has. A module
// recorded without an identity matches everything.
func (m *module) matches(im *image) (have string, ok bool) {
	if want, isHash := strings.CutPrefix(m.BuildID, shaPrefix); isHash {
		sum, err := elffile.SHA256(im.Path)
		return shaPrefix + sum, err != nil || sum == want
	}
	have = im.BuildID
	if have == "" {
		have = "none"
	}
	return have, m.BuildID == "" || im.BuildID == strings.ToLower(m.BuildID)
}

func shortID(id string) string {
	if len(id) > 20 {
		return id[:20] + "…"
	}
	return id
}

// openByID looks for a debug file of the recorded build id.
func (m *module) openByID() *image {
	if id := strings.ToLower(m.BuildID); !strings.HasPrefix(id, shaPrefix) {
		return m.installed(id)
	}
	return nil
}

// installed reads DIR/.build-id/ab/cdef….debug.
func (m *module) installed(id string) *image {
	if len(id) < 3 || strings.ContainsAny(id, "/.") {
		return nil
	}
	for _, dir := range m.opt.debugDirs() {
		im, err := readImage(filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug"))
		if err == nil && im.BuildID == id {
			return im
		}
	}
	return nil
}

// openSeparate finds the debug file of a stripped module: by build id, then by the name
// in .gnu_debuglink in the three places where GDB looks.
func (m *module) openSeparate(main *image) *image {
	if im := m.installed(main.BuildID); im != nil {
		return im
	}
	if main.Link == "" || main.Link != filepath.Base(main.Link) {
		return nil
	}
	dir := filepath.Dir(main.Path)
	if real, err := filepath.EvalSymlinks(main.Path); err == nil {
		dir = filepath.Dir(real)
	}
	places := []string{filepath.Join(dir, main.Link), filepath.Join(dir, ".debug", main.Link)}
	for _, d := range m.opt.debugDirs() {
		places = append(places, filepath.Join(d, dir, main.Link))
	}
	for _, p := range places {
		im, err := readImage(p)
		if err != nil || im.debug.Data == nil {
			continue
		}
		if main.BuildID != "" && im.BuildID != "" {
			if main.BuildID == im.BuildID {
				return im
			}
			continue
		}
		if sum, err := elffile.CRC32(p); err == nil && sum == main.LinkCRC {
			return im
		}
	}
	return nil
}

// openAlt reads the debug information of the file to which dwz moved common entries of info, or
// returns nil.
func (m *module) openAlt(info *image) *dwarfinfo.Sections {
	if info.AltLink == "" {
		return nil
	}
	p := info.AltLink
	if !filepath.IsAbs(p) {
		p = filepath.Join(filepath.Dir(info.Path), p)
	}
	im, err := readImage(p)
	if err != nil || im.debug.Data == nil || im.BuildID != info.AltID {
		if im = m.installed(info.AltID); im == nil {
			return nil
		}
	}
	return im.debug
}

// image is an ELF file with its debug information and symbols.
type image struct {
	*elffile.File
	debug   *dwarfinfo.Sections
	pclntab *goname.Table // nil if not a Go program
}

// readImage reads path. Damaged debug information is not an error, because the symbol tables may
// suffice.
func readImage(path string) (*image, error) {
	im := &image{}
	var err error
	im.File, err = elffile.Read(path, func(e *elf.File) {
		im.debug, im.pclntab = dwarfinfo.ReadSections(path, e), goname.ReadTable(e)
	})
	if err != nil {
		return nil, err
	}
	return im, nil
}
