package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exclusive is a correct test that fails if another process runs it at the same time, as tests with a
// fixed port do. The kernel releases the lock of a process that is killed.
const exclusive = `package exclusive

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

func TestExclusive(t *testing.T) {
	f, err := os.OpenFile("lock", os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal("the lock is held: ", err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 30 {
				mu.Lock()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
`

// TestGoJobsAlone: if executions fail only because several processes run the test, heddle reports no
// finding, and explores the test again in one process.
func TestGoJobsAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module exclusive\n\ngo 1.25\n", "exclusive_test.go": exclusive} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tests, _ := runTest(t, dir, nil, exitNothing, "-j=3", "-timeout=4s", ".")
	if len(tests) != 1 {
		t.Fatalf("%+v", tests)
	}
	r := tests[0]
	again := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "searched again with one process at a time") })
	if r.Outcome != "clean" || r.Finding != nil || r.Executions == 0 || !again {
		t.Errorf("outcome %s, %d executions, finding %+v, notes %q", r.Outcome, r.Executions, r.Finding, r.Notes)
	}
}

// TestGoMinimal: the simplified trace of a small Go test is shown to be minimal, although executions
// of the search share a process.
func TestGoMinimal(t *testing.T) {
	dir := goModule(t, "fail/two_lock_snapshot")
	tests, _ := runTest(t, dir, nil, exitFound, "-timeout=60s", "./fail/two_lock_snapshot")
	if s := tests[0].Simplified; s == nil || !s.Complete || s.Switches != 2 || s.Preemptions != 1 {
		t.Errorf("simplified to %+v", s)
	}
}
