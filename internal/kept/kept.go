// Package kept stores findings in files: those of heddle test in the package under test, or any in a
// corpus.
package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Dir is the directory in a package for its findings. The go command, go vet and go:embed of a
// directory skip names that begin with an underscore, as they skip those that begin with a dot; but
// a dot also hides a file from people, from the default of actions/upload-artifact, and from Git if
// the user ignores such names. Dir must not be in testdata, which some packages' tests walk.
const Dir = "_heddle"

// OldDir is where earlier versions stored findings, in the package.
var OldDir = filepath.Join("testdata", "heddle")

// Findings are the findings of one test, in files of the package:
// _heddle/TestName/0123456789abcdef.hdl. The directories of a subtest are below those of its test.
type Findings struct {
	dir      string
	old      string // of earlier versions; empty in a corpus, like the others
	fallback string // used if the package is read-only, as in the module cache
	pkg      string // the package's directory
}

// Of returns the findings of a test, whose full name has slashes for a subtest, in the package with
// that directory and import path. If the directory is read-only, findings go to the cache
// directory.
func Of(cache, dir, importPath, test string) Findings {
	name := escaped(test)
	return Findings{
		dir:      filepath.Join(dir, Dir, name),
		old:      filepath.Join(dir, OldDir, name),
		fallback: filepath.Join(cache, "findings", filepath.FromSlash(url.PathEscape(importPath)), name),
		pkg:      dir,
	}
}

// escaped returns the path of a name that has slashes. It leads nowhere else.
func escaped(name string) string {
	levels := strings.Split(name, "/")
	for i, l := range levels {
		levels[i] = url.PathEscape(l)
		if l == "." || l == ".." {
			levels[i] = "%2E" + l[1:]
		}
	}
	return filepath.Join(levels...)
}

// In returns the findings of a program in a corpus, the directory dir, by the program's name; of a Go
// test, by its package's import path and its full name.
func In(dir string, name ...string) Findings {
	words := []string{dir}
	for _, n := range name {
		words = append(words, escaped(n))
	}
	return Findings{dir: filepath.Join(words...)}
}

// Files returns the names of the stored traces, without executions that explain has written beside them. One that is in two places
// counts once.
func (k Findings) Files() (names []string) {
	met := map[string]bool{}
	for _, dir := range []string{k.dir, k.old, k.fallback} {
		if dir == "" {
			continue
		}
		// The directory's name may have characters that are special in a pattern.
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".hdl") && !tracefile.IsPassing(e.Name()) && !met[e.Name()] {
				met[e.Name()] = true
				names = append(names, filepath.Join(dir, e.Name()))
			}
		}
	}
	return names
}

// given returns what tells the executions of a program apart: its arguments, input and omitted calls.
// It is empty for tests, which have directories of their own.
func given(h *trace.Header) string {
	var words []string
	switch {
	case h.Recipe != nil && h.Recipe.Kind == trace.RecipeProgram:
		words = slices.Concat(h.Recipe.Packages, h.Recipe.Args)
	case h.Recipe == nil && len(h.Command) > 1:
		words = h.Command[1:]
	}
	if len(words) == 0 && len(h.Stdin) == 0 && len(h.Omit) == 0 {
		return ""
	}
	return fmt.Sprintf("%q %q %q", words, h.Stdin, h.Omit)
}

// Keep writes a finding and returns its file. The same schedule of a program with the same arguments
// and input has the same name. Findings that earlier versions stored elsewhere in the package are moved too; note says so.
func (k Findings) Keep(tr *trace.Trace) (name, note string, err error) {
	sum := sha256.Sum256([]byte(tr.Ending.Kind.String() + schedule.Format(schedule.ScriptOf(tr), tr.Threads) + given(&tr.Header)))
	base := hex.EncodeToString(sum[:8]) + ".hdl"
	var first error
	for _, dir := range []string{k.dir, k.fallback} {
		if dir == "" {
			continue
		}
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = tracefile.Write(filepath.Join(dir, base), tr)
		}
		if err == nil {
			if dir == k.dir && k.pkg != "" {
				note = moveKept(k.pkg)
			}
			return filepath.Join(dir, base), note, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", "", fmt.Errorf("the finding cannot be kept: %w", first)
}
