// Package waits has correct programs that wait by looking, and guards against programs that hang:
// nothing that heddle reports about them is true.
package waits

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Correct programs that wait by looking: none of them may be called a hang.

func TestYields(t *testing.T) { // the first program
	var a, b atomic.Bool
	done := make(chan bool)
	go func() {
		for !a.Load() {
			runtime.Gosched()
		}
		b.Store(true)
		done <- true
	}()
	for range 30 {
		runtime.Gosched()
	}
	a.Store(true)
	for !b.Load() {
		runtime.Gosched()
	}
	<-done
}

func TestTicketLock(t *testing.T) {
	var next, serving atomic.Uint32
	n := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 3 {
				mine := next.Add(1) - 1
				for serving.Load() != mine {
				}
				n++
				serving.Add(1)
			}
		}()
	}
	wg.Wait()
	if n != 9 {
		t.Fatal(n)
	}
}

func TestSenseBarrier(t *testing.T) {
	var count, sense atomic.Int32
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mine := int32(0)
			for range 3 {
				mine = 1 - mine
				if count.Add(1) == 3 {
					count.Store(0)
					sense.Store(mine)
				} else {
					for sense.Load() != mine {
						runtime.Gosched()
					}
				}
			}
		}()
	}
	wg.Wait()
}

func TestMutexBarrier(t *testing.T) { // a mutex and a yield loop
	var mu sync.Mutex
	count := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			count++
			mu.Unlock()
			for {
				mu.Lock()
				all := count == 3
				mu.Unlock()
				if all {
					return
				}
				runtime.Gosched()
			}
		}()
	}
	wg.Wait()
}

func TestSeqlock(t *testing.T) {
	var seq atomic.Uint32
	var x, y atomic.Int32
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		for i := range int32(4) {
			seq.Add(1)
			x.Store(i)
			y.Store(i)
			seq.Add(1)
		}
	}()
	go func() {
		defer wg.Done()
		for range 3 {
			for {
				s := seq.Load()
				if s&1 != 0 {
					continue
				}
				a, b := x.Load(), y.Load()
				if seq.Load() == s {
					if a != b {
						panic("torn")
					}
					break
				}
			}
		}
	}()
	wg.Wait()
}

func TestPeterson(t *testing.T) {
	var flag [2]atomic.Bool
	var turn atomic.Int32
	n := 0
	var wg sync.WaitGroup
	for me := range int32(2) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 3 {
				flag[me].Store(true)
				turn.Store(1 - me)
				for flag[1-me].Load() && turn.Load() == 1-me {
				}
				n++
				flag[me].Store(false)
			}
		}()
	}
	wg.Wait()
	if n != 6 {
		t.Fatal(n)
	}
}

func TestBakery(t *testing.T) {
	const procs = 3
	var choosing [procs]atomic.Bool
	var number [procs]atomic.Int32
	n := 0
	var wg sync.WaitGroup
	for me := range procs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			choosing[me].Store(true)
			most := int32(0)
			for i := range procs {
				most = max(most, number[i].Load())
			}
			number[me].Store(most + 1)
			choosing[me].Store(false)
			for i := range procs {
				for choosing[i].Load() {
				}
				for {
					other := number[i].Load()
					if other == 0 || other > number[me].Load() || other == number[me].Load() && i >= me {
						break
					}
				}
			}
			n++
			number[me].Store(0)
		}()
	}
	wg.Wait()
	if n != procs {
		t.Fatal(n)
	}
}

func TestCasLock(t *testing.T) {
	var l atomic.Int32
	n := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !l.CompareAndSwap(0, 1) {
			}
			n++
			l.Store(0)
		}()
	}
	wg.Wait()
}

func TestSwapBackoff(t *testing.T) {
	var l atomic.Int32
	n := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for d := time.Microsecond; l.Swap(1) == 1; d *= 2 {
				time.Sleep(d)
			}
			n++
			l.Store(0)
		}()
	}
	wg.Wait()
}

func TestTryLock(t *testing.T) {
	var mu sync.Mutex
	n := 0
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !mu.TryLock() {
			}
			n++
			mu.Unlock()
		}()
	}
	wg.Wait()
}

func TestTryRLock(t *testing.T) {
	var mu sync.RWMutex
	n := 0
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if i == 0 {
				for !mu.TryLock() {
				}
				n++
				mu.Unlock()
				return
			}
			for !mu.TryRLock() {
			}
			_ = n
			mu.RUnlock()
		}()
	}
	wg.Wait()
}

func TestSelectDefault(t *testing.T) {
	ch := make(chan int)
	go func() {
		for range 10 {
			runtime.Gosched()
		}
		close(ch)
	}()
	for {
		select {
		case <-ch:
			return
		default:
		}
	}
}

func TestAfterFuncPoll(t *testing.T) {
	ch := make(chan int)
	time.AfterFunc(time.Millisecond, func() { close(ch) })
	for {
		select {
		case <-ch:
			return
		default:
		}
	}
}

func TestLockPollTimer(t *testing.T) {
	var mu sync.Mutex
	set := false
	time.AfterFunc(time.Second, func() { mu.Lock(); set = true; mu.Unlock() })
	for {
		mu.Lock()
		s := set
		mu.Unlock()
		if s {
			return
		}
	}
}

func TestClockPoll(t *testing.T) {
	start := time.Now()
	for time.Since(start) < 10*time.Second {
		runtime.Gosched()
	}
}

func TestClockSpin(t *testing.T) {
	start := time.Now()
	for time.Since(start) < 10*time.Second {
	}
}

func TestTickerPoll(t *testing.T) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	n := 0
	for n < 5 {
		select {
		case <-tick.C:
			n++
		default:
			runtime.Gosched()
		}
	}
}

func TestContextPoll(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	for ctx.Err() == nil {
	}
}

func TestSleepPoll(t *testing.T) {
	var done atomic.Bool
	go func() {
		for range 20 {
			runtime.Gosched()
		}
		done.Store(true)
	}()
	for !done.Load() {
		time.Sleep(time.Millisecond)
	}
}

// Two that take a lock to look keep a third that yields from nothing.
func TestLockPollersAndYielder(t *testing.T) {
	var mu sync.Mutex
	ready, x := false, false
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				mu.Lock()
				s := x
				mu.Unlock()
				if s {
					return
				}
			}
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			mu.Lock()
			r := ready
			mu.Unlock()
			if r {
				break
			}
			runtime.Gosched()
		}
		mu.Lock()
		x = true
		mu.Unlock()
	}()
	for range 5 {
		runtime.Gosched()
	}
	mu.Lock()
	ready = true
	mu.Unlock()
	wg.Wait()
}

func TestManyYields(t *testing.T) {
	for range 20000 {
		runtime.Gosched()
	}
}

func TestLooksAndYields(t *testing.T) { // it gets somewhere, if slowly
	var a [10000]int
	p := &a
	sum := 0
	for i := range p {
		sum += p[i]
		runtime.Gosched()
	}
	_ = sum
}

func TestManyLooks(t *testing.T) {
	start := time.Now()
	for range 1000 {
		time.Now()
	}
	if d := time.Since(start); d > time.Millisecond {
		t.Fatal(d)
	}
}

// Guards: none of them may fire before its time.

func work(n int) chan int {
	ch := make(chan int)
	go func() {
		for i := range n {
			ch <- i
		}
		close(ch)
	}()
	return ch
}

func TestWatchdog(t *testing.T) {
	w := time.AfterFunc(30*time.Second, func() { panic("watchdog") })
	defer w.Stop()
	for range work(5000) {
	}
}

func TestGuards(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ch := work(30)
	for {
		select {
		case _, ok := <-ch:
			if !ok {
				return
			}
		case <-time.After(5 * time.Second):
			t.Fatal("late")
		case <-ctx.Done():
			t.Fatal("late")
		}
	}
}

func TestReadersAndWatchdog(t *testing.T) {
	w := time.AfterFunc(30*time.Second, func() { panic("watchdog") })
	defer w.Stop()
	var mu sync.RWMutex
	m := map[int]int{1: 2}
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 300 {
				mu.RLock()
				_ = m[1]
				mu.RUnlock()
			}
		}()
	}
	wg.Wait()
}

func TestSleepsAgainstLock(t *testing.T) {
	var mu sync.Mutex
	held := make(chan bool)
	go func() {
		mu.Lock()
		close(held)
		for range 40 {
			runtime.Gosched()
		}
		mu.Unlock()
	}()
	<-held
	for range 5 {
		if mu.TryLock() {
			mu.Unlock()
			return
		}
		time.Sleep(time.Second)
	}
	t.Fatal("gave up")
}

func TestNumGoroutine(t *testing.T) { // the only thing it does is to look
	before := runtime.NumGoroutine()
	go func() {}()
	for runtime.NumGoroutine() > before {
	}
}
