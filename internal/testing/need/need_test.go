package need

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestTool(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "clang"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, test := range []struct {
		tools         []string
		required      string
		skips, failed bool
	}{
		{[]string{"clang"}, "", false, false},
		{[]string{"clang", "clang++"}, "", true, false},
		{[]string{"clang"}, "required", false, false},
		{[]string{"clang", "clang++"}, "required", false, true},
	} {
		t.Setenv("HEDDLE_TOOLS", test.required)
		r := &recorder{TB: t}
		done := make(chan string)
		go func() { // as in a test, skipping and failing end the goroutine
			path := ""
			defer func() { done <- path }()
			path = Tool(r, test.tools...)
		}()
		path := <-done
		if r.skipped != test.skips || r.failed != test.failed || (path == filepath.Join(dir, "clang")) == (test.skips || test.failed) {
			t.Errorf("%v: skipped %t, failed %t, %q", test.tools, r.skipped, r.failed, path)
		}
	}
}

type recorder struct {
	testing.TB
	skipped, failed bool
}

func (r *recorder) Skipf(string, ...any)  { r.skipped = true; runtime.Goexit() }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }
