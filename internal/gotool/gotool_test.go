package gotool

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// module writes files, "name: content" by pairs, into a new directory that holds a module.
func module(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.mod", "module example.com/m\n\ngo 1.24\n")
	for i := 0; i < len(files); i += 2 {
		write(t, dir, files[i], files[i+1])
	}
	return dir
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// writeAt writes a file that is named from the root.
func writeAt(t *testing.T, name, content string) {
	t.Helper()
	write(t, filepath.Dir(name), filepath.Base(name), content)
}

func find(t *testing.T, dir string) *Tool {
	t.Helper()
	tool, err := Find(t.Context(), "", dir)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// script is a command that represents go and answers go env -json.
func script(t *testing.T, answer string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "go")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+answer), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFind(t *testing.T) {
	dir := module(t)
	tool := find(t, dir)
	if release(tool.Version) == 0 || tool.Root == "" || tool.OS != "linux" || !filepath.IsAbs(tool.Path) {
		t.Errorf("%+v", tool)
	}
	t.Setenv("GOFLAGS", "-tags=a,b '-ldflags=-X m.v=1'")
	if tool = find(t, dir); !slices.Equal(tool.Flags, []string{"-tags=a,b", "-ldflags=-X m.v=1"}) {
		t.Errorf("GOFLAGS: %q", tool.Flags)
	}
	t.Setenv("GOFLAGS", "")

	_, err := Find(t.Context(), "/none/go", dir)
	wantError(t, err, "--go /none/go is not a command that can be run: give the path of a go command")
	_, err = Find(t.Context(), script(t, "exit 0"), dir)
	wantError(t, err, "is not a go command")
	_, err = Find(t.Context(), script(t, "echo 'go: no such toolchain' >&2; exit 1"), dir)
	wantError(t, err, "cannot be used here: no such toolchain")
	t.Setenv("PATH", t.TempDir())
	_, err = Find(t.Context(), "", dir)
	wantError(t, err, "no go command is in PATH: install Go from https://go.dev/dl, or name one with --go")
}

// The variables of a build hold for the go command, over heddle's own environment.
func TestEnv(t *testing.T) {
	tool := find(t, module(t))
	t.Setenv("GOAMD64", "v2")
	t.Setenv("GOEXPERIMENT", "")
	if got := BuildEnv(); !slices.Equal(got, []string{"GOAMD64=v2"}) {
		t.Errorf("%q", got)
	}
	tool.Env = []string{"GOAMD64=v3"}
	if out, err := tool.output(t.Context(), "env", "GOAMD64"); err != nil || string(out) != "v3\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want %q in one line", err, want)
	}
}

func TestSupported(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "src/runtime/proc.go", "package runtime\n")
	good := Tool{Path: "go", Root: root, OS: "linux", Arch: "amd64"}
	for version, ok := range map[string]bool{
		"go1.24": true, "go1.25.6": true, "go1.26rc1": true, "go1.26.8 X:nosynchashtriemap": true, "devel go1.26-1234567 Mon": true, "go1.27.4": true,
		"go1.23.4": false, "go1.28.0": false, "go1.4": false, "devel +123": false, "go2.25": false, "": false,
	} {
		tool := good
		tool.Version = version
		err := tool.Supported()
		if (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
		if !ok {
			wantError(t, err, "Go 1.24 to 1.27")
			wantError(t, err, "choose one of these with --go, or with GOTOOLCHAIN")
		}
		if newer := version == "go1.28.0"; newer != (err != nil && strings.Contains(err.Error(), "install a newer heddle, or choose")) {
			t.Errorf("%q: %v", version, err)
		}
	}
	bare := good
	bare.Version, bare.Root = "go1.25", t.TempDir()
	wantError(t, bare.Supported(), "lacks the sources")
	foreign := good
	foreign.Version, foreign.Arch = "go1.25", "arm64"
	wantError(t, foreign.Supported(), "linux/arm64")
}

func TestRaceDetector(t *testing.T) {
	root := t.TempDir()
	tool := Tool{Path: script(t, `echo "{\"CC\": \"$CC_SAID\"}"`), Root: root}
	t.Setenv("CC_SAID", "/none/cc -m64")
	wantError(t, tool.RaceDetector(t.Context()), "Go's race detector needs a C compiler, and /none/cc cannot be run: install gcc, or name another compiler with CC")
	t.Setenv("CC_SAID", "")
	wantError(t, tool.RaceDetector(t.Context()), `and CC is ""`)
	t.Setenv("CC_SAID", "sh -m64")
	wantError(t, tool.RaceDetector(t.Context()), "lacks the library of Go's race detector (src/runtime/race/internal/amd64v1/race_linux.syso)")
	write(t, root, "src/runtime/race/internal/amd64v1/race_linux.syso", "")
	if err := tool.RaceDetector(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSplitQuoted(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"": nil, "  ": nil, "-a  -b\t": {"-a", "-b"}, `'-a b' "-c'd" e"f`: {"-a b", "-c'd", `e"f`}, "''": {""},
	} {
		if got, err := SplitQuoted(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if _, err := SplitQuoted("-a 'b"); err == nil {
		t.Error("an open quote is taken")
	}
}

func TestMergeFlags(t *testing.T) {
	t.Parallel()
	own := []string{"-tags=race", "-gcflags=all=-race", "-x=1"}
	for _, c := range []struct {
		name          string
		goflags, user []string
		want          string
	}{
		{"nothing", nil, nil, "-x=1 -gcflags=all=-race -tags=race"},
		{"tags", nil, []string{"-tags=a,b"}, "-x=1 -gcflags=all=-race -tags=a,b,race"},
		{"the last tags count", nil, []string{"-tags=a", "--tags=b"}, "-x=1 -gcflags=all=-race -tags=b,race"},
		{"tags of GOFLAGS", []string{"-tags=e", "-mod=mod"}, nil, "-x=1 -gcflags=all=-race -tags=e,race"},
		{"are hidden", []string{"-tags=e"}, []string{"-tags=a"}, "-x=1 -gcflags=all=-race -tags=a,race"},
		{"even by none", []string{"-tags=e"}, []string{"-tags="}, "-x=1 -gcflags=all=-race -tags=race"},
		{"a pattern that would win", nil, []string{"-gcflags=all=-N -l"}, "-x=1 -gcflags=all=-race -gcflags=all=-race -N -l -tags=race"},
		{"no pattern", nil, []string{"-gcflags=-N"}, "-x=1 -gcflags=all=-race -gcflags=-race -N -tags=race"},
		{"a flag with a sign", nil, []string{"-gcflags=-d=x"}, "-x=1 -gcflags=all=-race -gcflags=-race -d=x -tags=race"},
		{"debug information stays", []string{"-ldflags=-w"}, []string{"-ldflags=-s", "-mod=mod"}, "-x=1 -mod=mod -ldflags=-w -w=0 -ldflags=-s -w=0 -gcflags=all=-race -tags=race"},
	} {
		tool := &Tool{Flags: c.goflags}
		got, err := tool.mergeFlags(c.user, own, nil, t.TempDir())
		if s := strings.Join(got, " "); err != nil || s != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.name, s, err, c.want)
		}
	}
}

const addTest = "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) { if add(1, 2) != 3 { t.Error() } }\n"

// Both overlays are in the build: the one of the user and heddle's.
func TestMergeOverlays(t *testing.T) {
	t.Parallel()
	dir := module(t, "m.go", "package m\n\nfunc add(a, b int) int { return wrong }\n", "add_test.go", addTest,
		"right.txt", "package m\n\nfunc add(a, b int) int { return a + b + zero }\n", "zero.txt", "package m\n\nconst zero = 0\n",
		"user.json", `{"Replace": {"m.go": "right.txt"}}`)
	own := filepath.Join(t.TempDir(), "own.json")
	writeAt(t, own, `{"Replace": {"`+dir+`/zero.go": "`+dir+`/zero.txt"}}`)
	tool := find(t, dir)
	b := Build{What: []string{"."}, Test: true, Flags: []string{"-overlay=user.json"}, Overlay: Overlay{Flags: []string{"-overlay=" + own}}, Cache: t.TempDir()}
	binary, err := tool.Build(t.Context(), b)
	if err != nil {
		var failed *BuildError
		errors.As(err, &failed)
		t.Fatal(err, failed)
	}
	if out, err := exec.Command(binary).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	write(t, dir, "user.json", `{"Replace": {"`+dir+`/zero.go": "right.txt"}}`)
	_, err = tool.Build(t.Context(), b)
	wantError(t, err, "which heddle must replace itself")
	write(t, dir, "user.json", `{`)
	_, err = tool.Build(t.Context(), b)
	wantError(t, err, "cannot be read")
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := module(t, "m.go", "package m\n", "a/a_test.go", "package a_test\n", "b/b.go", "package main\n\nfunc main() {}\n",
		"c/c.go", "package c\n\nimport _ \"example.com/none\"\n", "d/d.go", "pakage d\n", "e/e.go", "//go:build x\n\npackage e\n")
	tool := find(t, dir)
	packages, err := tool.List(t.Context(), nil, []string{"./...", "./nosuch"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Package{}
	for _, p := range packages {
		got[p.ImportPath] = p
	}
	if p := got["example.com/m"]; p.Tests || p.Err != "" || p.Dir != dir || p.Module != "example.com/m" {
		t.Errorf("%+v", p)
	}
	if p := got["example.com/m/a"]; !p.Tests || p.Err != "" {
		t.Errorf("%+v", p)
	}
	if p := got["example.com/m/b"]; p.Name != "main" {
		t.Errorf("%+v", p)
	}
	if p := got["example.com/m/d"]; !strings.Contains(p.Err, "d/d.go:1:1") {
		t.Errorf("%+v", p)
	}
	if p := got["./nosuch"]; p.Err == "" {
		t.Errorf("%+v in %+v", p, packages)
	}
	if packages, err = tool.List(t.Context(), []string{"-tags=x"}, []string{"./e"}); err != nil || packages[0].Err != "" {
		t.Errorf("%+v, %v", packages, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err = tool.List(t.Context(), nil, []string{"./sub/..."}); err == nil {
		t.Error("a pattern that matches nothing is taken")
	}
}

// The same build has the same place and, for Go, the same build id; a change has not.
func TestBuild(t *testing.T) {
	t.Parallel()
	dir := module(t, "m.go", "package m\n\nfunc add(a, b int) int { return a + b }\n", "add_test.go", addTest)
	tool, cache := find(t, dir), t.TempDir()
	b := Build{What: []string{"example.com/m"}, Test: true, Cache: cache}
	first, err := tool.Build(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(first) != "m.test" {
		t.Errorf("the test binary is called %s", first)
	}
	content := read(t, first)
	again, err := tool.Build(t.Context(), b)
	if err != nil || again != first || read(t, again) != content {
		t.Errorf("%s, then %s (%v), of other content: %v", first, again, err, read(t, again) != content)
	}
	b.Flags = []string{"-tags=x"}
	other, err := tool.Build(t.Context(), b)
	if err != nil || other == first {
		t.Errorf("%s for another build, %v", other, err)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "go-build", "*", "building-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}

	write(t, dir, "m.go", "package m\n\nfunc add(a, b int) int { return c }\n")
	_, err = tool.Build(t.Context(), b)
	var failed *BuildError
	if !errors.As(err, &failed) || !strings.Contains(failed.Output, "./m.go:3:33: undefined: c") {
		t.Errorf("%v, %+v", err, failed)
	}
	if read(t, first) != content {
		t.Error("a build that failed changed the binary")
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tool.Build(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const listed = `package m

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	fmt.Println("TestMain says", len(os.Args) > 1)
	os.Exit(m.Run())
}

func TestB(t *testing.T) {
	t.Run("x y", func(t *testing.T) {})
	t.Run("z", func(t *testing.T) { t.Run("in", func(t *testing.T) { t.Error("in") }) })
}
func Test(t *testing.T)           {}
func TestÄ_1(t *testing.T)        {}
func FuzzF(f *testing.F)          { f.Fuzz(func(*testing.T, int) {}) }
func BenchmarkB(b *testing.B)     {}
func Example()                    { fmt.Println() /* Output: */ }
`

func TestTests(t *testing.T) {
	t.Parallel()
	dir := module(t, "m_test.go", strings.Replace(listed, "/* Output: */", "\n\t// Output:\n", 1))
	binary, err := find(t, dir).Build(t.Context(), Build{What: []string{"."}, Test: true, Cache: t.TempDir(), Flags: []string{"-vet=off"}})
	if err != nil {
		t.Fatal(err)
	}
	b := Binary{Path: binary, Dir: dir}
	names, err := b.Tests(t.Context(), 0)
	if want := []string{"TestB", "Test", "TestÄ_1", "FuzzF", "Example"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	subs, err := b.Subtests(t.Context(), "TestB", Only("TestB"), 0)
	if want := []string{"TestB/x_y", "TestB/z/in"}; err != nil || !slices.Equal(subs, want) {
		t.Errorf("%q, %v", subs, err)
	}
	if subs, err = b.Subtests(t.Context(), "TestB", "^TestB$/x", 0); err != nil || !slices.Equal(subs, []string{"TestB/x_y"}) {
		t.Errorf("%q, %v", subs, err)
	}
	b.Args = []string{"-nosuch"}
	if _, err = b.Tests(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "has a flag -nosuch") {
		t.Errorf("%v", err)
	}
}

// Select and the testing package agree on what runs: the binary is asked.
func TestFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ run, skip, test, want string }{
		{"", "", "TestA", "^TestA$"},
		{"A", "", "TestA", "^TestA$"},
		{"^A", "", "TestA", ""},
		{"TestA/x/y", "", "TestA", "^TestA$/x/y"},
		{"TestA/x|TestB", "", "TestA", "^TestA$/x"},
		{"TestA/x|TestB", "", "TestB", "^TestB$"},
		{"TestA/x|Test.*/y", "", "TestA", "^TestA$/x|^TestA$/y"},
		{"Test(A|B)/x", "", "TestB", "^TestB$/x"},
		{"Test[A/|]/x", "", "TestA", "^TestA$/x"},
		{`Test\/A`, "", "TestA", ""},
		{"", "TestA", "TestA", ""},
		{"", "TestA/x", "TestA", "^TestA$"},
		{"", "TestB|A", "TestA", ""},
	} {
		f, err := NewFilter(c.run, c.skip)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, ok := f.Select(c.test); got != c.want || ok != (c.want != "") {
			t.Errorf("-run %q -skip %q: %s runs as %q, want %q", c.run, c.skip, c.test, got, c.want)
		}
	}
	for _, bad := range [][2]string{{"(", ""}, {"", "A/["}, {"A/)", ""}} {
		if _, err := NewFilter(bad[0], bad[1]); err == nil {
			t.Errorf("-run %q -skip %q is taken", bad[0], bad[1])
		}
	}
	if s := Only("TestA/b.c|d"); s != `^TestA$/^b\.c\|d$` {
		t.Error(s)
	}
}

// A toolchain line selects another installation, in the module cache. It is used from a
// copy that can be overlaid.
func TestToolchainLine(t *testing.T) {
	t.Parallel()
	const version = "go1.25.6"
	dir := module(t, "m.go", "package m\n")
	write(t, dir, "go.mod", "module example.com/m\n\ngo 1.24\n\ntoolchain "+version+"\n")
	tool := find(t, dir)
	if release(tool.Version) > 25 {
		t.Skipf("the go command is newer (%s): go 1.24 in go.mod lets it be used", tool.Version)
	}
	settled(t, tool)
}

// settled checks that an installation can be overlaid after Settle.
func settled(t *testing.T, tool *Tool) {
	t.Helper()
	cache, version := t.TempDir(), tool.Version
	if err := tool.Settle(t.Context(), cache); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tool.Root, "src", "errors", "errors.go")
	with := filepath.Join(cache, "errors.go")
	writeAt(t, with, read(t, file)+"\nconst Overlaid = true\n")
	overlay := filepath.Join(cache, "overlay.json")
	writeAt(t, overlay, `{"Replace": {"`+file+`": "`+with+`"}}`)
	write(t, tool.Dir, "m_test.go", "package m\n\nimport (\"errors\"; \"runtime\"; \"testing\")\n\nfunc TestX(t *testing.T) { if !errors.Overlaid || runtime.Version() != \""+version+"\" { t.Error(runtime.Version()) } }\n")
	binary, err := tool.Build(t.Context(), Build{What: []string{"."}, Test: true, Cache: cache, Flags: []string{"-vet=off"}, Overlay: Overlay{Flags: []string{"-overlay=" + overlay}}})
	if err != nil {
		var failed *BuildError
		errors.As(err, &failed)
		t.Fatalf("%v: %+v", err, failed)
	}
	if out, err := exec.Command(binary).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestToolchainOfTheModuleCache(t *testing.T) {
	for _, version := range need.OtherGoReleases() {
		t.Run(version, func(t *testing.T) {
			t.Setenv("GOTOOLCHAIN", need.GoRelease(t, version))
			tool, err := Find(t.Context(), "", module(t, "m.go", "package m\n"))
			if err != nil {
				t.Fatal(err)
			}
			if tool.Version != version {
				t.Fatalf("asked for %s, got %s", version, tool.Version)
			}
			settled(t, tool)
		})
	}
}

// The go directive of go.mod or go.work selects a release as it does for go test, and GOTOOLCHAIN=local refuses it in the
// go command's words.
func TestGoDirective(t *testing.T) {
	newest := need.GoReleases[len(need.GoReleases)-1]
	if runtime.Version() >= newest {
		t.Skipf("%s runs the tests, and needs no other release", runtime.Version())
	}
	need.GoRelease(t, newest)
	needs := "go " + strings.TrimPrefix(newest, "go") + "\n"
	dir := module(t, "m.go", "package m\n")
	write(t, dir, "go.mod", "module example.com/m\n\n"+needs)
	work := module(t, "m.go", "package m\n")
	write(t, work, "go.work", needs+"\nuse .\n")
	for _, from := range []string{dir, work} {
		t.Setenv("GOTOOLCHAIN", "auto")
		tool := find(t, from)
		if tool.Version != newest || tool.Supported() != nil {
			t.Errorf("%s: %v", tool.Version, tool.Supported())
		}
		t.Setenv("GOTOOLCHAIN", "local")
		_, err := find(t, from).List(t.Context(), nil, []string{"."})
		wantError(t, err, "GOTOOLCHAIN=local")
	}
}

// Vendored modules and workspaces are the go command's business: it is called where they
// count.
func TestVendorAndWorkspace(t *testing.T) {
	t.Parallel()
	dir := module(t, "m_test.go", "package m\n\nimport (\"example.com/v\"; \"testing\")\n\nfunc TestX(t *testing.T) { if v.X != 7 { t.Error(v.X) } }\n",
		"vendor/example.com/v/v.go", "package v\n\nconst X = 7\n",
		"vendor/modules.txt", "# example.com/v v1.0.0\n## explicit\nexample.com/v\n")
	write(t, dir, "go.mod", "module example.com/m\n\ngo 1.24\n\nrequire example.com/v v1.0.0\n")
	work := module(t)
	if err := os.Remove(filepath.Join(work, "go.mod")); err != nil {
		t.Fatal(err)
	}
	write(t, work, "go.work", "go 1.24\n\nuse (\n\t./a\n\t./b\n)\n")
	write(t, work, "a/go.mod", "module example.com/a\n\ngo 1.24\n")
	write(t, work, "a/a_test.go", "package a\n\nimport (\"example.com/b\"; \"testing\")\n\nfunc TestX(t *testing.T) { if b.X != 7 { t.Error(b.X) } }\n")
	write(t, work, "b/go.mod", "module example.com/b\n\ngo 1.24\n")
	write(t, work, "b/b.go", "package b\n\nconst X = 7\n")
	for from, what := range map[string]string{dir: ".", work: "example.com/a"} {
		tool := find(t, from)
		packages, err := tool.List(t.Context(), nil, []string{what})
		if err != nil || packages[0].Err != "" || !packages[0].Tests {
			t.Errorf("%+v, %v", packages, err)
			continue
		}
		binary, err := tool.Build(t.Context(), Build{What: []string{what}, Test: true, Cache: t.TempDir()})
		if err != nil {
			var failed *BuildError
			errors.As(err, &failed)
			t.Errorf("%v: %+v", err, failed)
			continue
		}
		if out, err := exec.Command(binary).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
