package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
)

// TestMain makes the test binary heddle when it is started under that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"heddle":     mainOfTests,
		"heddle-cc":  main,
		"heddle-c++": main,
	})
}

// mainOfTests is main, with simulated Go programs where a test asks for them.
func mainOfTests() {
	if os.Getenv("HEDDLE_TEST_FAKE_GO") != "" {
		goSupport = fakeGo{}
	}
	if dir := os.Getenv("HEDDLE_TEST_JSON"); dir != "" && os.Getenv("COMP_LINE") == "" {
		if command := commandWithJSON(os.Args); command != "" {
			validatedMain(command, dir)
		}
	}
	main()
}

// goCaches are the variables that let the go command use what it has built and fetched
// before, in scripts that have another home directory.
func goCaches(t testing.TB) (vars []string) {
	t.Helper()
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOTOOLCHAIN", "GOPROXY", "GOFLAGS"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		vars = append(vars, name+"="+strings.TrimSpace(string(out)))
	}
	return vars
}

// repository is the directory of the whole project.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestScripts runs testdata/script: heddle as a user meets it, with the real runtime.
func TestScripts(t *testing.T) {
	cache, err := runtimecache.Dir()
	if err != nil {
		t.Fatal(err)
	}
	caches, validated := goCaches(t), t.TempDir()
	t.Cleanup(func() {
		if only := flag.Lookup("test.run").Value.String(); !t.Failed() && !strings.Contains(only, "/") {
			checkValidated(t, validated)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name == "can-mount" {
				return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", t.TempDir()).Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HEDDLE_CACHE", cache)         // built once for all scripts
			e.Setenv("HEDDLE_TEST_JSON", validated) // all that they print is compared with the schema
			e.Setenv("REPOSITORY", repository(t))
			e.Vars = append(e.Vars, caches...)
			return nil
		},
	})
}

// Interrupted, heddle says so in one sentence.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	slow := filepath.Join(dir, "cc")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nkill -INT $PPID\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	heddle, err := exec.LookPath("heddle")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(heddle, "cc", "-c", "x.c")
	cmd.Env = append(os.Environ(), "HEDDLE_CC="+slow, "HEDDLE_CACHE="+dir)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitFailed || string(out) != "heddle: interrupted\n" {
		t.Errorf("%v, %q", err, out)
	}
}
