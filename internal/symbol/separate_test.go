package symbol

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// split moves the debug information of program into a file of its own and strips program.
func split(t *testing.T, program, debug string, link bool) {
	t.Helper()
	objcopy := need.Tool(t, "objcopy")
	if err := os.MkdirAll(filepath.Dir(debug), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, objcopy, "--only-keep-debug", program, debug)
	run(t, objcopy, "--strip-all", program)
	if link {
		run(t, objcopy, "--add-gnu-debuglink="+debug, program)
	}
}

var gccO2 = build{"gcc", []string{"-g", "-O2", "-fPIE", "-pie"}}

func TestDebugFileByBuildID(t *testing.T) {
	program := gccO2.compile(t, "sample.c")
	claims := claimsOf(t, program)
	dir := t.TempDir()
	im, err := readImage(program)
	if err != nil {
		t.Fatal(err)
	}
	split(t, program, filepath.Join(dir, ".build-id", im.BuildID[:2], im.BuildID[2:]+".debug"), false)
	check(t, tableFor(t, program, dir), claims)

	t.Run("program rebuilt since", func(t *testing.T) {
		// The installed debug file is of the recorded build, the program no longer is.
		if err := os.WriteFile(program, []byte("something else"), 0o755); err != nil {
			t.Fatal(err)
		}
		tab := New([]trace.Module{{Path: program, BuildID: im.BuildID, Program: true}}, Options{DebugDirs: []string{dir}})
		check(t, tab, claims)
	})
}

func TestDebugLink(t *testing.T) {
	for _, place := range []string{"sample.debug", ".debug/sample.debug"} {
		program := gccO2.compile(t, "sample.c")
		claims := claimsOf(t, program)
		split(t, program, filepath.Join(filepath.Dir(program), place), true)
		check(t, tableFor(t, program), claims)
	}
	t.Run("below the debug directory", func(t *testing.T) {
		program := gccO2.compile(t, "sample.c")
		claims := claimsOf(t, program)
		dir := t.TempDir()
		split(t, program, filepath.Join(dir, filepath.Dir(program), "sample.debug"), true)
		check(t, tableFor(t, program, dir), claims)
	})
	t.Run("no build id, wrong checksum", func(t *testing.T) {
		b := build{"gcc", append([]string{"-Wl,--build-id=none"}, gccO2.flags...)}
		program := b.compile(t, "sample.c")
		claims := claimsOf(t, program)
		debug := filepath.Join(filepath.Dir(program), "sample.debug")
		split(t, program, debug, true)
		check(t, tableFor(t, program), claims)
		f, err := os.OpenFile(debug, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString("x")
		f.Close()
		if got := tableFor(t, program).Call(trace.MakeSite(0, claims[2].offset))[0]; got.Known() {
			t.Errorf("a debug file with another checksum was used: %v", got)
		}
	})
}

// dwz moves what two debug files share into a third.
func TestDwz(t *testing.T) {
	dwz := need.Tool(t, "dwz")
	one := build{"gcc", []string{"-gdwarf-4", "-O2", "-fPIE", "-pie"}}
	a, b := one.compile(t, "sample.cc", "shape.cc"), one.compile(t, "sample.cc", "shape.cc")
	claims := claimsOf(t, a)
	common := filepath.Join(t.TempDir(), "common")
	run(t, dwz, "-m", common, a, b)
	if _, err := os.Stat(common); err != nil {
		t.Fatal("dwz found nothing in common")
	}
	check(t, tableFor(t, a), claims)
}

func TestStripped(t *testing.T) {
	program := gccO2.compile(t, "sample.c")
	claims := claimsOf(t, program)
	site := func(kind, text string) trace.Site {
		for _, c := range claims {
			if c.kind == kind && c.text == text {
				return trace.MakeSite(0, c.offset)
			}
		}
		t.Fatalf("no claim %s %s", kind, text)
		return 0
	}
	call, object := site("call", "main"), site("data", "account[2].balance")

	run(t, need.Tool(t, "objcopy"), "--strip-debug", program)
	tab := tableFor(t, program)
	if got := tab.Call(call); len(got) != 1 || got[0].Func != "main" || !strings.HasPrefix(got[0].Place(), "main+0x") {
		t.Errorf("with a symbol table: %v", got)
	}
	if got := tab.Global(0, object.Offset(), 8).Text; got != "account+40" {
		t.Errorf("with a symbol table: %s", got)
	}
	if p := tab.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "build it with -g") {
		t.Errorf("problems: %v", p)
	}

	run(t, need.Tool(t, "objcopy"), "--strip-all", program)
	tab = tableFor(t, program)
	if got := tab.Call(call)[0].Place(); !strings.HasPrefix(got, "sample+0x") {
		t.Errorf("without: %s", got)
	}
	if got := tab.Global(0, object.Offset(), 8).Text; !strings.HasPrefix(got, "sample+0x") {
		t.Errorf("without: %s", got)
	}
}

func TestWrongBuild(t *testing.T) {
	program := gccO2.compile(t, "sample.c")
	site := trace.MakeSite(0, 0x1100)
	cases := []struct {
		name   string
		module trace.Module
		want   string
	}{
		{"other build id", trace.Module{Path: program, BuildID: "00112233"}, "symbols do not match"},
		{"other hash", trace.Module{Path: program, BuildID: "sha256:00"}, "symbols do not match"},
		{"gone", trace.Module{Path: program + ".old", BuildID: "00112233"}, "the file no longer exists"},
		{"not a program", trace.Module{Path: "sample_test.go"}, "no symbols"},
		{"kernel's own", trace.Module{Path: "linux-vdso.so.1"}, ""},
	}
	for _, c := range cases {
		tab := New([]trace.Module{c.module}, Options{DebugDirs: []string{}})
		if got := tab.Call(site); len(got) != 1 || got[0].Func != "" || got[0].Place() != filepath.Base(c.module.Path)+"+0x1100" {
			t.Errorf("%s: %v", c.name, got)
		}
		p := tab.Problems()
		if c.want == "" && p != nil || c.want != "" && (len(p) != 1 || !strings.Contains(p[0].Error(), c.want)) {
			t.Errorf("%s: problems %v, want %q", c.name, p, c.want)
		}
	}
}

func TestHashInsteadOfBuildID(t *testing.T) {
	b := build{"gcc", append([]string{"-Wl,--build-id=none"}, gccO2.flags...)}
	program := b.compile(t, "sample.c")
	sum, err := elffile.SHA256(program)
	if err != nil {
		t.Fatal(err)
	}
	tr := &trace.Trace{Header: trace.Header{BuildID: "sha256:" + sum}, Modules: []trace.Module{{Path: program, Program: true}}}
	check(t, ForTrace(tr, Options{}), claimsOf(t, program))
	tr.Header.BuildID = "sha256:" + strings.Repeat("0", 64)
	tab := ForTrace(tr, Options{})
	tab.Call(trace.MakeSite(0, 1))
	if p := tab.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "symbols do not match") {
		t.Errorf("problems: %v", p)
	}
}
