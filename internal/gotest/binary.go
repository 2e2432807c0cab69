package gotest

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wholefile"
)

var majorVersion = regexp.MustCompile(`^v[1-9]\d*$`)

// binaryName returns how go test -c names the test binary of a package.
func binaryName(importPath string) string {
	name := path.Base(importPath)
	if dir := path.Dir(importPath); majorVersion.MatchString(name) && dir != "." {
		name = path.Base(dir)
	}
	return name + ".test"
}

// outputs returns, by import path, the files in which the test binaries of packages are kept: in the working directory,
// or where -o says.
func (s *suite) outputs(packages []gotool.Package) (map[string]string, error) {
	o := s.options
	if o.Output == "" && !o.Compile {
		return nil, nil
	}
	var tested []gotool.Package
	for _, p := range packages {
		if p.Tests {
			tested = append(tested, p)
		}
	}
	to := o.Output
	if to != "" && !filepath.IsAbs(to) {
		to = filepath.Join(o.Dir, to)
	}
	info, err := os.Stat(to)
	isDir := o.Output == "" || strings.HasSuffix(o.Output, "/") || err == nil && info.IsDir()
	if to == "" {
		to = o.Dir
	}
	if len(tested) > 1 && !isDir && to != os.DevNull {
		return nil, usage.Errorf("-o %s is one file, and %d packages have tests: name a directory", o.Output, len(tested))
	}
	files, by := map[string]string{}, map[string]string{}
	for _, p := range tested {
		name := to
		if isDir {
			name = filepath.Join(to, binaryName(p.ImportPath))
		}
		if by[name] != "" && name != os.DevNull {
			return nil, usage.Errorf("the test binaries of %s and %s have the same name, %s: build them into two directories", by[name], p.ImportPath, filepath.Base(name))
		}
		files[p.ImportPath], by[name] = name, p.ImportPath
	}
	return files, nil
}

// keepBinary copies a test binary.
func keepBinary(binary, to string) error {
	err := os.MkdirAll(filepath.Dir(to), 0o777)
	var in *os.File
	if err == nil {
		in, err = os.Open(binary)
	}
	if err == nil {
		defer in.Close()
		err = wholefile.Write(to, 0o777, func(w io.Writer) error { _, err := io.Copy(w, in); return err })
	}
	if err != nil {
		return fmt.Errorf("the test binary cannot be written: %w", err)
	}
	return nil
}
