package patch

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/testing/need"
)

// eachRelease runs f for the sources of each release.
func eachRelease(t *testing.T, f func(t *testing.T, goroot string)) {
	for _, release := range need.GoReleases {
		t.Run(release, func(t *testing.T) { f(t, goroot(t, release)) })
	}
}

// goroot returns the directory of a release.
func goroot(t *testing.T, release string) string {
	t.Helper()
	t.Setenv("GOTOOLCHAIN", need.GoRelease(t, release))
	tool, err := gotool.Find(t.Context(), "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tool.Root
}

var builds = map[string]Options{"plain": {}, "sanitizer": {Sanitizer: true}}

// Every edit finds its place in every release, and the files that are edited still parse. Each edit that does not fit a
// release is named.
func TestCheck(t *testing.T) {
	eachRelease(t, func(t *testing.T, goroot string) {
		_, said := placed(goroot, (Options{Sanitizer: true}).edits()) // those of the other build, too
		for _, s := range said {
			t.Error(s)
		}
		for name, opts := range builds {
			if err := Check(goroot, opts); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// placed returns the edits that find their place, and a line for each of the others.
func placed(goroot string, edits []edit) (fit []edit, said []string) {
	for _, e := range edits {
		file, src, err := source(goroot, e.file)
		if err != nil {
			said = append(said, fmt.Sprintf("%s is missing, and with it %s, for %q", file, cmp.Or(e.fn, e.anchor), e.code))
			continue
		}
		there := e
		there.file = file
		if _, err = apply(file, withImport(file, src), []edit{there}); err != nil {
			said = append(said, fmt.Sprintf("%v, for %q", err, e.code))
			continue
		}
		fit = append(fit, e)
	}
	return fit, said
}

// A source that lacks the anchor of one edit gives an error that names the file, the
// function and the anchor.
func TestDamaged(t *testing.T) {
	eachRelease(t, func(t *testing.T, goroot string) {
		for _, e := range (Options{Sanitizer: true}).edits() {
			var src []byte
			var err error
			if e.file, src, err = source(goroot, e.file); err != nil {
				t.Fatal(err)
			}
			for what, broken := range damage(t, &e, src) {
				if slices.Equal(broken, src) {
					t.Fatalf("%+v: %s: not damaged", e, what)
				}
				_, err := apply(e.file, broken, []edit{e})
				var anchor *AnchorError
				if !errors.As(err, &anchor) {
					t.Errorf("%s in %s, %q: %s: the error is %v", e.fn, e.file, e.anchor, what, err)
					continue
				}
				said := err.Error()
				names := []string{e.file, e.fn}
				if what == "anchor" {
					names = append(names, strconv.Quote(e.anchor))
				}
				for _, name := range names {
					if !strings.Contains(said, name) || strings.Contains(said, "\n") {
						t.Errorf("%s in %s, %q: %s: the error does not name %s: %s", e.fn, e.file, e.anchor, what, name, said)
					}
				}
			}
		}
	})
}

// damage removes the anchor of an edit: the function, or type, and the anchor in it.
func damage(t *testing.T, e *edit, src []byte) map[string][]byte {
	t.Helper()
	if strings.HasSuffix(e.file, ".s") {
		name := strings.TrimSuffix(e.fn, "*")
		return map[string][]byte{"function": []byte(strings.ReplaceAll(string(src), "TEXT\t"+name, "TEXT\tnot"+name))}
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, e.file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	offset := fset.File(f.Pos()).Offset
	out := map[string][]byte{}
	// replace puts text into the place of each node.
	replace := func(what, text string, nodes ...ast.Node) {
		b := slices.Clone(src)
		slices.SortFunc(nodes, func(x, y ast.Node) int { return int(y.Pos() - x.Pos()) })
		for _, n := range nodes {
			b = slices.Concat(b[:offset(n.Pos())], []byte(text), b[offset(n.End()):])
		}
		out[what] = b
	}
	var found []ast.Node
	switch e.at {
	case someCalls:
		return nil // nothing that must be there
	case calls:
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if id, ok := c.Fun.(*ast.Ident); ok && id.Name == e.anchor {
					found = append(found, id)
				}
			}
			return true
		})
		replace("anchor", "another", found...)
		return out
	case field:
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Name.Name == e.fn {
				found = append(found, s.Name)
			}
			return true
		})
		replace("type", "another", found...)
		return out
	}
	fn := function(f, e.fn)
	replace("function", "another", fn.Name)
	if e.at == gone {
		replace("declared with a body", textOf(src, offset, fn)+" {}", fn)
		return out
	}
	if e.anchor != "" {
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			s, ok := n.(ast.Stmt)
			if !ok {
				return true
			}
			if _, block := n.(*ast.BlockStmt); !block && strings.HasPrefix(strings.Join(strings.Fields(textOf(src, offset, n)), " "), e.anchor) {
				found = append(found, s)
				return false
			}
			return true
		})
		replace("anchor", "{}", found...)
	}
	return out
}

func textOf(src []byte, offset func(token.Pos) int, n ast.Node) string {
	return string(src[offset(n.Pos()):offset(n.End())])
}

// A file that does not exist is named, and so is one that does not parse.
func TestIncomplete(t *testing.T) {
	root := t.TempDir()
	for _, opts := range builds {
		err := Check(root, opts)
		var unsupported *UnsupportedError
		if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), root) || !strings.Contains(err.Error(), "its sources are not complete") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
	}
}

// A release that is too old or too new is refused in one sentence that says what is known.
func TestUnsupported(t *testing.T) {
	root := t.TempDir()
	for _, e := range (Options{Sanitizer: true}).edits() {
		name := filepath.Join(root, "src", e.file)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("package "+filepath.Base(filepath.Dir(name))+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	err := Check(root, Options{})
	want := "heddle cannot be put into the Go installation at " + root + ": runtime/runtime2.go has no g; it knows " + gotool.Releases
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// heddle has just those functions of sync/atomic that the race detector's assembly has, and
// those that the runtime has in Go in terms of others.
func TestAtomics(t *testing.T) {
	eachRelease(t, func(t *testing.T, goroot string) {
		for _, said := range otherAtomics(t, goroot) {
			t.Error(said)
		}
	})
}

// otherAtomics returns a line for each function of sync/atomic that only heddle or only the release has.
func otherAtomics(t *testing.T, goroot string) (said []string) {
	t.Helper()
	b, err := fs.ReadFile(hooks, "runtime/heddle_atomic.go")
	if err != nil {
		t.Fatal(err)
	}
	ours := names(regexp.MustCompile(`(?m)^//go:linkname hd_\w+ sync/atomic\.(\w+)$`), b)
	for _, arch := range []string{"amd64", "arm64"} {
		file := "runtime/race_" + arch + ".s"
		src, err := os.ReadFile(filepath.Join(goroot, "src", file))
		if err != nil {
			t.Fatal(err)
		}
		theirs := names(regexp.MustCompile(`(?m)^TEXT\s+sync∕atomic·(\w+)`), src)
		for _, name := range ours {
			if !slices.Contains(theirs, name) {
				said = append(said, fmt.Sprintf("%s has no sync/atomic.%s, for runtime/go/runtime/heddle_atomic.go", file, name))
			}
		}
		for _, name := range theirs {
			if !slices.Contains(ours, name) {
				said = append(said, fmt.Sprintf("%s has sync/atomic.%s, and runtime/go/runtime/heddle_atomic.go does not", file, name))
			}
		}
	}
	return said
}

func names(expr *regexp.Regexp, src []byte) []string {
	set := map[string]bool{}
	for _, m := range expr.FindAllSubmatch(src, -1) {
		set[string(m[1])] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// Lines keep their numbers, or reports would name wrong places in Go's own files.
func TestLines(t *testing.T) {
	eachRelease(t, func(t *testing.T, goroot string) {
		byFile := map[string][]edit{}
		for _, e := range (Options{Sanitizer: true}).edits() {
			byFile[e.file] = append(byFile[e.file], e)
		}
		for file, edits := range byFile {
			file, src, err := source(goroot, file)
			if err != nil {
				t.Fatal(err)
			}
			out, err := apply(file, withImport(file, src), edits)
			if err != nil {
				t.Fatal(err)
			}
			marks := regexp.MustCompile(`^(func [^{]*|TEXT\s+[^,(<]*)`)
			at := map[string][]int{} // there may be several func init()
			for n, line := range strings.Split(string(src), "\n") {
				if m := marks.FindString(line); m != "" {
					at[m] = append(at[m], n)
				}
			}
			seen := 0
			for n, line := range strings.Split(string(out), "\n") {
				m := marks.FindString(line)
				was, ok := at[m]
				if !ok {
					continue
				}
				seen++
				if !slices.Contains(was, n) {
					t.Errorf("%s: %q was in line %d and is in line %d", file, m, was[0]+1, n+1)
				}
			}
			if seen == 0 {
				t.Errorf("%s: nothing is left of it", file)
			}
		}
	})
}

const small = `package p

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestSmall(t *testing.T) {
	var wg sync.WaitGroup
	var m sync.Mutex
	var a atomic.Int64
	n := 0
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m.Lock()
			n++
			m.Unlock()
			a.Add(1)
		}()
	}
	wg.Wait()
	if n != 4 || a.Load() != 4 {
		t.Errorf("%d and %d, want 4", n, a.Load())
	}
}
`

// The build without Go's race detector also compiles for linux/arm64, and with make whole vet finds nothing
// in heddle's files. Where there is an emulator the test runs there, without a controller.
func TestArm64(t *testing.T) {
	if testing.Short() {
		t.Skip("short: compiles the standard library for another machine")
	}
	tool, err := gotool.Find(t.Context(), "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := tool.Settle(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	o, err := Make(t.Context(), tool.Root, dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.24\n", "p_test.go": small} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "GOARCH=arm64", "GOFLAGS=", "GOWORK=off"), o.Env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	binary := filepath.Join(dir, "p.test")
	run(tool.Path, slices.Concat([]string{"test", "-c", "-o", binary}, o.Flags, []string{"."})...)
	if need.Whole() {
		// Go's own vet of the runtime leaves unsafe pointers out, too.
		run(tool.Path, slices.Concat([]string{"vet", "-unsafeptr=false"}, o.Flags, []string{"runtime", "sync", "testing"})...)
	}
	for _, emulator := range []string{"qemu-aarch64-static", "qemu-aarch64"} {
		if path, err := exec.LookPath(emulator); err == nil {
			run(path, binary, "-test.count=20")
			return
		}
	}
	t.Log("no qemu-aarch64: the test was built and not run")
}

// A file that links to the runtime's clock gets heddle's instead, on the same lines; others are as they were.
func TestRelink(t *testing.T) {
	t.Parallel()
	got := Relink(map[string][]byte{
		"a.go": []byte("package a\n\n//go:linkname now time.now\nfunc now() (int64, int32, int64)\n//go:linkname\tnano\truntime.nanotime \r\n//go:linkname x runtime.procPin\n"),
		"b.go": []byte("package b\n\n//go:linkname mine\n// see time.now\n//go:linkname now time.nowhere\n"),
	})
	want := "package a\n\n//go:linkname now runtime.hdProgramNow\nfunc now() (int64, int32, int64)\n//go:linkname\tnano\truntime.hdProgramNanotime \r\n//go:linkname x runtime.procPin\n"
	if len(got) != 1 || string(got["a.go"]) != want {
		t.Errorf("%q", got)
	}
	for _, to := range linked {
		name := strings.TrimPrefix(to, "runtime.")
		if b, err := fs.ReadFile(hooks, "runtime/heddle_clock.go"); err != nil || !strings.Contains(string(b), "\n//go:linkname "+name+"\nfunc "+name+"(") {
			t.Errorf("%s is not there to be linked to (%v)", to, err)
		}
	}
}
