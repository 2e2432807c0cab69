//go:build e2e

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// framework is a test framework of C or C++ as Debian has it.
type framework struct {
	source   string // in testdata/frameworks
	packages []string
	flags    []string // of the compiler; DIR stands for the directory where the packages are unpacked
}

var frameworks = []framework{
	{"gtest.cpp", []string{"libgtest-dev"}, []string{"-IDIR/usr/include", "DIR/usr/lib/x86_64-linux-gnu/libgtest.a", "DIR/usr/lib/x86_64-linux-gnu/libgtest_main.a"}},
	{"catch2.cpp", []string{"catch2"}, []string{"-IDIR/usr/include"}},
	{"doctest.cpp", []string{"doctest-dev"}, []string{"-IDIR/usr/include"}},
	{"boost.cpp", []string{"libboost1.74-dev"}, []string{"-IDIR/usr/include"}},
	{"check.c", []string{"check", "libsubunit0"}, []string{"-IDIR/usr/include", "DIR/usr/lib/x86_64-linux-gnu/libcheck.a", "DIR/usr/lib/x86_64-linux-gnu/libsubunit.so.0", "-lrt", "-lm"}},
	{"cmocka.c", []string{"libcmocka-dev", "libcmocka0"}, []string{"-IDIR/usr/include", "DIR/usr/lib/x86_64-linux-gnu/libcmocka.so.0"}},
	{"cppunit.cpp", []string{"libcppunit-dev", "libcppunit-1.15-0"}, []string{"-IDIR/usr/include", "DIR/usr/lib/x86_64-linux-gnu/libcppunit.a", "-ldl"}},
}

// Each of two tests of a program fails under some schedules. With --all there are two findings, each at its expectation, and each
// replays.
func TestFrameworks(t *testing.T) {
	for _, f := range frameworks {
		t.Run(f.source, func(t *testing.T) {
			dir := t.TempDir()
			fetch := exec.CommandContext(t.Context(), "sh", "-c", "apt-get -o APT::Sandbox::User=root download "+strings.Join(f.packages, " ")+" && for p in *.deb; do dpkg -x $p . || exit 1; done")
			fetch.Dir = dir
			if out, err := fetch.CombinedOutput(); err != nil {
				t.Fatalf("cannot fetch %q: %v\n%s", f.packages, err, out)
			}
			source := filepath.Join(repository(t), "cmd/heddle/testdata/frameworks", f.source)
			compiler := "cc"
			if filepath.Ext(f.source) == ".cpp" {
				compiler = "c++"
			}
			args := []string{compiler, "-g", "-O1", "-pthread", "-o", "two", source}
			for _, x := range f.flags {
				args = append(args, strings.ReplaceAll(x, "DIR", dir))
			}
			if out, err := heddleCommand(t, dir, nil, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Setenv("LD_LIBRARY_PATH", filepath.Join(dir, "usr/lib/x86_64-linux-gnu"))
			cmd := heddleCommand(t, dir, nil, "find", "--all", "--time", "0", "--runs", "200", "--races=ignore", "--no-explain", "--simplify-time", "5s", "-o", "two.hdl", "./two")
			text, _ := cmd.Output()
			if code := cmd.ProcessState.ExitCode(); code != exitFound {
				t.Fatalf("exit status %d\n%s", code, text)
			}
			lines, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range strings.Split(string(lines), "\n") {
				if strings.HasSuffix(l, "// count") || strings.HasSuffix(l, "// flag") {
					if at := fmt.Sprintf(" %s:%d\n", f.source, i+1); strings.Count(string(text), "\n  at ") != 2 || !strings.Contains(string(text), at) {
						t.Errorf("no finding at %s\n%s", at, text)
					}
				}
			}
			if strings.Contains(string(text), "not reproduced") {
				t.Errorf("%s", text)
			}
			found, err := filepath.Glob(filepath.Join(dir, "*.hdl"))
			if err != nil || len(found) < 2 {
				t.Fatal(found, err)
			}
			for _, trace := range slices.DeleteFunc(found, func(s string) bool { return strings.HasSuffix(s, ".pass.hdl") }) {
				if r := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", "--times", "20", trace); !r.Same {
					t.Errorf("%s: %+v", trace, r)
				}
			}
		})
	}
}
