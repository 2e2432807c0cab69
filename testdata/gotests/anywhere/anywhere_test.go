// Package anywhere has tests that fail under some schedules, and show what they saw of the
// machine: a replay anywhere else must show the same.
package anywhere

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Each fails in some schedule, and shows what it saw: all of that must come again anywhere.

func sprintf(t *testing.T, churn func(int)) string {
	var wg sync.WaitGroup
	var mu sync.Mutex
	n := 0
	out := make([]string, 3)
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			m := n
			mu.Unlock()
			s := fmt.Sprintf("%d", i)
			churn(i)
			mu.Lock()
			n = m + len(s)
			mu.Unlock()
			out[i] = s
		}()
	}
	wg.Wait()
	if n != 3 {
		return fmt.Sprint(n, out)
	}
	return ""
}

func TestSprintf(t *testing.T) {
	if s := sprintf(t, func(int) {}); s != "" {
		t.Fatal(s)
	}
}

var keep [][]byte

func TestChurn(t *testing.T) {
	p := &sync.Pool{New: func() any { return new([64]byte) }}
	if s := sprintf(t, func(int) {
		for range 75 {
			b := p.Get()
			keep = append(keep, make([]byte, 3<<20))
			if len(keep) > 4 {
				keep = keep[1:]
			}
			p.Put(b)
		}
	}); s != "" {
		t.Fatal(s)
	}
}

func TestPointerMap(t *testing.T) {
	m := map[*int]int{}
	var all []*int
	for i := range 20 {
		p := new(int)
		all = append(all, p)
		m[p] = i
	}
	order := ""
	for _, v := range m {
		order += fmt.Sprint(v, " ")
	}
	if s := sprintf(t, func(int) {}); s != "" {
		t.Fatal(order, fmt.Sprintf("%p", all[0]), s)
	}
}

func TestGC(t *testing.T) {
	p := &sync.Pool{New: func() any { return new([64]byte) }}
	if s := sprintf(t, func(int) {
		p.Put(p.Get())
		runtime.GC()
		p.Get()
		runtime.GC()
	}); s != "" {
		t.Fatal(s, runtime.NumCPU(), runtime.GOMAXPROCS(0))
	}
}

var home = strings.Repeat(os.Getenv("HOME"), 10)
var early = func() *int { return new(int) }()

func TestInit(t *testing.T) {
	if s := sprintf(t, func(int) { _ = os.Environ(); _, _ = os.Getwd(); _ = os.Getenv("PATH") }); s != "" {
		t.Fatal(s, early, new(int))
	}
}
