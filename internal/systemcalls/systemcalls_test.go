package systemcalls

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// known returns the calls that a source defines, with lower-case names by number.
func known(t *testing.T, source, pattern string) map[int]string {
	t.Helper()
	data, err := os.ReadFile(source)
	if err != nil {
		t.Skip(err)
	}
	calls := map[int]string{}
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(data), -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		calls[n] = strings.ToLower(m[1])
	}
	if len(calls) < 300 {
		t.Fatalf("%s defines only %d system calls", source, len(calls))
	}
	return calls
}

// Every call that Go's package or the machine's header knows has a row, under its name.
func TestEveryCallHasARow(t *testing.T) {
	table, err := Table()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[int]string{}
	for _, c := range table {
		rows[c.Number] = c.Name
	}
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ name, file, pattern string }{
		{"package", filepath.Join(strings.TrimSpace(string(dir)), "unix/zsysnum_linux_amd64.go"), `(?m)^\s*SYS_(\w+)\s*=\s*(\d+)`},
		{"header", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", `(?m)^#define __NR_(\w+) (\d+)$`},
	} {
		t.Run(s.name, func(t *testing.T) {
			for n, name := range known(t, s.file, s.pattern) {
				if rows[n] != name {
					t.Errorf("system call %d is %s and has the row %q in runtime/c/process/system_calls.def", n, name, rows[n])
				}
			}
		})
	}
}
