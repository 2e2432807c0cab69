// Package patch builds heddle into a Go installation. It makes an overlay (go build -overlay) in
// which some of the installation's own files have insertions that call heddle's; the files on disk
// do not change. heddle ships none of Go's source: it edits the user's own copy. If the anchor text
// of an insertion is not found, the error names it.
package patch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle"
	"github.com/heddle-dev/heddle/internal/gotool"
)

// hooks are heddle's own files (runtime/go).
var hooks = heddle.GoRuntime()

// Options selects the build an overlay is for. Both builds have the same scheduling points, at the
// same instructions of the program.
type Options struct {
	// Sanitizer selects the build with Go's own race detector, ThreadSanitizer, for its reports. It
	// needs cgo and a C compiler, and records only the scheduling decisions and accesses. The other
	// build has the compiler's instrumentation, but only heddle's code behind it.
	Sanitizer bool
	// Cgo lets packages use cgo. Otherwise a build has no C code, and needs no C compiler.
	Cgo bool
}

// edits returns all edits that the build needs.
func (o Options) edits() []edit {
	if o.Sanitizer {
		return slices.Concat(edits, sanitizerEdits)
	}
	return edits
}

// Overlay is how to build a package with heddle in Go's runtime.
type Overlay struct {
	// Flags are for go build and go test: -overlay, -tags and -gcflags or -race. The caller appends
	// its own.
	Flags []string
	Env   []string // environment variables
}

// Make returns the overlay over the Go installation at goroot, creating it in the directory cache
// if it does not exist yet. The error is an *AnchorError, wrapped in an *UnsupportedError, if
// heddle does not know the installation.
func Make(ctx context.Context, goroot, cache string, opts Options) (*Overlay, error) {
	files, err := patched(goroot, opts)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s %d\n", f.name, len(f.data))
		sum.Write(f.data)
	}
	fmt.Fprintln(sum, goroot)
	dir := filepath.Join(cache, "go-"+hex.EncodeToString(sum.Sum(nil)[:10]))
	file := filepath.Join(dir, "overlay.json")
	o := &Overlay{Flags: []string{"-overlay=" + file, "-tags=race", "-gcflags=all=-race"}, Env: []string{"CGO_ENABLED=0"}}
	if opts.Cgo {
		// The standard library is the same as without it.
		o.Flags[1], o.Env = "-tags=race,netgo,osusergo", []string{"CGO_ENABLED=1"}
	}
	if opts.Sanitizer {
		// Only the race detector needs cgo: the library is the same without it.
		o = &Overlay{Flags: []string{"-overlay=" + file, "-tags=netgo,osusergo", "-race"}, Env: []string{"CGO_ENABLED=1"}}
	}
	if _, err := os.Stat(file); err == nil {
		return o, nil
	}
	tmp, err := os.MkdirTemp(cache, "go-")
	if err != nil {
		return nil, fmt.Errorf("cannot make the overlay: %w", err)
	}
	defer os.RemoveAll(tmp)
	replace := map[string]string{}
	for _, f := range files {
		at := filepath.Join(goroot, "src", filepath.FromSlash(f.name))
		if f.data == nil {
			replace[at] = ""
			continue
		}
		name := strings.ReplaceAll(f.name, "/", "_")
		if err := os.WriteFile(filepath.Join(tmp, name), f.data, 0o644); err != nil {
			return nil, fmt.Errorf("cannot write the overlay: %w", err)
		}
		replace[at] = filepath.Join(dir, name)
	}
	b, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(tmp, "overlay.json"), b, 0o644); err != nil {
		return nil, fmt.Errorf("cannot write the overlay: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, again := os.Stat(file); again != nil {
			return nil, fmt.Errorf("cannot put the overlay into its place: %w", err)
		}
	}
	return o, nil
}

// Check reports whether Make would succeed for goroot, without creating an overlay.
func Check(goroot string, opts Options) error {
	_, err := patched(goroot, opts)
	return err
}

// UnsupportedError reports that heddle does not know a Go installation.
type UnsupportedError struct {
	Goroot string
	Err    error
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("heddle cannot be put into the Go installation at %s: %v; it knows %s", e.Goroot, e.Err, gotool.Releases)
}

func (e *UnsupportedError) Unwrap() error { return e.Err }

// patchedFile is a file of the overlay; data is nil if the file is removed.
type patchedFile struct {
	name string // below GOROOT/src
	data []byte
}

func patched(goroot string, opts Options) ([]patchedFile, error) {
	return patchedWith(goroot, opts, opts.edits())
}

func patchedWith(goroot string, opts Options, all []edit) ([]patchedFile, error) {
	var names []string
	byFile := map[string][]edit{}
	for _, e := range all {
		if byFile[e.file] == nil {
			names = append(names, e.file)
		}
		byFile[e.file] = append(byFile[e.file], e)
	}
	var out []patchedFile
	for _, name := range names {
		edits := byFile[name]
		name, src, err := source(goroot, name)
		if err != nil {
			return nil, &UnsupportedError{goroot, fmt.Errorf("its sources are not complete (%w)", err)}
		}
		for i := range edits {
			edits[i].file = name
		}
		b, err := apply(name, withImport(name, src), edits)
		if err != nil {
			return nil, &UnsupportedError{goroot, err}
		}
		out = append(out, patchedFile{name, b})
	}
	err := fs.WalkDir(hooks, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		folder := path.Base(path.Dir(name))
		if folder == "plain" && opts.Sanitizer || folder == "sanitizer" && !opts.Sanitizer {
			return nil
		}
		b, err := fs.ReadFile(hooks, name)
		if err != nil {
			return err
		}
		dir := added[folder]
		// The constraint keeps the files out of this module's own packages.
		b = []byte(strings.Replace(string(b), "//go:build heddle\n", "\n", 1))
		out = append(out, patchedFile{dir + "/" + path.Base(name), b})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !opts.Sanitizer {
		for _, name := range removed {
			out = append(out, patchedFile{name, nil})
		}
	}
	return out, nil
}

// source reads the first of the files named that exists.
func source(goroot, names string) (name string, src []byte, err error) {
	for _, name = range strings.Split(names, "|") {
		src, err = os.ReadFile(filepath.Join(goroot, "src", filepath.FromSlash(name)))
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return name, src, err
}

// withImport adds the import that a file's edits need, on the line of its package clause.
func withImport(name string, src []byte) []byte {
	p := imports[name]
	if p == "" || strings.Contains(string(src), "\t\""+p+"\"\n") {
		return src
	}
	clause := "\npackage " + path.Base(path.Dir(name)) + "\n"
	return []byte(strings.Replace(string(src), clause, strings.TrimSuffix(clause, "\n")+"; import "+`"`+p+`"`+"\n", 1))
}
