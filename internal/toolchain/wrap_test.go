package toolchain

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The programs of these tests. Their exit status says that they ran to the end.
var programs = map[string]string{
	"main.c": `#include "shared.h"
int shared;
int main(void) { shared = add(shared); return shared == 1 ? 7 : 1; }
`,
	"add.c": `#include "shared.h"
int add(int n) { shared += n + 1; return shared; }
`,
	"shared.h": "extern int shared;\nint add(int);\n",
	"asm.S":    "\t.globl add\nadd:\n\tmovl $1, %eax\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n",
	"prog.cc": `#include <atomic>
#include <memory>
#include <vector>
struct shape { virtual ~shape() {} virtual int sides() const { return 0; } };
struct square : shape { int sides() const override { return 4; } };
std::atomic<int> n;
int main() {
  std::vector<std::unique_ptr<shape>> v;
  v.push_back(std::make_unique<square>());
  n += v[0]->sides();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  try { throw 3; } catch (int i) { n += i; }
  return n == 7 ? 7 : 1;
}
`,
	"volatile.c": "#include <stdatomic.h>\nvolatile int v; atomic_int a;\nint main(void) { v = 7; a++; atomic_thread_fence(memory_order_seq_cst); return v; }\n",
	"copies.c": `#include <string.h>
struct s { char bytes[40]; };
void copy(struct s *a, struct s *b) { memcpy(a, b, sizeof *a); }
void move(struct s *a, struct s *b) { memmove(a, b, 16); }
void fill(struct s *a) { memset(a, 0, sizeof *a); }
`,
}

const counted = "standin reads=1 writes=1 volatiles=0 atomics=0 functions=1"

// Ways to get the same program.
func TestWrapC(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		tests := map[string][]string{
			"one step":              {"main.c add.c -o prog"},
			"one file at a time":    {"-c main.c", "-c add.c", "main.o add.o -o prog"},
			"optimised":             {"-O2 -Wall -Wextra -Werror main.c add.c -oprog"},
			"mixed":                 {"-c add.c -o other.o", "-o prog main.c other.o"},
			"dependencies":          {"-MD -MF deps main.c add.c -o prog"},
			"archive":               {"-c add.c", "-c main.c", "-o prog main.o libadd.a"},
			"shared library":        {"-shared -fPIC -Wl,-z,defs -Wl,--as-needed add.c main.c -o libadd.so", "-Wl,--as-needed main.c -L. -ladd -Wl,-rpath,$ORIGIN -o prog"},
			"no-pie":                {"-fno-pie -no-pie main.c add.c -o prog"},
			"assembler":             {"-S main.c", "-c main.s", "-S add.c -o add.s", "main.o add.s -o prog"},
			"preprocessed":          {"-E main.c -o main.i", "main.i add.c -o prog"},
			"user's own sanitizer":  {"-fsanitize=thread -c main.c", "-fsanitize=thread main.o add.c -o prog"},
			"response file":         {"@$DIR/words"},
			"partial link":          {"-c main.c", "-c add.c", "-r main.o add.o -o both.o", "both.o -o prog"},
			"static libtsan wanted": {"-fsanitize=thread -static-libtsan main.c add.c -o prog"},
			"gold":                  {"-fuse-ld=gold main.c add.c -o prog"},
			"language":              {"-x c main.c add.c -x none -o prog"},
			"own run path":          {"main.c add.c -Wl,-rpath,/nowhere -o prog"},
			"no default libraries":  {"-nodefaultlibs main.c add.c -lc -lgcc -o prog"},
			"undefined sanitizer":   {"-fsanitize=undefined main.c add.c -o prog"},
			"both sanitizers":       {"-fsanitize=thread,undefined -c main.c add.c", "-fsanitize=undefined,thread main.o add.o -o prog"},
			"save-temps":            {"-save-temps -g0 main.c add.c -o prog"},
		}
		if p.c.Family == GCC { // clang needs a linker plug-in for it, which is not always there
			tests["lto"] = []string{"-O2 -flto=1 main.c add.c -o prog"}
			tests["lto, one file at a time"] = []string{"-O2 -flto=1 -c main.c add.c", "-O2 -flto=1 main.o add.o -o prog"}
		}
		for name, lines := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorkspace(t, p, programs)
				w.write("words", "-O1\nmain.c 'add.c' -o \"prog\"\n")
				for _, line := range lines {
					if strings.Contains(line, "gold") && w.run("", nil, "sh", "-c", "command -v ld.gold").status != 0 {
						t.Skip("gold is not installed")
					}
					if strings.Contains(line, "libadd.a") {
						if r := w.run("", nil, "ar", "rc", "libadd.a", "add.o"); r.status != 0 {
							t.Fatal(r.stderr)
						}
					}
					w.compile(C, line)
				}
				if got := w.standinReport("./prog", 7); got != counted {
					t.Errorf("got %q, want %q", got, counted)
				}
				checkLinks(t, w, "prog")
				if name == "dependencies" {
					checkDependencies(t, w)
				}
			})
		}
	})
}

// checkLinks sees to it that a program asks for the runtime first, and only once.
func checkLinks(t *testing.T, w workspace, program string) {
	t.Helper()
	e, err := elf.Open(w.path(program))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	needed, err := e.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	if len(needed) == 0 || needed[0] != "libtsan.so.2" || slices.Contains(needed[1:], "libtsan.so.2") {
		t.Errorf("%s needs %q, want libtsan.so.2 first and once", program, needed)
	}
}

func checkDependencies(t *testing.T, w workspace) {
	t.Helper()
	deps, err := os.ReadFile(w.path("deps"))
	if err != nil || !strings.Contains(string(deps), "shared.h") {
		t.Errorf("dependencies %q, %v", deps, err)
	}
	if left, _ := filepath.Glob(w.path("*.o")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestWrapCXX(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		for _, lines := range [][]string{
			{"-std=c++17 -O1 -Wall -Wextra -Werror prog.cc -o prog"},
			{"-c prog.cc", "prog.o -o prog"},
		} {
			w := newWorkspace(t, p, programs)
			for _, line := range lines {
				w.compile(CXX, line)
			}
			if got := w.standinReport("./prog", 7); !strings.Contains(got, "reads=1 writes=1") || !strings.Contains(got, "atomics=1 functions=1") {
				t.Errorf("%q: %q", lines, got)
			}
		}
	})
}

// Accesses to volatile variables are distinguished.
func TestWrapVolatile(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, programs)
		w.compile(C, "-O2 -Wall -Wextra -Werror volatile.c -o prog")
		if got := w.standinReport("./prog", 7); !strings.Contains(got, "volatiles=1 atomics=1") {
			t.Error(got)
		}
	})
}

// Copies and fills of known size must stay calls, or the runtime cannot see them.
func TestWrapKeepsCopies(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, programs)
		for _, level := range []string{"-O0", "-O2", "-O3"} {
			w.compile(C, level+" -c copies.c")
			names := undefined(t, w.path("copies.o"))
			for _, want := range []string{"memcpy", "memmove", "memset"} {
				// LLVM may turn a move whose operands cannot overlap into a copy.
				if !slices.Contains(names, want) {
					t.Errorf("%s: %s is not called, only %q", level, want, names)
				}
			}
		}
	})
}

func undefined(t *testing.T, object string) (names []string) {
	t.Helper()
	e, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	symbols, err := e.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	return names
}

// What the user says comes later and wins.
func TestWrapUserWins(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		for _, extra := range []string{"", "-fsanitize=undefined "} {
			w := newWorkspace(t, p, programs)
			w.compile(C, extra+"-fno-sanitize=thread main.c add.c -o prog")
			if got, want := w.standinReport("./prog", 7), "standin reads=0 writes=0 volatiles=0 atomics=0 functions=0"; got != want {
				t.Errorf("%s-fno-sanitize=thread: %q, want %q", extra, got, want)
			}
		}
	})
}

// Some distributions' compilers link only what is needed at that point, and the runtime
// comes first, when nothing has been asked for.
func TestWrapAsNeededByDefault(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, programs)
		w.c.Command = append(slices.Clone(p.c.Command), "-Wl,--as-needed")
		w.compile(C, "-shared -fPIC -Wl,-z,defs add.c main.c -o libadd.so")
		checkLinks(t, w, "libadd.so")
		w.compile(C, "-fno-sanitize=thread main.c add.c -o prog")
		checkLinks(t, w, "prog")
	})
}

// The assembler file has the function that is not instrumented.
func TestWrapAssembler(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, programs)
		w.compile(C, "main.c asm.S -o prog")
		w.standinReport("./prog", 7)
	})
}

func TestWrapStandardInput(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, nil)
		r := w.wrapped(C, "int x; int main(void) { return x + 7; }", "-x c - -o prog")
		if r.status != 0 {
			t.Fatal(r.stderr)
		}
		w.standinReport("./prog", 7)
		r = w.wrapped(C, "__SANITIZE_THREAD__ KEPT", "-E -P -DKEPT=1 -x c -")
		want := "1 1"
		if p.c.Family == Clang { // which has __has_feature instead
			want = "__SANITIZE_THREAD__ 1"
		}
		if r.status != 0 || strings.TrimSpace(r.stdout) != want {
			t.Errorf("-E: exit status %d, %q, want %q\n%s", r.status, r.stdout, want, r.stderr)
		}
	})
}

func TestWrapKeepsExitStatusAndQuestions(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, map[string]string{"bad.c": "int main(void) { return undeclared; }", "h.h": "struct s { int x; };"})
		for _, line := range []string{"-c bad.c", "bad.c -o prog", "missing.o -o prog", "missing.c", "-nosuchoption -c bad.c", "-E missing.c"} {
			args := strings.Fields(line)
			want := w.run("", nil, append(p.c.Command[:1:1], args...)...)
			got := w.wrapped(C, "", line)
			if got.status != want.status || got.status == 0 {
				t.Errorf("%s: exit status %d, want %d\n%s", line, got.status, want.status, got.stderr)
			}
		}
		for _, line := range []string{"--version", "-v", "-dumpmachine", "-dumpversion", "-print-search-dirs", "-print-prog-name=ld", "", "-Wl,--version"} {
			args := strings.Fields(line)
			want := w.run("", nil, append(p.c.Command[:1:1], args...)...)
			got := w.wrapped(C, "", line)
			if got.stdout != want.stdout || got.status != want.status {
				t.Errorf("%q differs from the compiler's own: %+v, want %+v", line, got, want)
			}
		}
		// A precompiled header is not linked.
		w.compile(C, "h.h")
		if pch, _ := filepath.Glob(w.path("h.h.*")); len(pch) != 1 {
			t.Errorf("precompiled header: %q", pch)
		}
	})
}

// A runtime that is not available stops a link and nothing else.
func TestWrapNeedsRuntimeOnlyToLink(t *testing.T) {
	t.Parallel()
	broken := func() (Runtime, error) { return Runtime{}, os.ErrPermission }
	c := Compiler{Command: []string{"cc"}, Family: GCC, Major: 12}
	for line, links := range map[string]bool{"-c a.c": false, "-E a.c": false, "-r a.o": false, "a.h": false, "--version": false, "a.c": true, "a.o": true, "-shared a.o": true} {
		if _, err := Wrap(c, strings.Fields(line), broken); (err != nil) != links {
			t.Errorf("%s: error %v", line, err)
		}
	}
}

func TestWrapOldClang(t *testing.T) {
	t.Parallel()
	c := Compiler{Command: []string{"/usr/bin/clang"}, Family: Clang, Major: 9, Version: "clang version 9.0.1"}
	_, err := Wrap(c, []string{"a.c"}, func() (Runtime, error) { return Runtime{}, nil })
	if err == nil || !strings.Contains(err.Error(), "clang 10 or later") {
		t.Errorf("error %v", err)
	}
}

// Hooks are called through the GOT, without a PLT entry, in code that is for a program.
func TestWrapCallsHooksDirectly(t *testing.T) {
	t.Parallel()
	none := func() (Runtime, error) { return Runtime{}, nil }
	for _, c := range []struct {
		family Family
		line   string
		want   bool
	}{
		{GCC, "-c a.c", true}, {GCC, "-O2 a.c -o a", true}, {GCC, "-fPIE -c a.c", true}, {GCC, "-fPIC -fPIE -c a.c", true},
		{GCC, "-fPIC -c a.c", false}, {GCC, "-fpic -shared a.c -o a.so", false}, {GCC, "-fPIE -fPIC -c a.c", false}, {GCC, "a.o -o a", false},
		{Clang, "-c a.c", false}, // which calls hooks through the PLT in any case
	} {
		argv, err := Wrap(Compiler{Command: []string{"cc"}, Family: c.family, Major: 14}, strings.Fields(c.line), none)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(argv, "-fno-plt"); got != c.want {
			t.Errorf("%v %s: -fno-plt is %t, want %t", c.family, c.line, got, c.want)
		}
	}
}
