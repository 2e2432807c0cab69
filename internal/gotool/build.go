package gotool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Build describes what to build.
type Build struct {
	What    []string // an import path, or the .go files of a program
	Test    bool     // its test binary; otherwise the program itself
	Flags   []string // the user's build flags
	Overlay Overlay
	// Replace are files of the packages, with contents that take the place of their own.
	Replace map[string][]byte
	// Cache is the directory for binaries. The same build has the same path there, so that a
	// recording of one still refers to an identical file after the next.
	Cache string
}

// BuildError reports that a package does not build. Output is what the go command printed.
type BuildError struct {
	Package string
	Output  string
	Setup   bool // its imports could not be found, so that nothing was built
}

func (e *BuildError) Error() string { return e.Package + " does not build" }

// Build builds a binary and returns its path.
func (t *Tool) Build(ctx context.Context, b Build) (binary string, err error) {
	kind := slices.DeleteFunc(slices.Clone(b.Overlay.Flags), func(f string) bool { return hasFlag([]string{f}, "overlay") })
	key := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{t.Dir, t.Version, fmt.Sprint(b.Test)}, b.What, b.Flags, kind), "\x00")))
	dir := filepath.Join(b.Cache, "go-build", hex.EncodeToString(key[:8]))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("the cache directory cannot be written (%w): set HEDDLE_CACHE to a writable directory", err)
	}
	scratch, err := os.MkdirTemp(dir, "building-")
	if err != nil {
		return "", fmt.Errorf("the cache directory cannot be written (%w): set HEDDLE_CACHE to a writable directory", err)
	}
	defer os.RemoveAll(scratch)
	flags, err := t.mergeFlags(b.Flags, b.Overlay.Flags, b.Replace, scratch)
	if err != nil {
		return "", err
	}
	name := binaryName(b)
	made := filepath.Join(scratch, name)
	args := []string{"build", "-o", made}
	if b.Test {
		args = []string{"test", "-c", "-o", made}
	} else if !hasFlag(b.Flags, "buildvcs") {
		args = append(args, "-buildvcs=false") // a new commit would change the binary
	}
	args = append(args, flags...)
	args = append(args, b.What...)
	cmd := t.command(ctx, b.Overlay.Env, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil {
		_, err = os.Stat(made)
	}
	if err != nil {
		return "", buildError(b, output.String())
	}
	binary = filepath.Join(dir, name)
	return binary, os.Rename(made, binary)
}

// buildError leaves out the lines with which go test ends, which the caller prints.
func buildError(b Build, output string) *BuildError {
	e := &BuildError{Package: strings.Join(b.What, " ")}
	for line := range strings.Lines(output) {
		if b.Test && (line == "FAIL\n" || strings.HasPrefix(line, "FAIL\t")) {
			e.Setup = e.Setup || strings.HasSuffix(line, "[setup failed]\n")
			continue
		}
		e.Output += line
	}
	return e
}

func binaryName(b Build) string {
	name := strings.TrimSuffix(filepath.Base(b.What[0]), ".go")
	if name == "." || name == ".." || name == "/" {
		name = "program"
	}
	if b.Test {
		name += ".test"
	}
	return name
}

func hasFlag(flags []string, name string) bool {
	for _, f := range flags {
		if n, _, _ := cutFlag(f); n == name {
			return true
		}
	}
	return false
}
