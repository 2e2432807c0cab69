package kept

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/wording"
)

// HasOld reports whether a package has findings where earlier versions stored them.
func HasOld(pkg string) bool {
	files, _ := oldKept(pkg)
	return len(files) > 0
}

// oldKept returns the findings of a package that earlier versions stored, and all directories
// there, the inner ones first. Names are relative to the package's directory.
func oldKept(pkg string) (files, dirs []string) {
	root := os.DirFS(pkg)
	_ = fs.WalkDir(root, filepath.ToSlash(OldDir), func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // does not exist, or is not readable
		case e.IsDir():
			dirs = append(dirs, name)
		case e.Type().IsRegular() && strings.HasSuffix(name, ".hdl"):
			files = append(files, name)
		}
		return nil
	})
	slices.Reverse(dirs)
	return files, dirs
}

// moveKept moves a package's findings from where earlier versions stored them, and says so. What
// cannot be moved stays in place and is still read from there.
func moveKept(pkg string) (note string) {
	files, dirs := oldKept(pkg)
	moved := 0
	var first error
	for _, name := range files {
		rel, err := filepath.Rel(filepath.ToSlash(OldDir), name)
		if err == nil {
			err = moveFile(filepath.Join(pkg, name), filepath.Join(pkg, Dir, rel))
		}
		if err == nil {
			moved++
		} else if first == nil {
			first = err
		}
	}
	if moved > 0 {
		note = fmt.Sprintf("%s moved from %s to %s: tests that walk testdata would read them", wording.Count(moved, "kept finding"), OldDir, Dir)
	}
	if first != nil {
		if note != "" {
			note += "; "
		}
		note += fmt.Sprintf("a kept finding stays in %s: %v", OldDir, first)
	}
	// Directories that hold anything else are not removed.
	for _, name := range append(dirs, "testdata") {
		if len(dirs) > 0 {
			_ = os.Remove(filepath.Join(pkg, name))
		}
	}
	return note
}

// moveFile moves a file; it never overwrites one.
func moveFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	err := os.Link(from, to)
	switch {
	case errors.Is(err, fs.ErrExist):
		a, aerr := os.ReadFile(from)
		b, berr := os.ReadFile(to)
		if aerr != nil || berr != nil || !bytes.Equal(a, b) {
			return err
		}
	case err != nil: // a file system without links
		if _, serr := os.Lstat(to); !errors.Is(serr, fs.ErrNotExist) {
			return err
		}
		return os.Rename(from, to)
	}
	return os.Remove(from)
}
