package gotool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Package is a package that a pattern names.
type Package struct {
	ImportPath string
	Dir        string
	Name       string // "main" for a program
	Tests      bool   // whether it has test files
	Module     string // path of its module, empty for none
	// Err is why the package cannot be loaded, in go list's words.
	Err string
}

// List returns the packages that patterns name, in the go command's order; without patterns, the
// package in the tool's directory. flags are the user's build flags. A package that cannot be
// loaded is included, with Err.
func (t *Tool) List(ctx context.Context, flags, patterns []string) ([]Package, error) {
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,Name,TestGoFiles,XTestGoFiles,Module,Error"}, flags...)
	args = append(append(args, "--"), patterns...)
	out, err := t.output(ctx, args...)
	if err != nil {
		return nil, err
	}
	var packages []Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir, Name     string
			TestGoFiles, XTestGoFiles []string
			Module                    *struct{ Path string }
			Error                     *struct{ Pos, Err string }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("what go list prints cannot be read: %w", err)
		}
		q := Package{ImportPath: p.ImportPath, Dir: p.Dir, Name: p.Name, Tests: len(p.TestGoFiles)+len(p.XTestGoFiles) > 0}
		if p.Module != nil {
			q.Module = p.Module.Path
		}
		if p.Error != nil {
			q.Err = strings.TrimSpace(p.Error.Err)
			if p.Error.Pos != "" {
				q.Err = p.Error.Pos + ": " + q.Err
			}
		}
		packages = append(packages, q)
	}
	if len(packages) == 0 {
		return nil, fmt.Errorf("%s names no package", strings.Join(patterns, " "))
	}
	return packages, nil
}
