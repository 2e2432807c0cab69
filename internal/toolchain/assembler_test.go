package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAssemblerInput(t *testing.T) {
	for _, test := range []struct {
		args []string
		want int
	}{
		{[]string{"--64", "-o", "x.o", "/tmp/x.s"}, 3},
		{[]string{"--64", "-o", "x.o"}, -1},
		{[]string{"--64", "-o", "x.o", "-"}, 3},
		{[]string{"-o", "x.o", "--64"}, -1},
		{nil, -1},
	} {
		if got := assemblerInput(test.args); got != test.want {
			t.Errorf("%q: %d, want %d", test.args, got, test.want)
		}
	}
}

// The real assembler is the first one where the compiler looks, but heddle's own.
func TestRealAssembler(t *testing.T) {
	own, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{own, other} {
		if err := os.WriteFile(filepath.Join(dir, "as"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", other)
	t.Setenv("COMPILER_PATH", own+"/:/nowhere")
	if got, err := realAssembler(own); err != nil || got != filepath.Join(other, "as") {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv("PATH", own)
	if got, err := realAssembler(own); err == nil {
		t.Errorf("%q", got)
	}
}

// A compilation without access hooks has none in inline assembly, and what only clang's own assembler understands stays with it.
func TestWrapInlineAssembly(t *testing.T) {
	for _, test := range []struct {
		family   Family
		args     []string
		own, gnu bool
	}{
		{GCC, []string{"-c", "x.c"}, true, false},
		{GCC, []string{"-c", "x.s"}, true, false},
		{GCC, []string{"-fno-sanitize=thread", "-c", "x.c"}, false, false},
		{Clang, []string{"-c", "x.c"}, true, true},
		{Clang, []string{"-c", "x.c", "y.S"}, true, true},
		{Clang, []string{"-c", "y.S"}, true, false},
		{Clang, []string{"-x", "assembler-with-cpp", "-c", "x.c"}, true, false},
		{Clang, []string{"-masm=intel", "-c", "x.c"}, true, false},
		{Clang, []string{"-masm=intel", "-masm=att", "-c", "x.c"}, true, true},
	} {
		argv, err := Wrap(Compiler{Command: []string{"cc"}, Family: test.family, Assembler: "/cache/as"}, test.args, nil)
		if err != nil {
			t.Fatal(err)
		}
		if own, gnu := slices.Contains(argv, "-B/cache/as/"), slices.Contains(argv, "-no-integrated-as"); own != test.own || gnu != test.gnu {
			t.Errorf("%q: %q", test.args, argv)
		}
	}
}

// With clang's link-time optimisation, or its own assembler, inline assembly has no hooks: the options have no effect. Where they are
// needed, they stay.
func TestWrapLTO(t *testing.T) {
	for _, test := range []struct {
		family     Family
		args, gone []string
	}{
		{Clang, []string{"-O2", "-flto=thin", "-fwhole-program-vtables", "-c", "x.cc"}, []string{"-flto=thin", "-fwhole-program-vtables"}},
		{Clang, []string{"-flto", "-fintegrated-as", "x.c"}, []string{"-flto", "-fintegrated-as"}},
		{Clang, []string{"-flto", "x.o"}, nil}, // an object file of others may be bitcode
		{Clang, []string{"-flto", "-emit-llvm", "-c", "x.c"}, nil},
		{Clang, []string{"-flto", "-fsanitize=cfi-icall", "-fvisibility=hidden", "-c", "x.c"}, nil},
		{Clang, []string{"-flto", "-fno-sanitize=thread", "-c", "x.c"}, nil},
		{GCC, []string{"-flto", "-c", "x.c"}, nil}, // it runs the assembler
	} {
		argv, err := Wrap(Compiler{Command: []string{"cc"}, Family: test.family, Major: 14, Assembler: "/cache/as"}, test.args, func() (Runtime, error) { return Runtime{Dir: "/rt", Library: "/rt/l.so"}, nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range test.args {
			if kept := slices.Contains(argv, arg); kept == slices.Contains(test.gone, arg) {
				t.Errorf("%q: %q", test.args, argv)
			}
		}
	}
}
