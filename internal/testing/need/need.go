// Package need skips tests that lack a tool of the machine, and names the releases of Go they need.
package need

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// packages are Debian's for tools that are not in a package of their own name.
var packages = map[string]string{
	"clang++": "clang", "addr2line": "binutils", "ar": "binutils", "objcopy": "binutils", "strip": "binutils",
	"llvm-addr2line": "llvm", "llvm-dwp": "llvm", "autoreconf": "autoconf", "libtoolize": "libtool", "protoc": "protobuf-compiler",
	"dot": "graphviz", "node": "nodejs",
}

// Whole reports whether make whole runs the tests: they then do all that docs/ tell of, and otherwise a part.
func Whole() bool {
	whole, _ := strconv.ParseBool(os.Getenv("HEDDLE_WHOLE"))
	return whole
}

// Amount returns how much of something there is time for: usual, or whole for make whole.
func Amount(usual, whole int) int {
	if Whole() {
		return whole
	}
	return usual
}

// Tool returns the path of the first tool. It skips the test unless all of them are in PATH;
// with HEDDLE_TOOLS=required in the environment, as in continuous integration, it fails
// instead.
func Tool(t testing.TB, names ...string) (first string) {
	t.Helper()
	for i, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			pkg, ok := packages[name]
			if !ok {
				pkg = name
			}
			report := t.Skipf
			if os.Getenv("HEDDLE_TOOLS") == "required" {
				report = t.Fatalf
			}
			report("%s is not installed (Debian: apt-get install %s)", name, pkg)
		}
		if i == 0 {
			first = path
		}
	}
	return first
}

// Library skips the test unless the compiler builds a program with flags of which it includes the
// header, or fails as Tool does. pkg is Debian's package.
func Library(t testing.TB, compiler, pkg, header string, flags ...string) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "probe.cc")
	if err := os.WriteFile(source, []byte("#include <"+header+">\nint main() { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-o", filepath.Join(dir, "probe"), source}, flags...)
	if out, err := exec.CommandContext(t.Context(), compiler, args...).CombinedOutput(); err != nil {
		report := t.Skipf
		if os.Getenv("HEDDLE_TOOLS") == "required" {
			report = t.Fatalf
		}
		report("%s cannot build a program with %s (Debian: apt-get install %s): %v\n%s", compiler, header, pkg, err, out)
	}
}

// Without returns a directory, for PATH, with every command of PATH but those that a machine
// with nothing but Go and gcc lacks.
func Without(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, from := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(from)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !lacking.MatchString(e.Name()) {
				// An error is one of a command that an earlier directory has.
				_ = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name()))
			}
		}
	}
	return dir
}

var lacking = regexp.MustCompile(`\+\+|^(clang|llvm|lldb|gdb|cmake|ctest|dwz|dwp|auto|libtool|addr2line|protoc|qemu|dlv)`)
