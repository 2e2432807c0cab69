package hard

import (
	"iter"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Four goroutines allocate 200 MB in all, most of it garbage at once.
func TestGC(t *testing.T) {
	var kept atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var last [][]byte
			for i := range 50 {
				b := make([]byte, 1<<20)
				b[i] = 1
				if last = append(last, b); len(last) > 4 {
					last = last[1:]
				}
				kept.Add(int64(b[i]))
			}
		}()
	}
	wg.Wait()
	if kept.Load() != 200 {
		t.Error(kept.Load())
	}
}

// Collections that the program requests.
func TestGCCalled(t *testing.T) {
	c := make(chan *[1 << 16]byte)
	go func() {
		for range 8 {
			c <- new([1 << 16]byte)
			runtime.GC()
		}
		close(c)
	}()
	n := 0
	for range c {
		n++
	}
	if n != 8 {
		t.Error(n)
	}
}

func TestIterPull(t *testing.T) {
	seq := func(yield func(int) bool) {
		for i := range 4 {
			if !yield(i) {
				return
			}
		}
	}
	sums := make(chan int)
	for range 2 {
		go func() {
			next, stop := iter.Pull(iter.Seq[int](seq))
			defer stop()
			sum := 0
			for v, ok := next(); ok; v, ok = next() {
				sum += v
			}
			sums <- sum
		}()
	}
	if a, b := <-sums, <-sums; a != 6 || b != 6 {
		t.Error(a, b)
	}
}

// An iterator that waits for a channel while it is pulled, and one that is stopped early.
func TestIterPullBlocks(t *testing.T) {
	c := make(chan int)
	go func() {
		for i := range 3 {
			c <- i
		}
		close(c)
	}()
	next, stop := iter.Pull(func(yield func(int) bool) {
		for v := range c {
			if !yield(v) {
				return
			}
		}
	})
	for want := range 3 {
		if v, ok := next(); v != want || !ok {
			t.Error(v, ok)
		}
	}
	if _, ok := next(); ok {
		t.Error("a fourth")
	}
	stop()
	_, stop = iter.Pull(func(yield func(int) bool) { yield(1) })
	stop()
}

func TestLockOSThread(t *testing.T) {
	c := make(chan int)
	for i := range 3 {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c <- i
		}()
	}
	runtime.LockOSThread()
	sum := <-c + <-c + <-c
	runtime.UnlockOSThread()
	if sum != 3 {
		t.Error(sum)
	}
	// The thread ends with its goroutine.
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		close(done)
	}()
	<-done
}

func TestPool(t *testing.T) {
	p := sync.Pool{New: func() any { return new(int) }}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x := p.Get().(*int)
			*x = i
			if *x != i {
				t.Error("shared")
			}
			p.Put(x)
		}()
	}
	wg.Wait()
}

func TestReflectSelect(t *testing.T) {
	a, b := make(chan int), make(chan string, 1)
	go func() { a <- 1 }()
	b <- "x"
	cases := []reflect.SelectCase{
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(a)},
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(b)},
	}
	i, _, _ := reflect.Select(cases)
	j, _, _ := reflect.Select(cases)
	if i == j {
		t.Error(i, j)
	}
}

// The stack of a goroutine grows between its scheduling points.
func TestStackGrowth(t *testing.T) {
	var mu sync.Mutex
	n := 0
	var deep func(k int)
	deep = func(k int) {
		var pad [512]byte
		pad[k%512] = 1
		mu.Lock()
		n += int(pad[k%512])
		mu.Unlock()
		if k > 0 {
			deep(k - 1)
		}
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() { defer wg.Done(); deep(200) }()
	}
	wg.Wait()
	if n != 402 {
		t.Error(n)
	}
}
