package symbol

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// module is one loaded file of the trace. Its fields are filled in by load.
type module struct {
	trace.Module
	opt    Options
	loaded bool
	debug  *debugInfo // nil without DWARF
	code   symtab
	data   symtab
	golang *goTable
	// goTypesAt is where Go's linker has put the descriptors of types.
	goTypesAt uint64
	err       error // why names are missing or poor, nil if all is well
}

// load finds and reads the files that describe the module. It never fails: what cannot
// be had is said in m.err.
func (m *module) load() {
	if m.loaded {
		return
	}
	m.loaded = true
	main, err := m.open()
	if err != nil {
		m.err = err
		// The recorded build may still be described by an installed debug file.
		main = m.openByID()
		if main == nil {
			return
		}
		m.err = nil
	}
	info := main
	if info.dwarf == nil {
		if sep := m.openSeparate(main); sep != nil {
			info = sep
		}
	}
	if info.dwarf != nil {
		m.debug = newDebugInfo(info, main, m.openAlt(info))
	} else if info.dwarfErr != nil {
		m.err = fmt.Errorf("the debug information of %s cannot be read: %w", info.path, info.dwarfErr)
	}
	symbols := main.symbols
	if info != main {
		symbols = append(symbols[:len(symbols):len(symbols)], info.symbols...)
	}
	m.code, m.data = newSymtabs(symbols)
	if main.pclntab != nil {
		for _, s := range symbols {
			if s.Name == "runtime.types" {
				m.goTypesAt = s.Value
			}
		}
	}
	m.golang = main.pclntab
}

// open reads the module's own file and checks that it is the recorded one.
func (m *module) open() (*image, error) {
	if m.Path == trace.RuntimePath || !strings.HasPrefix(m.Path, "/") && strings.HasPrefix(filepath.Base(m.Path), "linux-vdso") || m.Path == "[vdso]" {
		return nil, errNoFile
	}
	im, err := readImage(m.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no symbols for %s: the file is gone; put the build that was recorded back", m.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("no symbols for %s: %w", m.Path, plainError(err))
	}
	if have, ok := m.matches(im); !ok {
		return nil, fmt.Errorf("symbols do not match: %s has build id %s, the trace was recorded with %s; put that build back, or record again",
			m.Path, shortID(have), shortID(m.BuildID))
	}
	return im, nil
}

// errNoFile is for modules that the kernel maps without a file; nothing is missing.
var errNoFile = errors.New("no file")

// plainError drops the path from a file error: the sentence around it names it.
func plainError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// shaPrefix marks the identity of a program that has no build id (trace.Header.BuildID).
const shaPrefix = "sha256:"

// matches reports whether im is the build that was recorded, and what im is instead.
// A trace that recorded no identity matches everything.
func (m *module) matches(im *image) (have string, ok bool) {
	if want, isHash := strings.CutPrefix(m.BuildID, shaPrefix); isHash {
		sum, err := fileSHA256(im.path)
		return shaPrefix + sum, err != nil || sum == want
	}
	have = im.buildID
	if have == "" {
		have = "none"
	}
	return have, m.BuildID == "" || im.buildID == strings.ToLower(m.BuildID)
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
		if err == nil && im.buildID == id {
			return im
		}
	}
	return nil
}

// openSeparate finds the debug file of a stripped module: by build id, then by the name
// in .gnu_debuglink in the three places where GDB looks.
func (m *module) openSeparate(main *image) *image {
	if im := m.installed(main.buildID); im != nil {
		return im
	}
	if main.link == "" || main.link != filepath.Base(main.link) {
		return nil
	}
	dir := filepath.Dir(main.path)
	if real, err := filepath.EvalSymlinks(main.path); err == nil {
		dir = filepath.Dir(real)
	}
	places := []string{filepath.Join(dir, main.link), filepath.Join(dir, ".debug", main.link)}
	for _, d := range m.opt.debugDirs() {
		places = append(places, filepath.Join(d, dir, main.link))
	}
	for _, p := range places {
		im, err := readImage(p)
		if err != nil || im.dwarf == nil {
			continue
		}
		if main.buildID != "" && im.buildID != "" {
			if main.buildID == im.buildID {
				return im
			}
			continue
		}
		if sum, err := fileCRC32(p); err == nil && sum == main.linkCRC {
			return im
		}
	}
	return nil
}

// openAlt reads the file that dwz moved common entries of info to, nil if none exists.
func (m *module) openAlt(info *image) *image {
	if info.altLink == "" {
		return nil
	}
	p := info.altLink
	if !filepath.IsAbs(p) {
		p = filepath.Join(filepath.Dir(info.path), p)
	}
	im, err := readImage(p)
	if err != nil || im.dwarf == nil || im.buildID != info.altID {
		return m.installed(info.altID)
	}
	return im
}
