package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/doctor"
	"github.com/heddle-dev/heddle/internal/testing/need"
)

// visits are the ways of testdata/libraries/visits/visits.cc, and whether the library may order the two increments.
var visits = map[string]bool{
	"unused": false, "locked": true, "one": false, "before": false, "after": false,
	"callback": true, "callback-one": false, "object": true, "object-one": false, "table": true,
	"opened": true, "opened-one": false, "opened-unused": false, "reopened": true, "thread": true, "posted": true, "posted-apart": false,
}

// visitsProgram compiles the library and the program, which is linked with a second copy that it does not call, and returns
// the program and a third copy.
func visitsProgram(t *testing.T, compiler, opt string, flags ...string) (program, copied string) {
	t.Helper()
	need.Tool(t, "g++")
	source, dir := filepath.Join(repository(t), "testdata/libraries/visits"), t.TempDir()
	lib, copied, idle := filepath.Join(dir, "libown.so"), filepath.Join(dir, "libcopy.so"), filepath.Join(dir, "libidle.so")
	for _, to := range []string{lib, copied, idle} {
		if out, err := exec.Command("g++", "-shared", "-fPIC", "-O1", "-Wl,-soname,"+filepath.Base(to), "-o", to, filepath.Join(source, "library.cc")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	e := readExpectation(t, filepath.Join(source, "visits.cc"))
	e.flags = slices.Concat(e.flags, flags, []string{"-std=c++17", "-ldl", lib, "-Wl,--no-as-needed", idle, "-Wl,-rpath," + dir})
	program = filepath.Join(dir, "visits")
	compileProgram(t, e, compiler, opt, program)
	return program, copied
}

// A race is a failure unless a library without access hooks can have ordered the accesses, however it is called.
func TestVisits(t *testing.T) {
	for _, c := range []struct {
		compiler, opt string
		flags         []string
	}{
		{"gcc", "-O0", []string{"-fplt"}},
		{"gcc", "-O2", []string{"-fno-plt", "-Wl,-z,now"}},
		{"clang", "-O0", []string{"-fno-plt", "-Wl,-z,now"}},
		{"clang", "-O2", nil},
	} {
		t.Run(c.compiler+c.opt, func(t *testing.T) {
			t.Parallel()
			program, copied := visitsProgram(t, c.compiler, c.opt, c.flags...)
			for how, ordered := range visits {
				visitsFind(t, program, copied, how, ordered)
			}
		})
	}
}

func TestVisitsIsolation(t *testing.T) {
	t.Parallel()
	program, copied := visitsProgram(t, "gcc", "-O1")
	for _, option := range []string{"--isolation=fork", "--isolation=process", "--threads"} {
		for _, how := range []string{"unused", "locked", "one", "opened", "opened-one", "reopened", "thread"} {
			visitsFind(t, program, copied, how, visits[how], option)
		}
	}
}

// doctor tells a library that the program calls from one that is only linked.
func TestDoctorLibraries(t *testing.T) {
	t.Parallel()
	program, _ := visitsProgram(t, "gcc", "-O1")
	out := runJSON[diagnosis](t, t.TempDir(), exitNothing, "doctor", "--json", "--", program)
	i := slices.IndexFunc(out.Checks, func(c doctor.Check) bool { return c.Name == "libraries" })
	const want = "libown.so (own_lock, own_locked, own_new, and 6 more): what orders threads there is not known; libidle.so: linked, but no code refers to it"
	if i < 0 || out.Checks[i].Grade != doctor.Poor || out.Checks[i].Detail != want {
		t.Errorf("%+v", out.Checks)
	}
}

// visitsFind checks what find and races say of one way.
func visitsFind(t *testing.T, program, copied, how string, ordered bool, options ...string) {
	t.Helper()
	by, found := "libown.so", exitFound
	if how == "opened" || how == "reopened" {
		by = "libcopy.so"
	}
	if ordered {
		found = exitFailed
	}
	command := slices.Concat(options, []string{"--", program, how, copied})
	out := runJSON[findJSON](t, t.TempDir(), found, append([]string{"find", "--json", "--races-fail", "--runs", "60", "--time", "0", "--simplify-time", "1s"}, command...)...)
	if (out.Finding == nil) != ordered || len(out.Races) == 0 {
		t.Errorf("%s %v: finding %+v, races %+v", how, options, out.Finding, out.Races)
	}
	for _, r := range out.Races {
		if r.Unconfirmed != ordered {
			t.Errorf("%s %v: %+v", how, options, r)
		}
	}
	if want := map[bool][]string{true: {by}}[ordered]; !slices.Equal(out.RacesUnconfirmed, want) {
		t.Errorf("%s %v: unconfirmed by %v", how, options, out.RacesUnconfirmed)
	}
}
