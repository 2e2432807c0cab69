// Package hooks has a line for each part of Go that heddle hooks into. The comment of a line lists the operations that
// heddle must see there (TestGoHooks).
package hooks

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type large [2000]byte

var (
	word  int
	slice []int
	text  string
	box   any
	array [4]int
)

func TestHooks(t *testing.T) {
	var mu sync.Mutex
	var rw sync.RWMutex
	var wg sync.WaitGroup
	var once sync.Once
	var pool sync.Pool
	var table sync.Map
	var n atomic.Int64
	var flag atomic.Bool
	var p atomic.Pointer[int]
	var v atomic.Value
	var old uint32
	cond := sync.NewCond(&mu)
	c, d := make(chan int, 1), make(chan int)
	done := make(chan bool)
	key := new(int)
	var x large
	var ok bool

	go func() { // go, write, write, write
		for range d { // chan receive
		}
		close(done) // chan close, write
	}()

	mu.Lock()                                        // Mutex.Lock
	mu.Unlock()                                      // Mutex.Unlock
	mu.TryLock()                                     // Mutex.TryLock
	cond.Signal()                                    // Cond.Signal
	cond.Broadcast()                                 // Cond.Broadcast
	mu.Unlock()                                      // Mutex.Unlock
	rw.RLock()                                       // RWMutex.RLock
	rw.RUnlock()                                     // RWMutex.RUnlock
	rw.TryRLock()                                    // RWMutex.TryRLock
	rw.RUnlock()                                     // RWMutex.RUnlock
	rw.Lock()                                        // RWMutex.Lock
	rw.Unlock()                                      // RWMutex.Unlock
	rw.TryLock()                                     // RWMutex.TryLock
	rw.Unlock()                                      // RWMutex.Unlock
	wg.Add(2)                                        // WaitGroup.Add
	wg.Done()                                        // WaitGroup.Add
	wg.Done()                                        // WaitGroup.Add
	wg.Wait()                                        // WaitGroup.Wait
	once.Do(func() {})                               // Once.Do
	pool.Put(key)                                    // Pool.Put
	pool.Get()                                       // Pool.Get
	table.Store(1, 2)                                // sync.Map
	table.Load(1)                                    // sync.Map
	table.LoadOrStore(1, 2)                          // sync.Map
	table.Swap(1, 3)                                 // sync.Map
	table.CompareAndSwap(1, 3, 4)                    // sync.Map
	table.CompareAndDelete(1, 5)                     // sync.Map
	table.Range(func(any, any) bool { return true }) // sync.Map
	table.LoadAndDelete(1)                           // sync.Map
	table.Delete(1)                                  // sync.Map
	table.Clear()                                    // sync.Map
	n.Add(1)                                         // atomic rmw
	n.Load()                                         // atomic load
	n.Store(2)                                       // atomic store
	n.Swap(3)                                        // atomic rmw
	n.CompareAndSwap(3, 4)                           // atomic cas
	n.And(1)                                         // atomic rmw
	n.Or(1)                                          // atomic rmw
	flag.Store(true)                                 // atomic store
	p.Store(key)                                     // atomic store
	p.Load()                                         // atomic load
	p.CompareAndSwap(key, nil)                       // atomic cas
	v.Store(1)                                       // atomic cas, atomic load, atomic store
	v.Load()                                         // atomic load
	atomic.AddUint32(&old, 1)                        // atomic rmw
	c <- 1                                           // chan send, read
	<-c                                              // chan receive
	d <- 2                                           // chan send, read
	close(d)                                         // chan close, write
	select {                                         // select, select case
	case c <- 1: // read
	case <-d:
	}
	select {
	case <-c: // chan receive
	default:
	}
	for range done { // chan receive
	}
	time.Sleep(1)                                            // time.Sleep
	timer := time.NewTimer(time.Hour)                        // timer start
	timer.Reset(time.Minute)                                 // timer start
	timer.Stop()                                             // read, timer stop
	ticker := time.NewTicker(time.Hour)                      // timer start
	ticker.Stop()                                            // read, timer stop
	time.AfterFunc(time.Hour, func() {}).Stop()              // read, timer start, timer stop
	_, cancel := context.WithTimeout(t.Context(), time.Hour) // read, read
	cancel()
	runtime.Gosched()      // Gosched
	runtime.NumGoroutine() // atomic load

	word = 1                    // write
	word++                      // read, write
	slice = append(slice, word) // read, read, read range, write, write
	slice[0]++                  // read, read, read, write
	copy(slice, array[:])       // read, read, read range, write range
	text = string([]byte(text)) // read, write
	box = word                  // read, write
	array[word&3]++             // read, read, write

	// On the heap: heddle does not see what a goroutine does with its own stack.
	m32, m64, ms, ma, ml, mp := map[int32]int{}, map[int]int{}, map[string]int{}, map[any]int{}, map[int]large{}, map[*int]int{}
	use([]any{m32, m64, ms, ma, ml, mp})
	m32[1] = 1      // write, write
	use(m32[1])     // read, read
	_, ok = m32[1]  // read, read
	m64[1] = 1      // write, write
	use(m64[1])     // read, read
	_, ok = m64[1]  // read, read
	ms["a"] = 1     // write, write
	use(ms["a"])    // read, read
	_, ok = ms["a"] // read, read
	ma[1] = 1       // write, write
	use(ma[1])      // read, read
	_, ok = ma[1]   // read, read
	ml[1] = large{} // write, write range
	x = ml[1]       // read, read range
	x, ok = ml[1]   // read, read range
	mp[key] = 1     // write, write
	use(mp[key])    // read, read
	for range m64 { // read, read
	}
	delete(m64, 1) // write
	clear(ms)      // write
	use(ok)
	use(x[0])
}

//go:noinline
func use(v any) { box = v }
