package cprog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// addresses prints where its stack, arguments, environment, auxiliary vector and heap are, in a
// constructor of a library, in one of the program, in main and in a thread.
const addresses = `
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
extern char **environ;
static char early[300];
__attribute__((constructor)) static void before(int argc, char **argv, char **envp) {
  int local;
  snprintf(early, sizeof early, "constructor: local %p argv %p envp %p environ %p heap %p", (void *)&local, (void *)argv, (void *)envp, (void *)environ, malloc(8));
}
static void *thread(void *x) { int local; printf("thread: local %p\n", (void *)&local); return x; }
int main(int argc, char **argv, char **envp) {
  int local;
  pthread_t t;
  char **end = envp;
  while (*end) end++;
  unsigned long walked = 0;
  for (Elf64_auxv_t *a = (Elf64_auxv_t *)(end + 1); a->a_type != AT_NULL; a++) if (a->a_type == AT_EXECFN) walked = a->a_un.a_val;
  pthread_attr_t attr;
  void *lo; size_t size;
  pthread_getattr_np(pthread_self(), &attr);
  pthread_attr_getstack(&attr, &lo, &size);
  printf("%s\n", early);
  printf("main: local %p argv %p argv[0] %p environ %p heap %p stack %p %zu\n", (void *)&local, (void *)argv, (void *)argv[0], (void *)environ, malloc(8), lo, size);
  printf("aux: path %lx random %lx phdr %lx\n", getauxval(AT_EXECFN), getauxval(AT_RANDOM), getauxval(AT_PHDR));
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  const char *path = (const char *)getauxval(AT_EXECFN);
  if (envp != environ || argv[argc] || envp != argv + argc + 1) return 2;
  if (walked != getauxval(AT_EXECFN) || strcmp(strrchr(path, '/') + 1, program_invocation_short_name)) return 3;
  if (strcmp(program_invocation_name, argv[0])) return 4;
  if ((char *)&local < (char *)lo || (char *)&local > (char *)lo + size || size < (8 << 20)) return 5;
  return 0;
}`

// Neither the size of the environment, nor how the program is called, nor where it is moves
// anything that a program can take the address of.
func TestAddressesDoNotMove(t *testing.T) {
	prog := compile(t, addresses)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), strings.Repeat("directory/", 20))
	if err := os.MkdirAll(elsewhere, 0o777); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(elsewhere, "another-name")
	if err := os.Link(prog, other); err != nil {
		t.Fatal(err)
	}
	var many []string
	for i := range 1900 {
		many = append(many, fmt.Sprintf("V%d=%d", i, i))
	}
	for _, isolation := range []Isolation{Snapshot, Fork, Process} {
		t.Run(isolation.String(), func(t *testing.T) {
			want := ""
			for _, c := range []struct {
				name, path, argv0 string
				env               []string
			}{
				{"plain", prog, "./prog", []string{"A=1"}},
				{"empty environment", prog, "./prog", []string{}},
				{"large variable", prog, "./prog", []string{"A=1", "B=" + strings.Repeat("x", 100_000)}},
				{"large environment", prog, "./prog", []string{"A=" + strings.Repeat("x", 130_000), "B=" + strings.Repeat("x", 130_000), "C=" + strings.Repeat("x", 130_000)}},
				{"many variables", prog, "./prog", many},
				{"empty variables", prog, "./prog", []string{"A=", "B=", "=", ""}},
				{"whole path", prog, prog, []string{"A=1"}},
				{"another name and place", other, "./another-name", []string{"A=1"}},
			} {
				// A directory of its own where the program's own has nothing to do with it.
				tg, err := Start(t.Context(), Config{Path: c.path, Args: []string{c.argv0}, Dir: filepath.Dir(c.path), Env: c.env, Runtime: lib, Isolation: isolation})
				if err != nil {
					t.Fatal(err)
				}
				o := run(t, tg, schedule.Plan{Record: true})
				if len(c.env) > 0 && isolation == Snapshot {
					again := run(t, tg, schedule.Plan{Record: true})
					if !slices.Equal(again.Ending.Output, o.Ending.Output) {
						t.Errorf("%s: a second execution printed\n%s, the first\n%s", c.name, again.Ending.Output, o.Ending.Output)
					}
				}
				tg.Close()
				got := string(o.Ending.Output)
				if o.Ending.Kind != trace.Clean || o.Ending.Status != 0 {
					t.Errorf("%s: %v %d %s\n%s", c.name, o.Ending.Kind, o.Ending.Status, o.Ending.Message, got)
				}
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s:\n%s, but\n%s", c.name, got, want)
				}
			}
		})
	}
}

// As many arguments as the kernel allows.
func TestLongArguments(t *testing.T) {
	prog := compile(t, `
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static char **words;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static size_t sum;
static void *add(void *x) { for (char **w = words; *w; w++) { pthread_mutex_lock(&m); sum += strlen(*w); pthread_mutex_unlock(&m); } return x; }
static int deep(int n) { volatile char big[4096]; big[0] = (char)n; return n ? deep(n - 1) + big[0] : 0; }
int main(int argc, char **argv) {
  pthread_t t;
  words = argv + 1;
  deep(1500); // 6 MB of stack: natively it is there
  pthread_create(&t, NULL, add, NULL);
  pthread_join(t, NULL);
  printf("%d %zu\n", argc - 1, sum);
  if (*argv[1] != 'x') return 2; // restored after an execution that has changed it
  *argv[1] = 'y';
  return 0;
}`)
	limit := argLimit()
	if limit < 2<<20 {
		t.Fatalf("this test needs the usual limit on the stack (ulimit -s 8192)")
	}
	for _, size := range []int{510_000, 1_000_000, 1_500_000, 2<<20 - 8_000} {
		for _, isolation := range []Isolation{Snapshot, Fork, Process} {
			args, bytes := []string{"prog"}, 0
			for left := size; left > 0; {
				n := min(left, maxArgStrlen-1)
				args = append(args, strings.Repeat("x", n))
				left -= n + 1 + 8
				bytes += n
			}
			lib, err := theRuntime()
			if err != nil {
				t.Fatal(err)
			}
			tg, err := Start(t.Context(), Config{Path: prog, Args: args, Env: []string{}, Runtime: lib, Isolation: isolation})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				o := run(t, tg, schedule.Plan{Record: true})
				if want := fmt.Sprintf("%d %d\n", len(args)-1, bytes); o.Ending.Kind != trace.Clean || o.Ending.Status != 0 || string(o.Ending.Output) != want {
					t.Errorf("%d bytes, %v: %v %d, %q, want %q", size, isolation, o.Ending.Kind, o.Ending.Status, o.Ending.Output, want)
				}
			}
			tg.Close()
		}
	}
	lib, _ := theRuntime()
	for _, c := range []struct {
		args, env []string
		want      string
	}{
		{[]string{"prog", strings.Repeat("x", maxArgStrlen)}, nil, "argument 1 has 131072 bytes, and Linux allows one argument 131071: pass it in a file"},
		{[]string{"prog"}, []string{"V=" + strings.Repeat("x", maxArgStrlen)}, "the environment variable V has 131074 bytes"},
		{slices.Repeat([]string{strings.Repeat("x", 100_000)}, 70), nil, "more than the kernel allows a program: shorten them"},
	} {
		_, err := Start(t.Context(), Config{Path: prog, Args: c.args, Env: append([]string{}, c.env...), Runtime: lib})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Everything that the kernel counts has one size and one number of pointers, and goes up by
// steps only where it must.
func TestPadding(t *testing.T) {
	const limit = 2 << 20
	total := func(path string, args, env []string) (int, int) {
		p := padding(path, args, env, limit)
		if len(p) > 0 && !strings.HasPrefix(p[0], abi.Padding) {
			t.Errorf("the first variable is %.20q", p[0])
		}
		for _, s := range p {
			if s == "" || strings.Contains(s, "=") || len(s) >= maxArgStrlen {
				t.Fatalf("a variable of %d bytes: %.20q", len(s), s)
			}
		}
		return argSize(path, args, append(slices.Clone(env), p...))
	}
	bytes, pointers := total("/bin/true", []string{"true"}, nil)
	for _, c := range []struct{ args, env, chars int }{{1, 0, 0}, {1, 1, 130_000}, {1, 2, 130_000}, {1900, 10, 40}, {3, 1800, 20}, {1, vectorSize - 1 - vectorSpare, 5}} {
		b, n := total("/a/longer/path", slices.Repeat([]string{strings.Repeat("a", c.chars)}, c.args), slices.Repeat([]string{strings.Repeat("e", c.chars)}, c.env))
		if b != bytes || n != pointers {
			t.Errorf("%v: %d bytes and %d pointers, want %d and %d", c, b, n, bytes, pointers)
		}
	}
	for _, c := range []struct{ args, chars int }{{5, 130_000}, {9, 130_000}, {15, 130_000}, {10_000, 80}} {
		if b, n := total("/p", slices.Repeat([]string{strings.Repeat("a", c.chars)}, c.args), nil); b+8*n > limit {
			t.Errorf("%v: %d bytes and %d pointers are more than %d", c, b, n, limit)
		}
	}
	if p := padding("/p", slices.Repeat([]string{strings.Repeat("a", 130_000)}, 16), nil, limit); p != nil {
		t.Errorf("%d variables where there is no room", len(p))
	}
}
