package gotool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Sources is what a build's packages outside of the standard library have in their source that heddle has to know first.
type Sources struct {
	Cgo     []string          // the packages that use cgo; none if packages may not use it
	Linkage map[string][]byte // the files that have a go:linkname, and their contents
}

// Sources returns them for a binary. A package that cannot be loaded is left out: the build reports it.
func (t *Tool) Sources(ctx context.Context, b Build) (Sources, error) {
	s := Sources{Linkage: map[string][]byte{}}
	args := []string{"list", "-e", "-deps", "-f",
		"{{if not .Standard}}{{.ImportPath}}\t{{if .CgoFiles}}cgo{{end}}\t{{.Dir}}{{range .GoFiles}}\t{{.}}{{end}}{{range .CgoFiles}}\t{{.}}{{end}}{{end}}"}
	if b.Test {
		args = append(args, "-test")
	}
	for _, f := range b.Flags {
		if !hasFlag([]string{f}, "vet") { // which go list does not know
			args = append(args, f)
		}
	}
	out, err := t.output(ctx, append(append(args, "--"), b.What...)...)
	if err != nil {
		return s, err
	}
	replaced, err := t.replaced(b.Flags)
	if err != nil {
		return s, err
	}
	read := map[string]bool{} // a package and its test's variant have files in common
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 3 {
			continue
		}
		if t.Cgo && fields[1] != "" {
			name, _, _ := strings.Cut(fields[0], " ") // of a test's variant of a package, too
			s.Cgo = append(s.Cgo, name)
		}
		for _, file := range fields[3:] {
			if !filepath.IsAbs(file) { // that of a test's main is
				file = filepath.Join(fields[2], file)
			}
			if read[file] {
				continue
			}
			read[file] = true
			text, err := os.ReadFile(cmp.Or(replaced[file], file))
			if err == nil && bytes.Contains(text, []byte("\n//go:linkname ")) {
				s.Linkage[file] = text
			}
		}
	}
	slices.Sort(s.Cgo)
	s.Cgo = slices.Compact(s.Cgo)
	return s, nil
}

// RaceDetector returns in one sentence why programs cannot be built with Go's own race detector, a
// library that comes with Go and is linked by cgo; nil if they can.
func (t *Tool) RaceDetector(ctx context.Context) error {
	out, err := t.output(ctx, "env", "-json", "CC")
	if err != nil {
		return fmt.Errorf("the go command %s cannot be used here: %w", t.Path, err)
	}
	var env struct{ CC string }
	if err := json.Unmarshal(out, &env); err != nil {
		return fmt.Errorf("%s is not a go command: it does not answer go env -json", t.Path)
	}
	cc, err := SplitQuoted(env.CC)
	if err != nil || len(cc) == 0 {
		return fmt.Errorf("Go's race detector needs a C compiler, and CC is %q: set it to the name of one", env.CC)
	}
	if _, err := exec.LookPath(cc[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("Go's race detector needs a C compiler, and %s cannot be run: install gcc, or name another compiler with CC", cc[0])
	}
	library := filepath.Join(t.Root, "src", "runtime", "race", "internal", "amd64v1", "race_linux.syso")
	if _, err := os.Stat(library); err != nil {
		return fmt.Errorf("the Go installation in %s lacks the library of Go's race detector (%s): install Go from https://go.dev/dl, or name another with --go",
			t.Root, strings.TrimPrefix(library, t.Root+string(filepath.Separator)))
	}
	return nil
}
