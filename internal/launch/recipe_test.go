package launch

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// TestOldTraces: traces from before recipes existed are read as recipes. testdata has one of heddle
// test and one of heddle find in the old format; they must never be written again.
func TestOldTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tool"), 0o777); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]trace.Recipe{
		"old-test.trace": {
			Kind: trace.RecipeTest, Tool: "go", Flags: []string{"-tags=a,b", "-ldflags=-X main.v=1"}, Packages: []string{"example.com/old/counter"}, Args: []string{"word", "a b"},
			Run: "^TestCounter$", Skip: "TestY", Short: true, Parallel: 3, RacesAllowed: true,
		},
		"old-find.trace": {Kind: trace.RecipeProgram, Tool: "go", Packages: []string{"./tool"}, Args: []string{"now"}},
	} {
		tr, err := trace.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if tr.Header.Recipe != nil || len(tr.Header.Command) == 0 {
			t.Fatalf("%s is not an old trace", file)
		}
		got, err := RecipeOf(tr.Header.Run(), dir)
		if err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, %v", file, got, err)
		}
		// Reports still show the old command line.
		if line := report.CommandLine(&trace.Header{Recipe: got}); !reflect.DeepEqual(line, tr.Header.Command) {
			t.Errorf("%s: shown as %q, was %q", file, line, tr.Header.Command)
		}
	}
}

// TestOldCommandLines: every form that heddle wrote into headers is read, and nothing else.
func TestOldCommandLines(t *testing.T) {
	t.Parallel()
	line := []string{
		"heddle", "test", "--leaks=ignore", "--leak-ignore=a.(*B).c", "--leak-ignore=d,e", "-vet=off", "-tags=x,y", "-ldflags=-X=a.b=c d", "-gcflags=all=-N -l", "-gcflags=-m", "-trimpath",
		"-race=false", "-short", "-parallel=3", "-skip=TestY/a b", "-run=^TestX$/^a b$", "example.com/p", "-args", "-x", "--", "", "-args",
	}
	h := trace.Header{Command: line}
	r, err := RecipeOf(h.Run(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if again := report.CommandLine(&trace.Header{Recipe: r}); !reflect.DeepEqual(again, line) {
		t.Errorf("%q\n%q", again, line)
	}
	h.Command = []string{"heddle", "test", "--no-leaks", "-run=X", "p"} // as the first versions wrote it
	if r, err := RecipeOf(h.Run(), "."); err != nil || r.Leaks != LeaksIgnore {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range [][]string{
		nil, {"./prog"}, {"heddle", "simplify", "x"}, {"heddle", "test", "--nosuch", "x"}, {"heddle", "test", "-run=X"}, {"heddle", "test", "-run=X", "p", "-tags=a"},
		{"heddle", "find", "-o", "x", "--", "./p"}, {"heddle", "find", "--"}, {"heddle", "find", "--", "/bin/sh"}, {"heddle", "test", "-parallel=-1", "-run=X", "p"}, {"heddle", "test", "-", "p"},
	} {
		h.Command = bad
		if r, err := RecipeOf(h.Run(), "."); err == nil {
			t.Errorf("%q is taken for %s", bad, strings.Join(report.CommandLine(&trace.Header{Recipe: r}), " "))
		}
	}
}
