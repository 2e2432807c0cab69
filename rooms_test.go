package heddle_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/heddle-dev/heddle"
)

// rooms orders the directories of the C runtime, lowest first. A file includes headers of its
// own room and of lower ones only, and calls only what is defined there. What core needs of the
// rooms above it they register (runtime/c/core/registration.h).
var rooms = []string{"arch", "core", "memory", "signals", "threads", "time", "sync", "libraries", "loader", "io", "files", "process"}

// roomOf returns the index of a file's room, -1 if it has none. The name is relative to
// runtime/c.
func roomOf(name string) int {
	room, _, _ := strings.Cut(name, "/")
	return slices.Index(rooms, room)
}

var includeLine = regexp.MustCompile(`(?m)^\s*#\s*include "([^"]+)"`)

// badIncludes checks a file's #include lines against the order of rooms.
func badIncludes(name, source string) (complaints []string) {
	if roomOf(name) < 0 {
		return []string{fmt.Sprintf("%s is in no room: give its directory a place in rooms in rooms_test.go", name)}
	}
	for _, m := range includeLine.FindAllStringSubmatch(source, -1) {
		switch to := m[1]; {
		case to == "heddle_abi.h", to == "assembly_hooks.h", to == "sharing.h":
		case roomOf(to) < 0:
			complaints = append(complaints, fmt.Sprintf("%s includes %q: want a path from runtime/c", name, to))
		case roomOf(to) > roomOf(name):
			complaints = append(complaints, fmt.Sprintf("%s includes %s, which is in a higher room", name, to))
		}
	}
	return complaints
}

// eachSource calls f for every file of the C runtime, with its name relative to runtime/c.
func eachSource(t *testing.T, f func(name, source string)) {
	t.Helper()
	source := heddle.CRuntime()
	err := fs.WalkDir(source, "c", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(source, name)
		f(strings.TrimPrefix(name, "c/"), string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRoomsInclude(t *testing.T) {
	t.Parallel()
	seen := make([]bool, len(rooms))
	eachSource(t, func(name, source string) {
		for _, complaint := range badIncludes(name, source) {
			t.Error(complaint)
		}
		if room := roomOf(name); room >= 0 {
			seen[room] = true
		}
	})
	for i, room := range rooms {
		if !seen[i] {
			t.Errorf("rooms names %s, which does not exist", room)
		}
	}
}

func TestRoomsNoticeIncludes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, source string
		bad          int
	}{
		{"core/sched.c", "#include \"core/run.h\"\n#include <stdio.h>\n", 0},
		{"core/sched.c", "#include \"heddle_abi.h\"\n#include \"arch/arch.h\"\n", 0},
		{"core/sched.c", "int a;\n  # include \"sync/sync.h\"\n#include \"io/stdio.h\"\n", 2},
		{"sync/mutex.c", "#include \"core/sched.h\"\n", 0},
		{"sync/mutex.c", "#include \"sync.h\"\n", 1},
		{"other/x.c", "", 1},
	} {
		if got := badIncludes(test.name, test.source); len(got) != test.bad {
			t.Errorf("%s with %q: %q", test.name, test.source, got)
		}
	}
}

// object is what an object file defines for other files, and what it needs of them.
type object struct {
	name           string // of the source, relative to runtime/c
	defines, needs []string
}

// badCalls checks symbols against the order of rooms: an #include may be avoided by declaring
// a function again.
func badCalls(objects []object) (complaints []string) {
	home := map[string]string{}
	for _, o := range objects {
		for _, s := range o.defines {
			home[s] = o.name
		}
	}
	for _, o := range objects {
		for _, s := range o.needs {
			if at, ok := home[s]; ok && roomOf(at) > roomOf(o.name) {
				complaints = append(complaints, fmt.Sprintf("%s uses %s of %s, which is in a higher room", o.name, s, at))
			}
		}
	}
	return complaints
}

func TestRoomsCall(t *testing.T) {
	t.Parallel()
	cc, err := exec.LookPath("gcc")
	if err != nil {
		if cc, err = exec.LookPath("clang"); err != nil {
			t.Skip("needs gcc or clang")
		}
	}
	dir := t.TempDir()
	var objects []object
	eachSource(t, func(name, _ string) {
		if ext := path.Ext(name); ext == ".c" || ext == ".S" {
			objects = append(objects, object{name: name})
		}
	})
	if len(objects) < 50 {
		t.Fatalf("found %d sources", len(objects))
	}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range objects {
		o := &objects[i]
		g.Go(func() error {
			out := filepath.Join(dir, strings.ReplaceAll(o.name, "/", "-")+".o")
			// Without optimisation: what is inlined or left out by one compiler is a call for another.
			cmd := exec.Command(cc, "-std=gnu11", "-O0", "-fPIC", "-fno-builtin", "-fexceptions", "-Iruntime/include", "-Iruntime/c", "-c", "runtime/c/"+o.name, "-o", out)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w\n%s", o.name, err, &stderr)
			}
			return o.read(out)
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, complaint := range badCalls(objects) {
		t.Error(complaint)
	}
}

// read fills in the symbols of an object file.
func (o *object) read(file string) error {
	f, err := elf.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		switch {
		case s.Section == elf.SHN_UNDEF:
			o.needs = append(o.needs, s.Name)
		case elf.ST_BIND(s.Info) != elf.STB_LOCAL:
			o.defines = append(o.defines, s.Name)
		}
	}
	return nil
}

func TestRoomsNoticeCalls(t *testing.T) {
	t.Parallel()
	objects := []object{
		{name: "core/sched.c", defines: []string{"hd_point"}, needs: []string{"hd_mutex_free", "abort"}},
		{name: "sync/mutex.c", defines: []string{"hd_mutex_free"}, needs: []string{"hd_point"}},
	}
	want := []string{"core/sched.c uses hd_mutex_free of sync/mutex.c, which is in a higher room"}
	if got := badCalls(objects); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
