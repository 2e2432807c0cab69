//go:build e2e

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// heddleIn prepares calls of heddle with one compiler family and a cache of its own.
func heddleIn(t *testing.T, cache, cc, cxx string) func(args ...string) *exec.Cmd {
	t.Helper()
	heddle, err := exec.LookPath("heddle")
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := exec.Command(heddle, args...)
		cmd.Env = append(os.Environ(), "HEDDLE_CC="+cc, "HEDDLE_CXX="+cxx, "HEDDLE_CACHE="+cache)
		return cmd
	}
}

// directive is the value of a "// name: value" line at the head of a test program.
func directive(source, name string) string {
	for line := range strings.Lines(source) {
		if value, ok := strings.CutPrefix(line, "// "+name+": "); ok {
			return strings.TrimSpace(value)
		}
		if !strings.HasPrefix(line, "//") {
			break
		}
	}
	return ""
}

// Every test program builds with heddle cc and is fit for heddle; those that are correct
// also run without heddle in control.
func TestProgramsBuildAndRunAlone(t *testing.T) {
	for _, compilers := range [][2]string{{"gcc", "g++"}, {"clang", "clang++"}} {
		t.Run(compilers[0], func(t *testing.T) {
			for _, c := range compilers {
				if _, err := exec.LookPath(c); err != nil {
					t.Skip(err)
				}
			}
			heddle := heddleIn(t, t.TempDir(), compilers[0], compilers[1])
			if out, err := heddle("doctor").CombinedOutput(); err != nil {
				t.Fatalf("heddle doctor: %v\n%s", err, out)
			}
			for _, kind := range []string{"pass", "fail"} {
				var sources []string
				for _, dir := range []string{kind, "compute/" + kind} {
					more, err := filepath.Glob(filepath.Join(repository(t), "testdata/programs", dir, "*.c*"))
					if err != nil || len(more) == 0 {
						t.Fatalf("no test programs in %s: %v", dir, err)
					}
					sources = append(sources, more...)
				}
				for _, source := range sources {
					t.Run(kind+"/"+filepath.Base(source), func(t *testing.T) {
						t.Parallel()
						testProgram(t, heddle, source, kind == "pass")
					})
				}
			}
		})
	}
}

func testProgram(t *testing.T, heddle func(...string) *exec.Cmd, source string, run bool) {
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	args := []string{"cc", "-O1"}
	if filepath.Ext(source) != ".c" {
		args[0] = "c++"
	}
	args = append(args, strings.Fields(directive(string(text), "flags"))...)
	if plugin := directive(string(text), "plug-in"); plugin != "" {
		plugin = filepath.Join(filepath.Dir(program), plugin)
		if out, err := heddle(append(args, source, "-shared", "-fPIC", "-DPLUGIN", "-o", plugin)...).CombinedOutput(); err != nil {
			t.Fatalf("heddle %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if out, err := heddle(append(args, source, "-o", program)...).CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("file not found")) || bytes.Contains(out, []byte("No such file")) {
			t.Skipf("this compiler's library lacks a header:\n%s", out)
		}
		t.Fatalf("heddle %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	if out, err := heddle("doctor", "--", program).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("has access hooks")) {
		t.Errorf("heddle doctor: %v\n%s", err, out)
	}
	if !run {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Dir = filepath.Dir(program)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("alone: %v %v\n%s", err, ctx.Err(), out)
	}
}
