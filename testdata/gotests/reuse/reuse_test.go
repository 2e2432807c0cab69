// Package reuse has goroutines that use memory after each other, which a collection has freed
// in between: what lies at an address then is another object, and no two accesses race.
package reuse

import (
	"runtime"
	"sync"
	"testing"
)

//go:noinline
func object[T any]() *T { return new(T) }

// reuse has four goroutines use objects of their own and drop them, unordered with what this
// one does after the collection.
func reuse[T any](t *testing.T, n int, touch func(*T)) {
	end := make(chan bool)
	var started [4]chan bool
	var wg sync.WaitGroup
	for g := range started {
		started[g] = make(chan bool, 1)
		wg.Add(1)
		go func() {
			defer wg.Done()
			started[g] <- true
			for range 4 {
				touch(object[T]())
			}
			<-end
		}()
	}
	for _, c := range started {
		<-c
	}
	for range 20 {
		runtime.Gosched()
	}
	runtime.GC()
	keep := make([]*T, 0, n)
	for range n {
		x := object[T]()
		touch(x)
		keep = append(keep, x)
	}
	close(end)
	wg.Wait()
	runtime.KeepAlive(keep)
}

var x int

func TestTiny(t *testing.T)     { reuse(t, 600, func(p *int8) { *p++ }) }
func TestSmall(t *testing.T)    { reuse(t, 600, func(p *[8]int) { p[3]++ }) }
func TestPointers(t *testing.T) { reuse(t, 200, func(p *[100]*int) { p[3] = &x }) }
func TestLarge(t *testing.T)    { reuse(t, 20, func(p *[1 << 16]byte) { p[40000]++ }) }
func TestLock(t *testing.T) {
	reuse(t, 600, func(p *struct {
		sync.Mutex
		n int
	}) {
		p.Lock()
		p.n++
		p.Unlock()
	})
}
func TestChannel(t *testing.T) {
	reuse(t, 600, func(p *chan int) { *p = make(chan int, 1); *p <- 1; <-*p })
}

// What a finalizer does comes after all that the program did with its object.
func TestFinalizer(t *testing.T) {
	var mu sync.Mutex
	got := make(chan int, 1)
	func() {
		p := object[[8]int]()
		p[1] = 1
		runtime.SetFinalizer(p, func(p *[8]int) {
			mu.Lock()
			p[1]++
			got <- p[1]
			mu.Unlock()
		})
	}()
	mu.Lock()
	runtime.GC()
	runtime.Gosched()
	mu.Unlock()
	if n := <-got; n != 2 {
		t.Error(n)
	}
}
