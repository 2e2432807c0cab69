package patch

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/abi"
)

// TestDoctored: in a copy of a Go installation that differs as a next release may, each difference that concerns heddle is
// named with its file, its function and what heddle expects, all in one run.
func TestDoctored(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := strings.TrimSpace(string(out))
	root := doctored(t, original)

	_, said := placed(root, (Options{Sanitizer: true}).edits())
	said = slices.Concat(said, misfits(t, root, fitting(t, root, Options{})), unedited(t, root), otherAtomics(t, root),
		newUses(uses(t, root), uses(t, original)), changed(t, original, root))
	place := regexp.MustCompile(`:\d+:\d+:`)
	for i := range said {
		said[i] = place.ReplaceAllString(said[i], ":")
	}
	slices.Sort(said)
	const remedy = ": new; give it an edit, or name it in reviewed with the reason why it needs none"
	want := []string{
		`runtime/proc.go has no park_m, for "hdParked(gp)"`,
		`newproc1 in runtime/proc.go has no "return newg", for "hdBorn(newg, callergp)"`,
		`sync/pool.go is missing, and with it (*Pool).Get, for "` + point(abi.OpPoolGet, "p") + `"`,
		`sync/pool.go is missing, and with it (*Pool).Put, for "` + point(abi.OpPoolPut, "p") + `"`,
		`sync/pool.go is missing, and with it poolRaceAddr, for "if a := heddlePool((*[2]unsafe.Pointer)(unsafe.Pointer(&x))[1]); a != nil { return a }"`,
		`sync/pool.go is missing, and with it runtime_randn, for "heddleRandn"`,
		"runtime/heddle_hooks.go: undefined: isSystemGoroutine",
		"sync.(*Mutex).LockFor has no scheduling point",
		"internal/runtime/maps.(*Map).Take writes a map and cannot be interrupted there",
		"runtime/race_amd64.s has sync/atomic.NandInt32, and runtime/go/runtime/heddle_atomic.go does not",
		"runtime/time.go: time_runtimeElapsed calls nanotime, which reads the clock" + remedy,
		"runtime/time.go: runtime.time_runtimeElapsed is time.runtimeElapsed" + remedy,
		"runtime/proc.go: park_on_m calls execute, which makes a goroutine run" + remedy,
		"runtime/proc.go: park_on_m calls schedule, which makes a goroutine run" + remedy,
		"runtime: park_m, which heddle edits, is gone",
		"runtime: isSystemGoroutine, which heddle calls, is gone",
		"runtime: newproc1, which heddle edits, has another body",
		"runtime: closechan, which heddle edits, has another body",
		// They use the two that have another name.
		"runtime: gdestroy, which heddle edits, has another body",
		"runtime: gopark, which heddle calls, has another body",
		"runtime: schedEnabled, which heddle edits, has another body",
	}
	slices.Sort(want)
	said = slices.Compact(said)
	for _, s := range said {
		if !slices.Contains(want, s) {
			t.Errorf("unexpected: %s", s)
		}
	}
	for _, s := range want {
		if !slices.Contains(said, s) {
			t.Errorf("not named: %s", s)
		}
	}
}

// doctored returns a copy of a Go installation, without its own commands, in which
//   - a function and a variable of the runtime have other names,
//   - a function ends in another statement, and one does more,
//   - a file has another name,
//   - there are a new operation of package sync, function that writes maps, atomic function and reader of the clock.
func doctored(t *testing.T, from string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"bin", "pkg", "VERSION", "go.env"} {
		if err := os.Symlink(filepath.Join(from, name), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	src := filepath.Join(from, "src")
	err := filepath.WalkDir(src, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		to := filepath.Join(root, rel)
		switch {
		case rel == "src/cmd" || d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir():
			return os.Mkdir(to, 0o755)
		case strings.HasSuffix(rel, "_test.go"):
			return nil
		case rel == "src/sync/pool.go":
			to = filepath.Join(root, "src/sync/pools.go")
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		changed := string(text)
		if filepath.Dir(rel) == "src/runtime" && strings.HasSuffix(rel, ".go") {
			changed = regexp.MustCompile(`\bpark_m\b`).ReplaceAllString(changed, "park_on_m")
			changed = regexp.MustCompile(`\bisSystemGoroutine\b`).ReplaceAllString(changed, "ofTheSystem")
		}
		for _, change := range []struct{ file, old, new string }{
			{"runtime/proc.go", "\n\n\treturn newg\n}", "\n\n\tborn := newg\n\treturn born\n}"},
			{"runtime/chan.go", "\nfunc closechan(c *hchan) {\n", "\nfunc closechan(c *hchan) {\n\tprintlock()\n\tprintunlock()\n"},
			{"sync/mutex.go", "\n// Lock locks m.\n", "\n// LockFor locks m for a while.\nfunc (m *Mutex) LockFor(d int) { m.Lock() }\n\n// Lock locks m.\n"},
			{"internal/runtime/maps/map.go", "\ntype Map struct {", "\nfunc (m *Map) Take() { m.writing ^= 1 }\n\ntype Map struct {"},
			{"runtime/race_amd64.s", "\nTEXT\tsync∕atomic·AddInt32(SB)", "\nTEXT\tsync∕atomic·NandInt32(SB), NOSPLIT, $0-20\n\tRET\n\nTEXT\tsync∕atomic·AddInt32(SB)"},
			{"runtime/time.go", "\ntype timer struct {", "\n//go:linkname time_runtimeElapsed time.runtimeElapsed\nfunc time_runtimeElapsed() int64 { return nanotime() }\n\ntype timer struct {"},
		} {
			if rel != filepath.Join("src", change.file) {
				continue
			}
			was := changed
			if changed = strings.Replace(changed, change.old, change.new, 1); changed == was {
				t.Errorf("%s has no %q", change.file, change.old)
			}
		}
		if changed == string(text) && os.Link(name, to) == nil {
			return nil
		}
		return os.WriteFile(to, []byte(changed), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}
