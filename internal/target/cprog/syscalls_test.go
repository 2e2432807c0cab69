package cprog

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/systemcalls"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// anyCall makes the system call whose number the file "number" holds, with invalid arguments, and
// prints its result.
const anyCall = `
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  long n = -1, r;
  FILE *f = fopen("number", "r");
  if (!f || fscanf(f, "%ld", &n) != 1) return 2;
  fclose(f);
  errno = 0;
  r = syscall(n, -1L, -1L, -1L, -1L, -1L, -1L);
  printf("%ld %d\n", r < 0 ? r : 0, errno);
  return 0;
}`

func calls(t *testing.T) []systemcalls.Call {
	t.Helper()
	table, err := systemcalls.Table()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Every call but those that are modelled is treated as the table says.
func TestEverySystemCall(t *testing.T) {
	t.Parallel()
	prog := compile(t, anyCall)
	dir := filepath.Dir(prog)
	tg := start(t, prog)
	for _, c := range calls(t) {
		if c.Treatment == systemcalls.Modelled {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "number"), fmt.Append(nil, c.Number), 0o644); err != nil {
			t.Fatal(err)
		}
		e := run(t, tg, schedule.Plan{Record: true}).Ending
		kind, message, output := trace.Clean, "", ""
		switch c.Treatment {
		case systemcalls.Refused:
			kind, message = trace.Unsupported, "the system call "+c.Name
			if c.Part != "" {
				message += " (" + c.Part + ")"
			}
			message += ", made with syscall()"
		case systemcalls.Absent:
			output = "-1 38\n"
		case systemcalls.Kernel, systemcalls.Isolated:
			cmd := exec.Command(prog)
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			output = string(out)
		}
		if e.Kind != kind || e.Message != message || string(e.Output) != output {
			t.Errorf("%s (%s): %v %q, output %q; want %v %q, output %q", c.Name, c.Treatment, e.Kind, e.Message, e.Output, kind, message, output)
		}
	}
}

// exported returns the functions that a library defines.
func exported(t *testing.T, lib string) map[string]bool {
	t.Helper()
	f, err := elf.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			functions[s.Name] = true
		}
	}
	return functions
}

// libc's function of a call that does not just go to the kernel does not go past the runtime either.
func TestFunctionsOfSystemCalls(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("gcc", "-print-file-name=libc.so.6").Output()
	if err != nil {
		t.Skip(err)
	}
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	libc, runtime := exported(t, strings.TrimSpace(string(out))), exported(t, lib)
	// Functions that exist for old programs only and do nothing, and one that is another function.
	stubs := map[string]bool{"syslog": true, "create_module": true, "get_kernel_syms": true, "query_module": true, "nfsservctl": true, "getpmsg": true, "putpmsg": true, "uselib": true}
	for _, c := range calls(t) {
		if c.Treatment != systemcalls.Kernel && libc[c.Name] && !runtime[c.Name] && !stubs[c.Name] {
			t.Errorf("%s is %s as a system call, and libc's function goes past the runtime", c.Name, c.Treatment)
		}
	}
}
