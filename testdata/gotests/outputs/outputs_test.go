// Package outputs has tests whose bugs show in what they write alone. A correct one writes "total 2".
package outputs

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// sum adds 1 twice, and loses one of them if atomically is not set and the schedule is unlucky.
func sum(atomically bool) (total int) {
	var wg sync.WaitGroup
	var m sync.Mutex
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m.Lock()
			n := total
			if !atomically {
				m.Unlock()
				m.Lock()
			}
			total = n + 1
			m.Unlock()
		}()
	}
	wg.Wait()
	return total
}

// TestLost writes "total 1" in some executions.
func TestLost(t *testing.T) { fmt.Println("total", sum(false)) }

// TestKept is its correct twin.
func TestKept(t *testing.T) { fmt.Println("total", sum(true)) }

// TestSplit writes to both files, in one order, and logs, which go test prints of failed tests alone.
func TestSplit(t *testing.T) {
	t.Log("not a part of the output")
	fmt.Print("total")
	fmt.Fprintln(os.Stderr, "", sum(true))
}

// TestLogged fails in some executions, after it has written what is right.
func TestLogged(t *testing.T) {
	fmt.Println("total 2")
	if n := sum(false); n != 2 {
		t.Errorf("n is %d, want 2", n)
	}
}

// TestReplaced writes what is right, and then puts another file in the place of standard output for a
// while.
func TestReplaced(t *testing.T) {
	sum(true)
	fmt.Println("total 2")
	saved, err := syscall.Dup(1)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(saved)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if err := syscall.Dup2(int(null.Fd()), 1); err != nil {
		t.Fatal(err)
	}
	defer syscall.Dup2(saved, 1)
	fmt.Println("nobody reads this")
}

// TestLong writes more than heddle keeps.
func TestLong(t *testing.T) {
	sum(true)
	line := strings.Repeat("x", 1023) + "\n"
	for range 1200 {
		fmt.Print(line)
	}
}
