package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// project is a copy of one in testdata/projects, to be built.
type project struct {
	*testing.T
	dir string
	env []string
}

func openProject(t *testing.T, name string, compiler someCompiler) project {
	t.Helper()
	p := project{t, t.TempDir(), compiler.env()}
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata/projects", name))); err != nil {
		t.Fatal(err)
	}
	return p
}

// command is a command of the build, which finds heddle in PATH. One with a slash is the
// project's.
func (p project) command(argv ...string) *exec.Cmd {
	p.Helper()
	path, err := exec.LookPath(argv[0])
	if strings.Contains(argv[0], "/") {
		path, err = filepath.Join(p.dir, argv[0]), nil
	}
	if err != nil {
		p.Fatal(err)
	}
	cmd := heddleCommand(p.T, p.dir, p.env, argv[1:]...)
	cmd.Path, cmd.Args[0] = path, argv[0]
	return cmd
}

// run runs a command, which must succeed.
func (p project) run(argv ...string) {
	p.Helper()
	if out, err := p.command(argv...).CombinedOutput(); err != nil {
		p.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
}

// fails has heddle find the failure of a program, which is an assertion with a text, and
// returns what it shows of the simplified trace. The same program with an argument that
// makes it correct has none.
func (p project) fails(assertion string, argv, correct []string) string {
	p.Helper()
	var r findJSON
	if status := jsonOf(p.T, heddleCommand(p.T, p.dir, nil, append([]string{"find", "--json", "--time=30s", "--"}, argv...)...), &r); status != exitFound {
		p.Fatalf("%v: ended with %d: %+v", argv, status, r)
	}
	if !strings.Contains(r.Finding.Message, assertion) || len(r.Notes) > 0 {
		p.Errorf("%v: found %s %q, want %q", argv, r.Finding.Message, r.Notes, assertion)
	}
	var clean findJSON
	if status := jsonOf(p.T, heddleCommand(p.T, p.dir, nil, append([]string{"find", "--json", "--time=0", "--runs=500", "--"}, correct...)...), &clean); status != exitNothing || len(clean.Notes) > 0 {
		p.Errorf("%v: ended with %d: %+v", correct, status, clean)
	}
	return p.shows(r.Simplified.Trace)
}

// shows replays a trace and returns what heddle show prints of it.
func (p project) shows(file string) string {
	p.Helper()
	var again replayJSON
	if jsonOf(p.T, heddleCommand(p.T, p.dir, nil, "replay", "--json", "--times=20", file), &again); !again.Same {
		p.Errorf("replay: %+v", again)
	}
	out, err := heddleCommand(p.T, p.dir, nil, "show", file).CombinedOutput()
	if err != nil {
		p.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

var gcc, clang = someCompiler{cc: "gcc", cxx: "g++"}, someCompiler{cc: "clang", cxx: "clang++"}

// A project of the autotools: configure, an archive inside of a shared library of libtool's,
// a program that libtool hides behind a script, and installation, which links again.
func TestAutotools(t *testing.T) {
	t.Parallel()
	need.Tool(t, "autoreconf", "automake", "libtoolize", "make", "gcc")
	p := openProject(t, "autotools", gcc)
	p.run("autoreconf", "--install")
	p.run("./configure", "CC=heddle cc", "CXX=heddle c++", "CFLAGS=-O2", "--prefix="+filepath.Join(p.dir, "installed"))
	p.run("make")

	out, err := heddleCommand(t, p.dir, nil, "find", "--", "./bank").CombinedOutput()
	if want := "give the program itself, .libs/bank"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("libtool's script: %v, %s, want %q", err, out, want)
	}
	// libtool's own way to start something else than the program puts the real one in place.
	out, err = p.command("./libtool", "--mode=execute", "heddle", "find", "--time=30s", "--", "./bank").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ledger_total(l) == 20") {
		t.Errorf("under libtool: %v\n%s", err, out)
	}
	p.run("make", "install")
	shown := p.fails("ledger_total(l) == 20", []string{"installed/bin/bank"}, []string{"installed/bin/bank", "locked"})
	inOrder(t, shown, `PREEMPTED before write .*\(ledger\.c:22\)`, `bank\.c:19`)
}

// A project of CMake's: an object library and an archive inside of a shared library, found
// threads, and optimization of everything at once.
func TestCMakeProject(t *testing.T) {
	need.Tool(t, "cmake", "make")
	for _, c := range []someCompiler{gcc, clang} {
		for _, lto := range []string{"OFF", "ON"} {
			t.Run(c.cc+" LTO="+lto, func(t *testing.T) {
				t.Parallel()
				need.Tool(t, c.cc, c.cxx)
				p := openProject(t, "cmake", c)
				// In one word, too: but then CMake looks for an ar for link-time optimization
				// called heddle-gcc-ar.
				p.env = append(p.env, map[string][]string{"ON": {"CC=heddle cc", "CXX=heddle c++"}, "OFF": {"CC=heddle-cc", "CXX=heddle-c++"}}[lto]...)
				p.run("cmake", "-B", "build", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DLTO="+lto)
				p.run("cmake", "--build", "build")
				shown := p.fails("stock() == 7", []string{"build/warehouse"}, []string{"build/warehouse", "locked"})
				inOrder(t, shown, `PREEMPTED before write .*\(count\.c:4\)`, `main\.cc:15`)
			})
		}
	}
}

// Files of one name in different folders, in an archive and as libraries, with the same code
// at the same offsets, are not mixed up, and neither are the files of debug information that
// are split off from them, or shared between them.
func TestSameNames(t *testing.T) {
	t.Parallel()
	need.Tool(t, "make", "gcc", "ar", "objcopy")
	p := openProject(t, "make", gcc)
	p.run("make", "CC=heddle cc")
	// Where the two accesses are whose order matters.
	cases := map[string][2]string{"one": {"one_stock() == 2", `store\.c:15`}, "two": {"two_stock() == 2", `store\.c:45`},
		"safe": {"safe_length() == 2", `list\.c:15`}, "fast": {"fast_length() == 2", `list\.c:45`}}
	check := func(what string) {
		for name, want := range cases {
			shown := p.fails(want[0], []string{"./prog", name}, []string{"./prog", "all"})
			inOrder(t, shown, `PREEMPTED before write .*\(`+want[1]+`\)`)
			if t.Failed() {
				t.Fatal(what)
			}
		}
	}
	check("as built")
	files := []string{"prog", "one/libstore.so", "two/libstore.so"}
	if _, err := exec.LookPath("dwz"); err != nil {
		t.Log("dwz is not installed: not with what it makes")
	} else {
		p.run("make", "clean")
		p.run("make", "CC=heddle cc", "CFLAGS=-O1 -gdwarf-4")
		p.run(append([]string{"dwz", "-m", "common.debug", "-M", filepath.Join(p.dir, "common.debug")}, files...)...)
		check("with dwz")
	}
	for _, file := range files {
		debug := filepath.Base(file) + ".debug"
		p.run("objcopy", "--only-keep-debug", file, filepath.Join(filepath.Dir(file), debug))
		p.run("objcopy", "--strip-all", file)
		p.run("objcopy", "--add-gnu-debuglink="+filepath.Join(filepath.Dir(file), debug), file)
	}
	check("with debug information in files of its own")
}
