package toolchain

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const emptyMain = "int x; int main(void) { return x; }\n"

func TestInspect(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, map[string]string{"m.c": emptyMain})
		w.plain(C, "-pie -fPIE -Wl,--build-id=sha1 m.c -lm -Wl,--no-as-needed -lm -o plain")
		w.plain(C, "-no-pie -fno-pie -Wl,--build-id=none m.c -o fixed")
		w.compile(C, "-Wl,--build-id=0xc0ffee m.c -o hooked")
		w.compile(C, "-fno-sanitize=thread m.c -o linked")
		w.compile(C, "-s m.c -o stripped")
		for _, test := range []struct {
			name         string
			pie          bool
			tsan         string
			instrumented bool
		}{
			{name: "plain", pie: true},
			{name: "fixed"},
			{name: "hooked", pie: true, tsan: "libtsan.so.2", instrumented: true},
			{name: "linked", pie: true, tsan: "libtsan.so.2"},
			{name: "stripped", pie: true, tsan: "libtsan.so.2", instrumented: true},
		} {
			got, err := Inspect(w.path(test.name))
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			if got.PIE != test.pie || got.TSan != test.tsan || got.Instrumented != test.instrumented ||
				!strings.HasPrefix(got.Interp, "/lib64/ld-linux") || !slices.Contains(got.Needed, "libc.so.6") {
				t.Errorf("%s: %+v", test.name, got)
			}
			if want := noteBuildID(t, w.path(test.name)); got.BuildID != want {
				t.Errorf("%s: build id %q, want %q", test.name, got.BuildID, want)
			}
		}
		if got, _ := Inspect(w.path("hooked")); got.BuildID != "c0ffee" {
			t.Errorf("build id %q, want c0ffee", got.BuildID)
		}
		if got, _ := Inspect(w.path("fixed")); got.BuildID != "" {
			t.Errorf("build id %q, want none", got.BuildID)
		}
	})
}

// noteBuildID reads the build id another way, from its section.
func noteBuildID(t *testing.T, path string) string {
	t.Helper()
	e, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := e.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(data[16:])
}

// A program that gcc linked against its own ThreadSanitizer runs under heddle as it is.
func TestInspectStockThreadSanitizer(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, family(t, GCC), map[string]string{"m.c": emptyMain})
	w.plain(C, "-fsanitize=thread m.c -o prog")
	got, err := Inspect(w.path("prog"))
	if err != nil || !got.Instrumented || !strings.HasPrefix(got.TSan, "libtsan.so.") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInspectRefusals(t *testing.T) {
	t.Parallel()
	gcc := family(t, GCC)
	w := newWorkspace(t, gcc, map[string]string{
		"m.c":        emptyMain,
		"lib.c":      "int f(void) { return 1; }\n",
		"script":     "#!/bin/bash -e\nexec ./prog\n",
		"libtool":    "#! /bin/bash\n# libtool - temporary wrapper script for .libs/libtool\n",
		"empty":      "",
		"text":       "hello\n",
		"magic-only": elf.ELFMAG,
		"go.go":      "package main\nfunc main() {}\n",
	})
	if err := os.Mkdir(w.path(".libs"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write(".libs/libtool", "x")
	w.plain(C, "m.c -o good")
	w.plain(C, "-static m.c -o static")
	w.plain(C, "-static-pie m.c -o static-pie")
	w.plain(C, "-shared -fPIC lib.c -o lib.so")
	w.plain(C, "-c m.c -o m.o")
	w.plain(C, "-fsanitize=thread -static-libtsan m.c -o static-tsan")
	w.plain(C, "-fsanitize=address m.c -o asan")
	w.plain(C, "-fsanitize=address -static-libasan m.c -o static-asan")
	w.plain(C, "-fsanitize=leak m.c -o lsan")
	w.plain(C, "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 m.c -o musl")

	good := must(os.ReadFile(w.path("good")))
	patch := func(name string, at int, b ...byte) {
		data := bytes.Clone(good)
		copy(data[at:], b)
		w.write(name, string(data))
	}
	const machineAt, typeAt = 18, 16
	patch("bits32", elf.EI_CLASS, byte(elf.ELFCLASS32))
	patch("arm", machineAt, byte(elf.EM_AARCH64), 0)
	patch("riscv", machineAt, byte(elf.EM_RISCV), 0)
	patch("core", typeAt, byte(elf.ET_CORE), 0)
	patch("odd-type", typeAt, 9, 0)
	w.write("cut", string(good[:len(good)/2]))
	for name, mode := range map[string]os.FileMode{"no-x": 0o644, "setuid": 0o755 | os.ModeSetuid} {
		w.write(name, string(good))
		if err := os.Chmod(w.path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", w.path("go"), w.path("go.go"))
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	tests := map[string]string{
		"missing":     "does not exist",
		"good/below":  "cannot be looked at (not a directory)",
		".libs":       "is a directory",
		"fifo":        "is not a regular file",
		"empty":       "is not an executable program (no ELF file)",
		"text":        "is not an executable program (no ELF file)",
		"script":      "is a script for /bin/bash -e: give the program that it starts",
		"libtool":     "is the script that libtool puts before a program: give the program itself, " + w.path(".libs/libtool"),
		"magic-only":  "is damaged",
		"cut":         "is damaged",
		"bits32":      "is a 32-bit program",
		"arm":         "is a program for 64-bit ARM",
		"riscv":       "is a program for RISC-V",
		"core":        "is a core file",
		"odd-type":    "is not an executable program (ELF type",
		"m.o":         "is an object file: link it",
		"lib.so":      "is a shared library: give a program that uses it",
		"static":      "is linked statically, so heddle's runtime cannot be put in: link it without -static",
		"static-pie":  "is linked statically, so heddle's runtime cannot be put in: link it without -static",
		"static-tsan": "has ThreadSanitizer linked into it",
		"asan":        "is built with AddressSanitizer (it needs libasan.so.",
		"static-asan": "is built with AddressSanitizer, which cannot share",
		"lsan":        "is built with LeakSanitizer (it needs liblsan.so.",
		"musl":        "uses the musl C library",
		"no-x":        "has no permission to be executed: chmod +x it",
		"setuid":      "is set-user-id or set-group-id",
		"go":          "is a Go program",
	}
	if r := w.run("", nil, "mkfifo", "fifo"); r.status != 0 {
		t.Fatal(r.stderr)
	}
	anyCompiler(t)
	clang := compilers()[len(compilers())-1]
	c := workspace{t, clang, w.dir}
	if clang.c.Family != Clang {
		t.Log("without clang: it is not installed")
	} else if r := c.run("", nil, clang.c.Path(), "-fsanitize=thread", "m.c", "-o", "clang-tsan"); r.status != 0 {
		t.Logf("without clang: its sanitizers are not installed\n%s", r.stderr)
	} else {
		tests["clang-tsan"] = "has ThreadSanitizer linked into it, as clang -fsanitize=thread does: build it with heddle cc"
		c.plain(C, "-fsanitize=thread -s m.c -o clang-tsan-stripped")
		tests["clang-tsan-stripped"] = tests["clang-tsan"]
		c.plain(C, "-fsanitize=memory m.c -o msan")
		tests["msan"] = "is built with MemorySanitizer, which cannot share"
	}
	for name, want := range tests {
		got, err := Inspect(w.path(name))
		if err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
			continue
		}
		if prefix := w.path(name) + " "; !strings.HasPrefix(err.Error(), prefix+want) {
			t.Errorf("%s: error %q, want %q", name, err, prefix+want)
		}
		if !strings.Contains(err.Error(), ": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: not one sentence that says what to do: %q", name, err)
		}
	}
	if _, err := Inspect(w.path("good")); err != nil {
		t.Errorf("the program that was patched is refused itself: %v", err)
	}
}

func FuzzInspect(f *testing.F) {
	dir := f.TempDir()
	program := filepath.Join(dir, "prog")
	source := filepath.Join(dir, "m.c")
	if err := os.WriteFile(source, []byte(emptyMain), 0o644); err != nil {
		f.Fatal(err)
	}
	for i, flags := range [][]string{{}, {"-fsanitize=thread"}, {"-static"}, {"-shared", "-fPIC"}} {
		c := anyCompiler(f).c
		if out, err := exec.Command(c.Path(), append(flags, "-s", source, "-o", program)...).CombinedOutput(); err != nil {
			f.Fatalf("%v\n%s", err, out)
		}
		data, err := os.ReadFile(program)
		if err != nil {
			f.Fatal(err)
		}
		if i != 2 { // the static one is large, its head says it all
			f.Add(data)
		} else {
			f.Add(data[:64<<10])
		}
	}
	f.Add([]byte("#!/bin/sh"))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "p")
		if err := os.WriteFile(name, data, 0o755); err != nil {
			t.Fatal(err)
		}
		p, err := Inspect(name)
		if err == nil && (p.Interp == "" || p.Path != name) {
			t.Errorf("accepted %+v", p)
		}
		if err != nil && !strings.HasPrefix(err.Error(), name+" ") {
			t.Errorf("error does not name the file: %v", err)
		}
		_ = fmt.Sprint(p)
	})
}
