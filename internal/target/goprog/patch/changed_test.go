package patch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// TestChanged logs the functions to read before a release counts as supported: those of HEDDLE_GO_RELEASE that heddle edits
// or calls and that are not what they are in the newest known release.
func TestChanged(t *testing.T) {
	if os.Getenv("HEDDLE_GO_RELEASE") == "" {
		t.Skip("HEDDLE_GO_RELEASE names no release to compare")
	}
	known := slices.DeleteFunc(slices.Clone(need.KnownGoReleases), func(r string) bool { return r == need.GoReleases[0] })
	for _, said := range changed(t, goroot(t, known[len(known)-1]), goroot(t, need.GoReleases[0])) {
		t.Log(said)
	}
}

// changed returns a line for each function that heddle edits, or that its hooks call, and that has another body.
func changed(t *testing.T, before, after string) (said []string) {
	t.Helper()
	why := map[string]string{} // package and function → what heddle does with it
	called := calledByHooks(t)
	for _, e := range (Options{Sanitizer: true}).edits() {
		file, _, _ := source(after, e.file)
		if !strings.HasSuffix(file, ".s") && e.fn != "" {
			why[path.Dir(file)+" "+e.fn] = "edits"
		}
	}
	was, is := map[string]string{}, map[string]string{}
	packages := map[string]bool{"runtime": true}
	for name := range why {
		pkg, _, _ := strings.Cut(name, " ")
		packages[pkg] = true
	}
	for pkg := range packages {
		bodies(t, before, pkg, was)
		bodies(t, after, pkg, is)
	}
	for name := range was {
		if pkg, fn, _ := strings.Cut(name, " "); pkg == "runtime" && called[fn] && why[name] == "" {
			why[name] = "calls"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(why)) {
		pkg, fn, _ := strings.Cut(name, " ")
		if was[name] != is[name] {
			what := "has another body"
			if is[name] == "" {
				what = "is gone"
			}
			said = append(said, fmt.Sprintf("%s: %s, which heddle %s, %s", pkg, fn, why[name], what))
		}
	}
	return said
}

// calledByHooks returns the names of what heddle's files in package runtime call.
func calledByHooks(t *testing.T) map[string]bool {
	t.Helper()
	called := map[string]bool{}
	files, err := fs.Glob(hooks, "*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if added[path.Dir(name)] != "runtime" {
			continue
		}
		src, err := fs.ReadFile(hooks, name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok {
					called[id.Name] = true
				}
			}
			return true
		})
	}
	return called
}

// bodies adds the functions of a package, without comments and spaces.
func bodies(t *testing.T, goroot, pkg string, to map[string]string) {
	t.Helper()
	dir := filepath.Join(goroot, "src", filepath.FromSlash(pkg))
	if _, err := os.Stat(dir); err != nil {
		return // a package that this release does not have
	}
	platform := platform(t, goroot)
	built := func(file string) bool {
		match, err := platform.MatchFile(dir, file)
		return match && err == nil
	}
	eachFunction(t, dir, built, func(name string, fn *ast.FuncDecl, _ []byte) {
		var b strings.Builder
		if err := printer.Fprint(&b, token.NewFileSet(), fn.Type); err != nil {
			t.Fatal(err)
		}
		if err := printer.Fprint(&b, token.NewFileSet(), fn.Body); err != nil {
			t.Fatal(err)
		}
		to[pkg+" "+name] += strings.Join(strings.Fields(b.String()), " ")
	})
}
