package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// TestMain lets the test binary stand in for a heddle command in other processes.
func TestMain(m *testing.M) {
	switch os.Getenv("TOOLCHAIN_TEST_AS") {
	case "cc":
		os.Exit(actAsCompiler(C))
	case "c++":
		os.Exit(actAsCompiler(CXX))
	case "build":
		_, err := Build(context.Background(), Options{Compiler: must(Find(context.Background(), C)), Cache: os.Getenv("HEDDLE_CACHE"), Source: standin})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	os.RemoveAll(sharedCache)
	os.Exit(code)
}

// actAsCompiler is what heddle cc does, with the stand-in runtime.
func actAsCompiler(lang Language) int {
	ctx := context.Background()
	argv, env, err := func() ([]string, []string, error) {
		c, err := Find(ctx, lang)
		if err != nil {
			return nil, nil, err
		}
		argv, err := Wrap(c, os.Args[1:], func() (Runtime, error) {
			cc, err := Find(ctx, C)
			if err != nil {
				return Runtime{}, err
			}
			return Build(ctx, Options{Compiler: cc, Cache: os.Getenv("HEDDLE_CACHE"), Source: standin})
		})
		return argv, c.Environ(), err
	}()
	if err == nil {
		err = syscall.Exec(argv[0], argv, env)
	}
	fmt.Fprintln(os.Stderr, "heddle:", err)
	return 3
}

// standin is a runtime that counts. With STANDIN set it says, when the program ends, how
// often it was called.
var standin fs.FS = fstest.MapFS{
	"include/standin.h": {Data: []byte(`
#define EXPORT __attribute__((visibility("default")))
struct counts { unsigned long reads, writes, volatiles, atomics, functions; };
extern struct counts counts;
`)},
	"report.c": {Data: []byte(`
#include <stdio.h>
#include <stdlib.h>
#include "standin.h"
struct counts counts;
__attribute__((destructor)) static void report(void) {
  if (getenv("STANDIN"))
    fprintf(stderr, "standin reads=%d writes=%d volatiles=%d atomics=%d functions=%d\n",
      counts.reads > 0, counts.writes > 0, counts.volatiles > 0, counts.atomics > 0, counts.functions > 0);
}
`)},
	"c/arch/other/bad.S": {Data: []byte("\tno instruction of this machine\n")},
	"c/room/one.S":       {Data: []byte("\t.globl standin_one\n\t.hidden standin_one\nstandin_one:\n\tmovl $1, %eax\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n")},
	"hooks.c": {Data: []byte(`
#include <string.h>
#include "standin.h"
int standin_one(void);
EXPORT void __tsan_init(void) {}
EXPORT void __tsan_func_entry(void *pc) { counts.functions += standin_one(); }
EXPORT void __tsan_func_exit(void) {}
EXPORT void __tsan_vptr_update(void **a, void *b) {}
EXPORT void __tsan_vptr_read(void **a) {}
#define SIZE(n) \
  EXPORT void __tsan_read##n(void *a) { counts.reads++; } \
  EXPORT void __tsan_write##n(void *a) { counts.writes++; } \
  EXPORT void __tsan_volatile_read##n(void *a) { counts.volatiles++; } \
  EXPORT void __tsan_volatile_write##n(void *a) { counts.volatiles++; }
SIZE(1) SIZE(2) SIZE(4) SIZE(8) SIZE(16)
EXPORT void __tsan_read_range(void *a, unsigned long n) { counts.reads++; }
EXPORT void __tsan_write_range(void *a, unsigned long n) { counts.writes++; }
EXPORT int __tsan_atomic32_fetch_add(int *a, int v, int order) { counts.atomics++; return __atomic_fetch_add(a, v, 5); }
EXPORT int __tsan_atomic32_load(int *a, int order) { counts.atomics++; return __atomic_load_n(a, 5); }
EXPORT void __tsan_atomic_thread_fence(int order) { counts.atomics++; }
`)},
}

// sharedCache keeps the stand-in runtime for all tests that do not test the cache.
var sharedCache = must(os.MkdirTemp("", "heddle-toolchain-"))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// pair is a C and a C++ compiler of one family.
type pair struct {
	name   string
	c, cxx Compiler
}

func (p pair) of(l Language) Compiler { return [...]Compiler{p.c, p.cxx}[l] }

// compilers are the families installed here; tests run for each.
var compilers = sync.OnceValue(func() []pair {
	var found []pair
	for _, names := range [][2]string{{"gcc", "g++"}, {"clang", "clang++"}} {
		var p pair
		ok := true
		for i, c := range []*Compiler{&p.c, &p.cxx} {
			path, err := exec.LookPath(names[i])
			if err == nil {
				*c, err = identify(context.Background(), []string{path})
			}
			ok = ok && err == nil
		}
		p.name = names[0]
		if ok {
			found = append(found, p)
		}
	}
	return found
})

// anyCompiler is the first family installed. The test skips where no family has both its
// compilers.
func anyCompiler(t testing.TB) pair {
	t.Helper()
	if len(compilers()) == 0 {
		need.Tool(t, "gcc", "g++")
		t.Fatal("gcc and g++ are installed, but cannot be identified")
	}
	return compilers()[0]
}

// eachCompiler runs a test for every compiler family.
func eachCompiler(t *testing.T, test func(*testing.T, pair)) {
	t.Helper()
	t.Parallel()
	anyCompiler(t)
	for _, p := range compilers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// gcc and clang are for tests about what one of them does.
func family(t *testing.T, f Family) pair {
	t.Helper()
	for _, p := range compilers() {
		if p.c.Family == f {
			return p
		}
	}
	t.Skipf("%v is not installed", f)
	return pair{}
}

func buildStandin(c Compiler) (Runtime, error) {
	return Build(context.Background(), Options{Compiler: c, Cache: sharedCache, Source: standin})
}

// workspace is a directory with files in which compilers are run.
type workspace struct {
	*testing.T
	pair
	dir string
}

func newWorkspace(t *testing.T, p pair, files map[string]string) workspace {
	t.Helper()
	w := workspace{t, p, t.TempDir()}
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

func (w workspace) path(name string) string { return filepath.Join(w.dir, name) }

func (w workspace) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o755); err != nil {
		w.Fatal(err)
	}
}

// result is what a command did.
type result struct {
	stdout, stderr string
	status         int
}

// run starts a command in the workspace.
func (w workspace) run(stdin string, env []string, argv ...string) result {
	w.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = w.dir
	cmd.Env = append(append(os.Environ(), "LC_ALL=C"), env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.Fatalf("%q: %v", argv, err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// wrapped runs the wrapped compiler, in the workspace, on a command line in which words
// are separated by blanks and $DIR is the workspace.
func (w workspace) wrapped(lang Language, stdin, line string) result {
	w.Helper()
	args := strings.Fields(strings.ReplaceAll(line, "$DIR", w.dir))
	argv, err := Wrap(w.of(lang), args, func() (Runtime, error) { return buildStandin(w.c) })
	if err != nil {
		w.Fatalf("%s: %v", line, err)
	}
	return w.run(stdin, nil, argv...)
}

// compile is wrapped for command lines that must succeed without a word.
func (w workspace) compile(lang Language, line string) {
	w.Helper()
	if r := w.wrapped(lang, "", line); r.status != 0 || r.stderr != "" {
		w.Fatalf("%v %s: exit status %d\n%s", lang, line, r.status, r.stderr)
	}
}

// plain runs the compiler itself.
func (w workspace) plain(lang Language, line string) {
	w.Helper()
	c := w.of(lang)
	if r := w.run("", nil, append(c.Command[:1:1], strings.Fields(line)...)...); r.status != 0 {
		w.Fatalf("%s %s: exit status %d\n%s", c.Path(), line, r.status, r.stderr)
	}
}

// standinReport runs a program and returns what the stand-in runtime counted.
func (w workspace) standinReport(program string, status int) string {
	w.Helper()
	r := w.run("", []string{"STANDIN=1"}, program)
	if r.status != status {
		w.Fatalf("%s: exit status %d, want %d\n%s", program, r.status, status, r.stderr)
	}
	return strings.TrimSpace(r.stderr)
}
