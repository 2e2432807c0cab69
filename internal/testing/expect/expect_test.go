package expect

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		source string
		want   Program
		err    string // part of the error
	}{
		{"// kind: clean\n", Program{Switches: -1, Preemptions: -1}, ""},
		{"// kind: clean", Program{Switches: -1, Preemptions: -1}, ""},
		{"// heddle: Two threads.\n// kind: clean\n#include <x>\n// kind: clean\n", Program{Summary: "Two threads.", Switches: -1, Preemptions: -1}, ""},
		{"// kind: test failure\n// finding: a \"b\" c: d\n// minimum: switches=4\n\npackage x", Program{Kinds: []trace.Kind{trace.Test}, Finding: `a "b" c: d`, Switches: 4, Preemptions: -1}, ""},
		{"// kind: data race|panic\n", Program{Kinds: []trace.Kind{trace.Race, trace.Panic}, Switches: -1, Preemptions: -1}, ""},
		{"// kind: deadlock\n// minimum: switches=3 preemptions=1\n// why: one,\n//   two\n//   three\n// simplified: partly\n",
			Program{Kinds: []trace.Kind{trace.Deadlock}, Switches: 3, Preemptions: 1, Why: "one, two three", Partly: true}, ""},
		{"// kind: clean\n// needs: timeouts\n// isolation: fork\n// plug-in: x.so\n// flags: -a -b\n// args: c d\n// options: --spurious\n",
			Program{Switches: -1, Preemptions: -1, Timeouts: true, Isolation: "fork", PlugIn: "x.so", Flags: []string{"-a", "-b"}, Args: []string{"c", "d"}, Options: []string{"--spurious"}}, ""},
		{"", Program{}, "no kind is stated"},
		{"package x\n// kind: clean\n", Program{}, "no kind is stated"},
		{"// heddle: Two threads.\n", Program{}, "no kind is stated"},
		{"// kind:\n", Program{}, `line 1: "// kind:" is not of the form`},
		{"//   kind: clean\n", Program{}, "line 1"},
		{"// kind: clean\n// and so on\n", Program{}, "line 2"},
		{"// kind: clean\n// kind: clean\n", Program{}, "line 2: a second kind"},
		{"// kind: crash\n", Program{}, `kind: unknown kind "crash"`},
		{"// kind: unknown\n", Program{}, `kind: `},
		{"// kind: panic|\n", Program{}, `kind: unknown kind ""`},
		{"// kind: panic|clean\n", Program{}, `kind: "clean" is not a kind of failure`},
		{"// kind: diverged\n", Program{}, `is not a kind of failure`},
		{"// kind: panic\n// minimum: switches=two\n", Program{}, "minimum: "},
		{"// kind: panic\n// minimum: switches=-1\n", Program{}, "minimum: "},
		{"// kind: panic\n// minimum: preemptions=1\n", Program{}, "minimum: "},
		{"// kind: panic\n// needs: luck\n", Program{}, `needs: "luck"; want timeouts`},
		{"// kind: panic\n// simplified: no\n", Program{}, `simplified: "no"; want partly`},
		{"// kind: panic\n// colour: red\n", Program{}, "colour: unknown field"},
		{"// kind: clean\n// finding: x\n", Program{}, "finding: "},
	} {
		got, err := Parse(test.source)
		if test.err == "" {
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("%q: %+v, %v", test.source, got, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: error %v, want %q", test.source, err, test.err)
		}
	}
}

// The head of every C and C++ program can be read; programs in fail fail, the others are right.
func TestPrograms(t *testing.T) {
	t.Parallel()
	n := 0
	for _, dir := range []string{"programs/fail", "programs/pass", "programs/bench", "programs/compute/fail", "programs/compute/pass", "conformance"} {
		for _, pattern := range []string{"*.c", "*.cc"} {
			files, err := filepath.Glob("../../../testdata/" + dir + "/" + pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				n++
				p, err := Read(file)
				if err != nil {
					t.Error(err)
				} else if p.Clean() != (filepath.Base(dir) != "fail") || p.Summary == "" || (p.Why == "") != (p.Switches < 0) {
					t.Errorf("%s: %+v", file, p)
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d programs", n)
	}
}
