package toolchain

import (
	"bytes"
	"context"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"
)

func TestBuild(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		cache := t.TempDir()
		strict := p.c
		// A flag that this compiler does not know or use must not go unnoticed.
		strict.Command = append(slices.Clone(strict.Command), "-Werror", "-Wno-unused-parameter")
		rt, err := Build(t.Context(), Options{Compiler: strict, Cache: cache, Source: standin})
		if err != nil {
			t.Fatal(err)
		}
		lib, err := elf.Open(rt.Library)
		if err != nil {
			t.Fatal(err)
		}
		defer lib.Close()
		if soname, err := lib.DynString(elf.DT_SONAME); err != nil || !slices.Equal(soname, []string{"libtsan.so.2"}) {
			t.Errorf("SONAME %q, %v", soname, err)
		}
		if flags, err := lib.DynValue(elf.DT_FLAGS_1); err != nil || len(flags) != 1 || elf.DynFlag1(flags[0])&(elf.DF_1_INITFIRST|elf.DF_1_NOW) != elf.DF_1_INITFIRST|elf.DF_1_NOW {
			t.Errorf("DT_FLAGS_1 %#x, %v: want INITFIRST and NOW", flags, err)
		}
		symbols, err := lib.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range symbols {
			if s.Section != elf.SHN_UNDEF && !strings.HasPrefix(s.Name, "__tsan_") {
				t.Errorf("exports %s, which is not marked for export", s.Name)
			}
		}
		library, err := os.Stat(rt.Library)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"libtsan.so", "libtsan.so.0", "libtsan.so.2"} {
			if st, err := os.Stat(filepath.Join(rt.Dir, name)); err != nil || !os.SameFile(st, library) {
				t.Errorf("%s is not the library: %v", name, err)
			}
		}
		checkDebugSource(t, lib, filepath.Join(rt.Dir, "src", "hooks.c"))
		if got := list(t, cache); !slices.Equal(got, []string{filepath.Base(rt.Dir), filepath.Base(rt.Dir) + ".lock"}) {
			t.Errorf("the cache holds %q", got)
		}

		again, err := Build(t.Context(), Options{Compiler: strict, Cache: cache, Source: standin})
		if err != nil || again != rt {
			t.Errorf("second call: %+v, %v", again, err)
		}
		if st, err := os.Stat(rt.Library); err != nil || !os.SameFile(st, library) {
			t.Errorf("the second call built again")
		}
	})
}

// checkDebugSource looks for a source file in the debug information, under a name that
// exists.
func checkDebugSource(t *testing.T, lib *elf.File, want string) {
	t.Helper()
	data, err := lib.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(want); err != nil {
		t.Error(err)
	}
	var got []string
	for r := data.Reader(); ; {
		unit, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if unit == nil {
			break
		}
		r.SkipChildren()
		dir, _ := unit.Val(dwarf.AttrCompDir).(string)
		name, _ := unit.Val(dwarf.AttrName).(string)
		got = append(got, filepath.Join(dir, name))
	}
	if !slices.Contains(got, want) {
		t.Errorf("debug information speaks of %q, not of %s", got, want)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// changed is a copy of the stand-in with some files replaced.
func changed(files map[string]string) fs.FS {
	copied := maps.Clone(standin.(fstest.MapFS))
	for name, text := range files {
		copied[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return copied
}

func TestKeyDependsOnEverything(t *testing.T) {
	t.Parallel()
	keyOf := func(source fs.FS, c Compiler) string {
		files, err := readSource(source)
		if err != nil {
			t.Fatal(err)
		}
		return key(files, c)
	}
	c := Compiler{Command: []string{"/usr/bin/cc"}, Family: GCC, Version: "gcc 12.2.0"}
	base := keyOf(standin, c)
	if keyOf(standin, c) != base {
		t.Error("the same input has two keys")
	}
	other := map[string]string{
		"another source":   keyOf(changed(map[string]string{"hooks.c": "int x;"}), c),
		"another header":   keyOf(changed(map[string]string{"include/standin.h": ""}), c),
		"a further file":   keyOf(changed(map[string]string{"more.h": ""}), c),
		"another path":     keyOf(standin, Compiler{Command: []string{"/opt/cc"}, Family: GCC, Version: c.Version}),
		"another argument": keyOf(standin, Compiler{Command: []string{"/usr/bin/cc", "-m64"}, Family: GCC, Version: c.Version}),
		"another version":  keyOf(standin, Compiler{Command: c.Command, Family: GCC, Version: "gcc 13.1.0"}),
	}
	for what, k := range other {
		if k == base {
			t.Errorf("%s has the same key", what)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	eachCompiler(t, func(t *testing.T, p pair) {
		tests := []struct {
			name   string
			source fs.FS
			cache  string
			want   []string // in the error, in this order
		}{
			{name: "does not compile", source: changed(map[string]string{"bad.c": "int f(void) { return undeclared; }"}),
				want: []string{"heddle's runtime cannot be built with " + p.c.Path(), "src/bad.c:1", "undeclared"}},
			{name: "does not link", source: changed(map[string]string{"bad.c": "int g(void); __attribute__((visibility(\"default\"))) int f(void) { return g(); }"}),
				want: []string{"cannot be built", "g"}},
			{name: "no source", source: fstest.MapFS{"include/x.h": {}}, want: []string{"no C file"}},
			{name: "cache is a file", source: standin, cache: "/proc/self/status/x", want: []string{"the cache directory /proc/self/status/x cannot be written", "HEDDLE_CACHE"}},
			{name: "cache cannot be made", source: standin, cache: "/proc/heddle", want: []string{"the cache directory /proc/heddle cannot be written", "HEDDLE_CACHE"}},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				cache := test.cache
				if cache == "" {
					cache = t.TempDir()
				}
				rt, err := Build(t.Context(), Options{Compiler: p.c, Cache: cache, Source: test.source})
				if err == nil {
					t.Fatalf("built %+v", rt)
				}
				rest := err.Error()
				for _, want := range test.want {
					i := strings.Index(rest, want)
					if i < 0 {
						t.Fatalf("error %q does not go on with %q", err, want)
					}
					rest = rest[i+len(want):]
				}
				if test.cache == "" {
					for _, name := range list(t, cache) {
						if !strings.HasSuffix(name, ".lock") {
							t.Errorf("left %s in the cache", name)
						}
					}
				}
			})
		}
	})
}

func TestBuildForAnotherMachine(t *testing.T) {
	t.Parallel()
	for machine, want := range map[string]string{
		"aarch64-linux-gnu":        "64-bit x86 Linux only",
		"x86_64-linux-gnux32":      "64-bit x86 Linux only",
		"x86_64-w64-mingw32":       "64-bit x86 Linux only",
		"x86_64-alpine-linux-musl": "needs the GNU C library",
	} {
		dir := t.TempDir()
		script := filepath.Join(dir, "cc")
		if err := os.WriteFile(script, []byte("#!/bin/sh\necho "+machine+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := Build(t.Context(), Options{Compiler: Compiler{Command: []string{script}, Family: GCC, Version: machine}, Cache: t.TempDir(), Source: standin})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), machine) {
			t.Errorf("%s: error %v, want %q", machine, err, want)
		}
	}
}

// A cache that cannot be written is good enough if the runtime is in it.
func TestReadOnlyCache(t *testing.T) {
	t.Parallel()
	p := anyCompiler(t)
	full, empty := t.TempDir(), t.TempDir()
	want, err := Build(t.Context(), Options{Compiler: p.c, Cache: full, Source: standin})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{full, empty} {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o755)
	}
	for _, dir := range []string{full, empty} { // TempDir's are for their owner only
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Root may write anywhere; another file-system user id removes that right
	// from this kernel thread, which ends with the goroutine.
	type answer struct {
		rt  Runtime
		err error
	}
	try := func(cache string) answer {
		done := make(chan answer)
		go func() {
			if os.Getuid() == 0 {
				runtime.LockOSThread()
				unix.Setfsuid(65534)
			}
			rt, err := Build(t.Context(), Options{Compiler: p.c, Cache: cache, Source: standin})
			done <- answer{rt, err}
		}()
		return <-done
	}
	if got := try(full); got.err != nil || got.rt != want {
		t.Errorf("with the runtime in the cache: %+v, %v", got.rt, got.err)
	}
	got := try(empty)
	if got.err == nil {
		t.Fatal("built into a directory that cannot be written")
	}
	for _, want := range []string{empty, "HEDDLE_CACHE", "permission denied"} {
		if !strings.Contains(got.err.Error(), want) {
			t.Errorf("error %q does not say %q", got.err, want)
		}
	}
	if !errors.Is(got.err, fs.ErrPermission) {
		t.Errorf("error %v hides its cause", got.err)
	}
}

// logging is a compiler that notes each call in a file and may be slow to link.
func logging(t *testing.T, p pair, before string) (c Compiler, log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "log")
	script := filepath.Join(dir, "cc")
	text := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>%s\n%s\nexec %s \"$@\"\n", log, before, p.c.Path())
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := identify(t.Context(), []string{script})
	if err != nil {
		t.Fatal(err)
	}
	return c, log
}

func countLines(t *testing.T, name, word string) (n int) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, word) {
			n++
		}
	}
	return n
}

func TestConcurrentBuildsBuildOnce(t *testing.T) {
	t.Parallel()
	c, log := logging(t, anyCompiler(t), "")
	cache := t.TempDir()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if _, err := Build(t.Context(), Options{Compiler: c, Cache: cache, Source: standin}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := countLines(t, log, "-shared"); n != 1 {
		t.Errorf("linked %d times", n)
	}
}

// Several processes start on an empty cache and some are killed at any moment. Whatever
// the others get must be whole, and the next build must clean up.
func TestKilledBuilder(t *testing.T) {
	t.Parallel()
	c, log := logging(t, anyCompiler(t), `case "$*" in *-shared*) sleep 60;; esac`)
	cache := t.TempDir()
	victim := exec.Command(must(os.Executable()))
	victim.Env = append(os.Environ(), "TOOLCHAIN_TEST_AS=build", "HEDDLE_CACHE="+cache, "HEDDLE_CC="+c.Path())
	victim.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill := func() {
		if !killed {
			syscall.Kill(-victim.Process.Pid, syscall.SIGKILL) // the compiler with it
			victim.Wait()
			killed = true
		}
	}
	defer kill()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if data, _ := os.ReadFile(log); bytes.Contains(data, []byte("-shared")) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the builder did not come to linking")
		}
	}
	// While it lives, others wait for it.
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Build(short, Options{Compiler: c, Cache: cache, Source: standin}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("beside a living builder: %v", err)
	}
	kill()
	if names := list(t, cache); len(names) != 2 {
		t.Fatalf("the killed builder left %q, want its lock and its directory", names)
	}
	if err := os.WriteFile(c.Path(), []byte(fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", anyCompiler(t).c.Path())), 0o755); err != nil {
		t.Fatal(err)
	}
	rt, err := Build(t.Context(), Options{Compiler: c, Cache: cache, Source: standin})
	if err != nil {
		t.Fatal(err)
	}
	if got := list(t, cache); !slices.Equal(got, []string{filepath.Base(rt.Dir), filepath.Base(rt.Dir) + ".lock"}) {
		t.Errorf("the cache holds %q", got)
	}
}

func TestCancelledBuildLeavesNothing(t *testing.T) {
	t.Parallel()
	c, log := logging(t, anyCompiler(t), `case "$*" in *-shared*) exec sleep 60;; esac`)
	cache := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if data, _ := os.ReadFile(log); bytes.Contains(data, []byte("-shared")) {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := Build(ctx, Options{Compiler: c, Cache: cache, Source: standin}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if names := list(t, cache); len(names) != 1 {
		t.Errorf("left %q, want only the lock", names)
	}
}

func TestDamagedCacheIsBuiltAgain(t *testing.T) {
	t.Parallel()
	damage := map[string]func(t *testing.T, rt Runtime) error{
		"truncated":  func(t *testing.T, rt Runtime) error { return os.Truncate(rt.Library, 5000) },
		"empty":      func(t *testing.T, rt Runtime) error { return os.Truncate(rt.Library, 0) },
		"no library": func(t *testing.T, rt Runtime) error { return os.Remove(rt.Library) },
		"no link":    func(t *testing.T, rt Runtime) error { return os.Remove(filepath.Join(rt.Dir, "libtsan.so.2")) },
		"file instead": func(t *testing.T, rt Runtime) error {
			return errors.Join(os.RemoveAll(rt.Dir), os.WriteFile(rt.Dir, nil, 0o644))
		},
	}
	for name, do := range damage {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := Options{Compiler: anyCompiler(t).c, Cache: t.TempDir(), Source: standin}
			rt, err := Build(t.Context(), opt)
			if err == nil {
				err = do(t, rt)
			}
			if err == nil {
				rt, err = Build(t.Context(), opt)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !complete(rt.Dir) {
				t.Error("still damaged")
			}
		})
	}
}
