//go:build e2e

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// pbzip2, as Debian has it, built by its own makefile with heddle c++ in the compiler's
// place, runs under find without a finding; one execution is recorded, replayed and shown.
// It is one of the programs of FSE'10. (pfscan, another, is in no release of Debian that is
// still served.) Fetches the source from Debian, so it needs the network, and libbz2-dev.
func TestPbzip2(t *testing.T) {
	if _, err := os.Stat("/usr/include/bzlib.h"); err != nil {
		t.Skip("bzlib.h is missing: apt-get install libbz2-dev")
	}
	dir := t.TempDir()
	fetch := exec.CommandContext(t.Context(), filepath.Join(repository(t), "cmd/heddle/testdata/fetch-source.sh"), "pbzip2", dir)
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Fatalf("cannot fetch pbzip2's source: %v\n%s", err, out)
	}
	build := heddleCommand(t, filepath.Join(dir, "source"), nil, "version")
	build.Args = []string{"make", "CXX=" + build.Path + " c++", "pbzip2"}
	build.Path = lookPath(t, "make")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("make: %v\n%s", err, out)
	}
	// Two files: one that a single thread compresses, and one of three blocks.
	text := strings.Repeat("which threads go over and which go under ", 30)
	write := func(name string, n int) {
		b := strings.Builder{}
		for i := 0; b.Len() < n; i++ {
			b.WriteString(text[i%len(text):])
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()[:n]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("small", 20_000)
	write("large", 250_000)
	program := []string{"--", "source/pbzip2", "-k", "-c", "-p3", "-b1", "-1", "small", "large"}

	out := runJSON[findJSON](t, dir, exitNothing, append([]string{"find", "--json", "--time", "0", "--runs", "500"}, program...)...)
	if out.Outcome != "clean" || out.Executions != 500 || len(out.Notes) > 0 {
		t.Errorf("%+v", out)
	}
	if out.Behaviours < 100 {
		t.Errorf("500 executions showed only %d behaviours", out.Behaviours)
	}
	t.Logf("%.0f executions/s, %d behaviours", float64(out.Executions)/out.Seconds, out.Behaviours)

	rec := runJSON[recordJSON](t, dir, exitNothing, append([]string{"record", "--json", "--strategy", "pct", "-o", "one.hdl"}, program...)...)
	if rec.Cost.Threads < 5 || rec.Cost.Events < 100 {
		t.Errorf("recorded %+v", rec)
	}
	if r := runJSON[replayJSON](t, dir, exitNothing, "replay", "--json", "--times", "5", "one.hdl"); !r.Same {
		t.Errorf("%+v", r)
	}
	shown, err := heddleCommand(t, dir, nil, "show", "one.hdl").Output()
	if err != nil || !strings.Contains(string(shown), "pbzip2.cpp:") || !strings.Contains(string(shown), "cond wait") {
		t.Errorf("show: %v\n%s", err, shown)
	}
	tr, err := trace.ReadFile(filepath.Join(dir, "one.hdl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Validate(tr); err != nil {
		t.Error(err)
	}
}

func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
