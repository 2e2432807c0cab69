package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/goprog"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
)

// goWords takes the words of a Go program apart: the package or .go files, as for go run,
// and its arguments. what is empty if the words do not name Go source: a directory,
// .go files, or an import path. Files are looked for from dir.
func goWords(dir string, words []string) (what, args []string) {
	stat := func(name string) (os.FileInfo, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return os.Stat(name)
	}
	for i, w := range words {
		if !strings.HasSuffix(w, ".go") {
			break
		}
		if info, err := stat(w); err != nil || !info.Mode().IsRegular() {
			break
		}
		what, args = words[:i+1], words[i+1:]
	}
	if len(what) > 0 || len(words) == 0 {
		return what, args
	}
	first := words[0]
	info, err := stat(first)
	switch {
	case err == nil && info.IsDir():
		if !filepath.IsAbs(first) && !strings.HasPrefix(first, ".") {
			first = "./" + first // the go command would look for an import path
		}
		return []string{first}, words[1:]
	case err != nil && strings.Contains(first, "/") && !strings.HasPrefix(first, "/") && !strings.HasPrefix(first, "."):
		return []string{first}, words[1:]
	}
	return nil, words
}

// startGo builds a program from Go source and makes it ready.
func (a *app) startGo(what, args []string, dir string, f programFlags) (target.Target, error) {
	stdin, err := f.read()
	if err != nil {
		return nil, err
	}
	if err := checkPackages(what); err != nil {
		return nil, err
	}
	b, err := a.goBuilder(dir, patch.Options{})
	if err != nil {
		return nil, err
	}
	packages, err := b.tool.List(a.ctx, nil, what)
	if err != nil {
		return nil, err
	}
	switch p := packages[0]; {
	case len(packages) > 1:
		return nil, fmt.Errorf("%s names %d packages: name one program", strings.Join(what, " "), len(packages))
	case p.Err != "":
		return nil, fmt.Errorf("%s cannot be built: %s", p.ImportPath, p.Err)
	case p.Name != "main":
		return nil, fmt.Errorf("%s is package %s and no program: its tests can be run with heddle test", p.ImportPath, p.Name)
	}
	binary, err := b.build(a.ctx, false, &goFlags{}, what)
	if err != nil {
		return nil, a.buildFailed(err)
	}
	words := append([]string{binary}, args...)
	t, err := goPrograms.start(a.ctx, a.bounded(goprog.Config{Path: binary, Args: words, Dir: dir, Stdin: stdin, Watchdog: f.Watchdog}))
	if err != nil {
		return nil, err
	}
	return &built{t, append(append([]string{"heddle", "find", "--"}, what...), args...), dir, a.sign}, nil
}

// isGo reports whether an executable was built by Go.
func isGo(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = buildinfo.Read(f)
	return err == nil
}
