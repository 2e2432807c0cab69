package uncontrolled

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/testing/need"
)

func build(t *testing.T, code string, flags ...string) *elf.File {
	t.Helper()
	need.Tool(t, "gcc")
	dir := t.TempDir()
	source := filepath.Join(dir, "x.c")
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	prog := filepath.Join(dir, "x")
	if b, err := exec.Command("gcc", append([]string{"-O1", "-o", prog, source}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	f, err := elf.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestInstructions: the instructions are found with and without prefixes and behind others that are not decoded, and bytes
// that only look like them are not.
func TestInstructions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("x86-64")
	}
	for code, want := range map[string][]string{
		`movl $0x0f310f31, %%eax`:              nil, // as an operand
		`movl $0xf0c70f00, %%eax`:              nil,
		`rdtsc`:                                {"rdtsc"},
		`rdtscp`:                               {"rdtscp"},
		`rdrand %%eax`:                         {"rdrand"},
		`rdrand %%r9`:                          {"rdrand"},
		`rdseed %%ax`:                          {"rdseed"},
		`rdpmc`:                                {"rdpmc"},
		`vaddps %%ymm1, %%ymm2, %%ymm3; rdtsc`: {"rdtsc"},
		`rdtsc; rdseed %%rax`:                  {"rdtsc", "rdseed"},
	} {
		f := build(t, `int main(void) { __asm__ volatile("`+code+`" ::: "rax", "rcx", "rdx", "r9"); return 0; }`)
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		functions, _ := elffile.NewSymtabs(symbols)
		if got := Instructions(f, functions); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
		if got := Instructions(f, nil); !slices.Equal(got, want) && want != nil { // stripped
			t.Errorf("%s, without symbols: %v, want %v", code, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	f := build(t, `
#define _GNU_SOURCE
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
int main(int argc, char **argv) {
  if (argc > 1) return (int)lgamma(argc) + signgam + (int)timezone + fgetwc(stdin) + toupper(argc) + environ[0][0] + rand();
  return puts(argv[0]) < 0;
}`, "-Wl,--no-as-needed", "-lm", "-fno-builtin")
	known := map[string]bool{"puts": true, "rand": true, "__libc_start_main": true}
	if got, want := Names(f, known), []string{"fgetwc", "signgam", "timezone"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	delete(known, "rand")
	if got := Names(f, known); !slices.Contains(got, "rand") {
		t.Errorf("%v", got)
	}
}

// TestStateless: no function is listed that the runtime has a part in.
func TestStateless(t *testing.T) {
	for _, name := range []string{"rand", "ftell", "getenv", "strtok", "fgetwc", "getpwnam", "mblen", "syslog", "tmpnam", "mallinfo"} {
		if stateless[name] {
			t.Errorf("%s has state", name)
		}
	}
}

// TestAtomics: the instructions are found before which no hook is called, and nothing that only looks like them.
func TestAtomics(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("x86-64")
	}
	const hookEnds = `popq %%rdi; leaq 128(%%rsp), %%rsp; `
	for code, want := range map[string]int{
		`lock; incl (%%rax)`:                                    1,
		`lock; incl (%%rax); lock; decl (%%rax)`:                2,
		`lock cmpxchg16b (%%rax)`:                               1,
		`lock btsq %%rax, 8(%%rcx)`:                             1,
		`xchgl %%eax, (%%rcx)`:                                  1,
		`xchgl %%eax, %%ecx`:                                    0,
		`incl (%%rax)`:                                          0,
		`movl $0x00fff0f0, %%eax; movl $0x18878787, %%eax`:      0,
		hookEnds + `lock; incl (%%rax)`:                         0,
		hookEnds + `xchgl %%eax, (%%rcx)`:                       0,
		hookEnds + `xchgl %%eax, (%%rcx); xchgl %%eax, (%%rcx)`: 1,
	} {
		f := build(t, `int main(int argc, char **argv) { (void)argv; if (argc > 9) __asm__ volatile("`+code+`" ::: "rax", "rcx", "rdx", "r9", "memory"); return 0; }`)
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		functions, _ := elffile.NewSymtabs(symbols)
		if got := Atomics(f, functions); len(got) != want {
			t.Errorf("%s: %#x, want %d", code, got, want)
		}
		if got := Atomics(f, nil); len(got) != want { // stripped
			t.Errorf("%s, without symbols: %#x, want %d", code, got, want)
		}
	}
}
