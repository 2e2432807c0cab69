package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a release no longer has, or has in addition, without a failing edit.

// TestHooksFit type-checks the packages of the overlay: what a hook uses that a release lacks, or has with another
// type, is named with its line, all of it at once. The compiler would stop at the first package.
func TestHooksFit(t *testing.T) {
	eachRelease(t, func(t *testing.T, goroot string) {
		for name, opts := range builds {
			for _, said := range misfits(t, goroot, fitting(t, goroot, opts)) {
				t.Errorf("%s build: %s", name, said)
			}
		}
	})
}

// A name that the runtime does not have is found, and said with the hook that uses it.
func TestHooksFitNames(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(goroot))
	files := fitting(t, root, Options{})
	files = append(files, patchedFile{"runtime/heddle_other.go", []byte("package runtime\n\nfunc hdOther(gp *g) { hdNone(gp.hdNothing) }\n")})
	got := misfits(t, root, files)
	if len(got) != 2 || !strings.Contains(got[0], "runtime/heddle_other.go:3:") || !strings.Contains(got[0], "hdNone") || !strings.Contains(got[1], "hdNothing") {
		t.Errorf("%q", got)
	}
}

// fitting returns the files of a build's overlay without the edits that do not find their place, so that what else does not
// fit is named at the same time.
func fitting(t *testing.T, goroot string, opts Options) []patchedFile {
	t.Helper()
	fit, _ := placed(goroot, opts.edits())
	files, err := patchedWith(goroot, opts, fit)
	if err != nil {
		t.Fatal(err)
	}
	if opts.Sanitizer { // the other packages are the same in both builds
		files = slices.DeleteFunc(files, func(f patchedFile) bool { return path.Dir(f.name) != "runtime" })
	}
	return files
}

// misfits type-checks the packages that have files of the overlay, and returns the errors.
func misfits(t *testing.T, goroot string, files []patchedFile) (said []string) {
	t.Helper()
	changed := map[string]map[string][]byte{} // package → file → content, nil if it is removed
	for _, f := range files {
		dir := path.Dir(f.name)
		if changed[dir] == nil {
			changed[dir] = map[string][]byte{}
		}
		if !strings.HasSuffix(f.name, ".s") && !strings.HasSuffix(f.name, "_arm64.go") {
			changed[dir][path.Base(f.name)] = f.data
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(goroot, "bin", "go"), append([]string{"list", "-deps", "-tags=race", "-json=ImportPath,Dir,GoFiles,ImportMap"}, keys(changed)...)...)
	cmd.Dir = filepath.Join(goroot, "src")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOROOT="+goroot, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	fset := token.NewFileSet()
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
			ImportMap       map[string]string
		}
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		own, ours := changed[p.ImportPath]
		for name := range own {
			if !slices.Contains(p.GoFiles, name) {
				p.GoFiles = append(p.GoFiles, name)
			}
		}
		slices.Sort(p.GoFiles)
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			src, replaced := own[name]
			if replaced && src == nil {
				continue
			}
			if !replaced {
				if src, err = os.ReadFile(filepath.Join(p.Dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			f, err := parser.ParseFile(fset, path.Join(p.ImportPath, name), src, parser.SkipObjectResolution)
			if err != nil && ours {
				t.Fatal(err) // a package that none of ours is in may use a newer language
			}
			parsed = append(parsed, f)
		}
		conf := types.Config{
			Importer: importer(func(name string) (*types.Package, error) {
				if to := p.ImportMap[name]; to != "" {
					name = to
				}
				if known[name] == nil {
					return nil, fmt.Errorf("%s is not known", name)
				}
				return known[name], nil
			}),
			Sizes: types.SizesFor("gc", "amd64"), IgnoreFuncBodies: !ours,
			Error: func(err error) {
				if ours {
					said = append(said, err.Error())
				}
			},
		}
		known[p.ImportPath], _ = conf.Check(p.ImportPath, fset, parsed, nil)
	}
	for dir := range changed {
		if known[dir] == nil {
			t.Errorf("package %s was not checked", dir)
		}
	}
	return said
}

type importer func(string) (*types.Package, error)

func (i importer) Import(name string) (*types.Package, error) { return i(name) }

func keys[V any](m map[string]V) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// covered are exported methods of package sync that call others, which have the scheduling point.
var covered = map[string]string{
	"(*RWMutex).RLocker": "a Locker, whose methods are RLock and RUnlock",
	"(*WaitGroup).Go":    "Add and Done",
}

// Every operation of package sync, and every function that writes a map, is one of heddle's or has a reason not to be:
// a new one has no anchor that could be missing.
func TestNothingNew(t *testing.T) {
	eachRelease(t, func(t *testing.T, goroot string) {
		for _, said := range unedited(t, goroot) {
			t.Error(said)
		}
	})
}

// unedited returns a line for each operation that has no edit.
func unedited(t *testing.T, goroot string) (said []string) {
	t.Helper()
	edited := map[string]bool{}
	for _, e := range edits {
		name, _, _ := source(goroot, e.file)
		edited[path.Dir(name)+" "+e.fn] = true
	}
	all := func(string) bool { return true } // a release has some maps only in experiments
	exported := regexp.MustCompile(`^\(\*?[A-Z]\w*\)\.[A-Z]|^[A-Z]`)
	eachFunction(t, filepath.Join(goroot, "src/sync"), all, func(name string, fn *ast.FuncDecl, _ []byte) {
		if !exported.MatchString(name) || fn.Recv == nil || edited["sync "+name] || covered[name] != "" {
			return
		}
		said = append(said, fmt.Sprintf("sync.%s has no scheduling point", name))
	})
	writers := 0
	eachFunction(t, filepath.Join(goroot, "src/internal/runtime/maps"), all, func(name string, fn *ast.FuncDecl, body []byte) {
		if !bytes.Contains(body, []byte("m.writing ^= 1")) {
			return
		}
		if writers++; !edited["internal/runtime/maps "+name] {
			said = append(said, fmt.Sprintf("internal/runtime/maps.%s writes a map and cannot be interrupted there", name))
		}
	})
	if writers == 0 {
		said = append(said, "no function of internal/runtime/maps writes a map")
	}
	return said
}

// eachFunction calls f with each function in the files that keep selects, named like that of an edit.
func eachFunction(t *testing.T, dir string, keep func(file string) bool, f func(name string, fn *ast.FuncDecl, body []byte)) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range entries {
		if !strings.HasSuffix(d.Name(), ".go") || strings.HasSuffix(d.Name(), "_test.go") || !keep(d.Name()) {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, d.Name()))
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), d.Name(), src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				name = "(" + types.ExprString(fn.Recv.List[0].Type) + ")." + name
			}
			f(name, fn, src[fn.Body.Pos()-file.FileStart:fn.Body.End()-file.FileStart])
		}
	}
}
