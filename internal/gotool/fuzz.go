package gotool

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Fuzz describes a run of Go's own fuzzer, without heddle.
type Fuzz struct {
	What         []string // the package
	Target       string
	Flags        []string // the user's build flags
	Args         []string // of the test binary
	Time         string   // -fuzztime
	MinimizeTime string   // -fuzzminimizetime; empty for the fuzzer's own
}

// FuzzCache returns the directory in which Go's fuzzer keeps the inputs that it found for a target, one a file.
func (t *Tool) FuzzCache(importPath, target string) string {
	return filepath.Join(t.Cache, "fuzz", filepath.FromSlash(importPath), target)
}

// Fuzz runs Go's own fuzzer, which adds inputs to its cache, and one that fails to the package's testdata. It returns
// nil if an input fails.
func (t *Tool) Fuzz(ctx context.Context, f Fuzz) error {
	args := []string{"test", "-run=^$", "-fuzz=" + Only(f.Target), "-fuzztime=" + f.Time}
	if f.MinimizeTime != "" {
		args = append(args, "-fuzzminimizetime="+f.MinimizeTime)
	}
	args = slices.Concat(args, f.Flags, f.What)
	if len(f.Args) > 0 {
		args = append(append(args, "-args"), f.Args...)
	}
	cmd := t.command(ctx, nil, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !strings.Contains(output.String(), "Failing input written to"):
		return fmt.Errorf("go test -fuzz failed (%w)%s", err, said(output.String()))
	}
	return nil
}
