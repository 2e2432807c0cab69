package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/internal/result"
)

// TestGoBoundedMemory: millions of accesses and a hundred thousand goroutines are explored in the
// memory that heddle may use.
func TestGoBoundedMemory(t *testing.T) {
	explore := func(name, count string) int64 {
		dir := t.TempDir()
		from := filepath.Join(repository(t), "testdata", "goprograms")
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(from, "bench", name))); err != nil {
			t.Fatal(err)
		}
		mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o666); err != nil {
			t.Fatal(err)
		}
		out, mb := peak(t, dir, "test", "--json", "--count="+count, "--timeout=3m", "--memory=64M", ".")
		t.Logf("%s: %d MB", name, mb)
		var got result.Test
		for d := json.NewDecoder(bytes.NewReader(out)); d.More() && got.Test == ""; {
			if err := d.Decode(&got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		if got.Outcome != result.Clean || got.Executions == 0 {
			t.Errorf("%s: %s after %d executions", name, got.Outcome, got.Executions)
		}
		return mb
	}
	least := explore("rounds", "4")
	// What recordings keep is bounded by the limit, and the runtime's share of it lies in the test's
	// process. Scheduling points are always kept, of which waves has 900,000.
	for name, more := range map[string]int64{"frames": 192, "waves": 640} {
		if mb := explore(name, "4"); mb > least+more {
			t.Errorf("%s: %d MB, %d more than a small test", name, mb, mb-least)
		}
	}
}
