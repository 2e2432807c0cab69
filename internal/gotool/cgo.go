package gotool

import (
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

// UsesCgo returns the packages outside of the standard library that use cgo, of those that a binary consists of; none if
// packages may not use it. A package that cannot be loaded is left out: the build reports it.
func (t *Tool) UsesCgo(ctx context.Context, b Build) ([]string, error) {
	if !t.Cgo {
		return nil, nil
	}
	args := []string{"list", "-e", "-deps", "-f", "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}"}
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
		return nil, err
	}
	var packages []string
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ") // of a test's variant of a package, too
		packages = append(packages, name)
	}
	slices.Sort(packages)
	return slices.Compact(packages), nil
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
