package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// commands puts heddle-cc and heddle-c++, as other programs would start them, into the
// workspace. They use the stand-in runtime.
func (w workspace) commands() (cc, cxx string) {
	w.Helper()
	if _, err := buildStandin(w.c); err != nil { // not by the first of many at once
		w.Fatal(err)
	}
	for as, name := range map[string]*string{"cc": &cc, "c++": &cxx} {
		w.write("heddle-"+as, fmt.Sprintf("#!/bin/sh\nTOOLCHAIN_TEST_AS=%s HEDDLE_CACHE=%s HEDDLE_CC=%s HEDDLE_CXX=%s exec %s \"$@\"\n",
			as, sharedCache, w.c.Path(), w.cxx.Path(), must(os.Executable())))
		*name = w.path("heddle-" + as)
	}
	return cc, cxx
}

// mustRun runs a command that has to succeed.
func (w workspace) mustRun(env []string, argv ...string) {
	w.Helper()
	if r := w.run("", env, argv...); r.status != 0 {
		w.Fatalf("%s: exit status %d\n%s%s", strings.Join(argv, " "), r.status, r.stdout, r.stderr)
	}
}

func TestConfigureAndMake(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, nil)
		cc, cxx := w.commands()
		src := must(filepath.Abs("testdata/configure"))
		w.mustRun([]string{"CC=" + cc, "CXX=" + cxx}, "sh", filepath.Join(src, "configure"))
		w.mustRun(nil, "make", "-f", filepath.Join(src, "Makefile"))
		if got := w.standinReport("./prog", 7); !strings.Contains(got, "writes=1") || !strings.Contains(got, "functions=1") {
			t.Error(got)
		}
		checkLinks(t, w, "prog")
		checkLinks(t, w, "libcount.so")
	})
}

func TestCMake(t *testing.T) {
	need.Tool(t, "cmake")
	eachCompiler(t, func(t *testing.T, p pair) {
		w := newWorkspace(t, p, nil)
		cc, cxx := w.commands()
		w.mustRun([]string{"CC=" + cc, "CXX=" + cxx}, "cmake", "-S", must(filepath.Abs("testdata/cmake")), "-B", w.path("build"))
		w.mustRun(nil, "cmake", "--build", w.path("build"))
		if got := w.standinReport(w.path("build/prog"), 7); !strings.Contains(got, "writes=1") || !strings.Contains(got, "functions=1") {
			t.Error(got)
		}
		checkLinks(t, w, "build/prog")
	})
}

// A script called cc that runs heddle cc must not run forever.
func TestCompilerThatLeadsBack(t *testing.T) {
	t.Parallel()
	p := anyCompiler(t)
	w := newWorkspace(t, p, programs)
	cc, _ := w.commands()
	// Should it be broken, this test must not run forever either.
	w.write("cc", "#!/bin/sh\nexport DEPTH=x$DEPTH\ncase $DEPTH in xxxx*) exit 9;; esac\nexec "+cc+" \"$@\"\n")
	script := strings.Replace(string(must(os.ReadFile(cc))), "HEDDLE_CC="+p.c.Path(), "HEDDLE_CC="+w.path("cc"), 1)
	w.write("heddle-cc", script)
	r := w.run("", nil, cc, "main.c", "add.c", "-o", "prog")
	if want := "the compiler that heddle started, " + w.path("cc") + ", started heddle again: set HEDDLE_CC"; r.status != 3 || !strings.Contains(r.stderr, want) {
		t.Errorf("exit status %d, %.500q", r.status, r.stderr)
	}
}
