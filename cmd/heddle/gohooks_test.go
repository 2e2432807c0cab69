package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/goprog/patch"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestGoHooks: in each release, heddle sees the operations and accesses that the comments of
// testdata/goprograms/hooks list, at those lines. A hook may fit a release and no longer be called where it was: each such
// line is named.
func TestGoHooks(t *testing.T) {
	file := filepath.Join(repository(t), "testdata", "goprograms", "hooks", "hooks_test.go")
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range need.BuiltGoReleases() {
		t.Run(release, func(t *testing.T) {
			tool, overlay := goOverlay(t, release, patch.Options{})
			g := startTest(t, buildTests(t, tool, overlay, t.TempDir(), string(source)), "TestHooks")
			o := execute(t, g, schedule.Plan{Policy: schedule.Fair, Record: true, Accesses: true})
			if o.Ending.Kind != trace.Clean {
				t.Fatalf("%v %s\n%s", o.Ending.Kind, o.Ending.Message, o.Ending.Output)
			}
			seen := operationsByLine(o.Trace, "random_test.go")
			n := 0
			for line := range strings.Lines(string(source)) {
				n++
				if code, want, ok := strings.Cut(strings.TrimSpace(line), " // "); ok {
					if got := strings.Join(seen[n], ", "); got != want {
						t.Errorf("line %d, %s: %q, want %q", n, code, got, want)
					}
				}
			}
		})
	}
}

// operationsByLine returns the names of the operations at each line of a file, one for each instruction, calls of the
// library included. It omits what the library says to the race detector.
func operationsByLine(tr *trace.Trace, file string) map[int][]string {
	type operation struct {
		site trace.Site
		op   trace.Op
	}
	names := symbol.ForTrace(tr, symbol.Options{})
	seen, lines := map[operation]bool{}, map[int][]string{}
	for _, e := range tr.Events {
		switch e.Op {
		case trace.OpAcquire, trace.OpRelease, trace.OpReleaseMerge, trace.OpReleaseAcquire, trace.OpResume:
			continue
		}
		if at := (operation{e.Site, e.Op}); !seen[at] {
			seen[at] = true
			frames := names.Call(e.Site)
			if i := slices.IndexFunc(frames, func(f symbol.Frame) bool { return filepath.Base(f.File) == file }); i >= 0 {
				n := frames[i].Line
				lines[n] = append(lines[n], e.Op.String())
				slices.Sort(lines[n])
			}
		}
	}
	return lines
}
