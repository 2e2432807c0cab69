package toolchain

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// Dependencies follow what a program refers to, also through other libraries, and name libraries that nothing refers to.
func TestDependencies(t *testing.T) {
	t.Parallel()
	need.Tool(t, "gcc")
	dir := t.TempDir()
	build := func(out, source string, args ...string) {
		t.Helper()
		file := filepath.Join(dir, out+".c")
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"-o", filepath.Join(dir, out), file, "-L", dir, "-Wl,--no-as-needed,--allow-shlib-undefined,-rpath," + dir}, args...)
		if b, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	library := func(name, source string, args ...string) {
		t.Helper()
		build("lib"+name+".so", source, append([]string{"-shared", "-fPIC"}, args...)...)
	}
	library("inner", "#include <sched.h>\nvoid inner(void) { sched_yield(); }\n")
	library("idle", "#include <sched.h>\nvoid idle(void) { sched_yield(); }\n")
	library("outer", "void inner(void); void outer(void) { inner(); }\n", "-linner", "-lidle")
	library("own", "#include <sched.h>\nvoid own(void) { sched_yield(); }\n")
	build("program", "void outer(void), own(void); int main(void) { outer(); own(); }\n", "-louter", "-lown")
	p, err := Inspect(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Dependencies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []Dependency{
		{Name: "libouter.so", Symbols: []string{"outer"}},
		{Name: "libown.so", Order: Unknown, Symbols: []string{"own"}},
		{Name: "libinner.so", Order: Unknown, Symbols: []string{"inner"}, By: "libouter.so"},
		{Name: "libidle.so", Order: Unknown},
	}
	if !slices.EqualFunc(all, want, func(a, b Dependency) bool {
		return a.Name == b.Name && a.Path == filepath.Join(dir, b.Name) && a.Order == b.Order && slices.Equal(a.Symbols, b.Symbols) && a.By == b.By
	}) {
		t.Errorf("%+v", all)
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	got := listed("\tlinux-vdso.so.1 (0x00007f713f3a8000)\n\tlibgone.so => not found\n\tlibQt6Core.so.6 => /opt/a b/libQt6Core.so.6.2 (0x1)\n" +
		"\tlibgomp.so.1 => /lib/libgomp.so.1 (0x2)\n\tlibc.so.6 => /lib/libc.so.6 (0x3)\n\t/opt/libx.so (0x4)\n\t/lib64/ld-linux-x86-64.so.2 (0x5)\n")
	want := []Dependency{
		{Name: "libQt6Core.so.6", Path: "/opt/a b/libQt6Core.so.6.2", Order: Unknown},
		{Name: "libgomp.so.1", Path: "/lib/libgomp.so.1", Order: Told},
		{Name: "libc.so.6", Path: "/lib/libc.so.6", system: true},
		{Name: "libx.so", Path: "/opt/libx.so"},
		{Name: "ld-linux-x86-64.so.2", Path: "/lib64/ld-linux-x86-64.so.2", system: true},
	}
	if !slices.EqualFunc(got, want, func(a, b Dependency) bool {
		return a.Name == b.Name && a.Path == b.Path && a.Order == b.Order && a.system == b.system
	}) {
		t.Errorf("%+v", got)
	}
}
