// kind: clean

// Command values_go has goroutines that each build values of many types: numbers of all widths, pointers,
// strings, slices, maps, interfaces, channels and structures with pointers, in memory that is allocated in
// another order in each execution.
package main

import (
	"fmt"
	"strconv"
	"sync"
)

type shape interface{ area() int }

type square struct{ side int }

func (s *square) area() int { return s.side * s.side }

type record struct {
	small  int8
	flag   bool
	wide   uint32
	real   float32
	number complex128
	text   string
	list   []int
	shape  shape
	next   *record
	inner  struct {
		at    *int
		pairs [3]struct{ a, b uint16 }
	}
	done  chan int
	apply func(int) int
	names map[string]*square
}

func build(n int) *record {
	r := &record{small: int8(-n), flag: n%2 == 1, wide: 1 << 20 * uint32(n+1), real: float32(n) / 4}
	r.number = complex(float64(n), -1)
	r.text = "record " + strconv.Itoa(n)
	for i := range n + 3 {
		r.list = append(r.list, i*300)
	}
	r.shape = &square{n + 1}
	r.inner.at = &r.list[1]
	r.inner.pairs[n%3].b = uint16(n + 7)
	r.done = make(chan int, 1)
	r.apply = func(i int) int { return i + n + r.shape.area() }
	r.names = map[string]*square{r.text: {n}}
	r.names[r.text].side++
	if n > 0 {
		r.next = build(n - 1)
	}
	return r
}

func sum(r *record) int {
	total := 0
	for ; r != nil; r = r.next {
		total += int(r.small) + len(r.text) + r.apply(*r.inner.at) + r.names[r.text].side
		for _, p := range r.inner.pairs {
			total += int(p.a + p.b)
		}
		copied := *r
		copied.done <- total
		total = <-r.done
	}
	return total
}

func main() {
	const workers = 3
	totals := make([]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			totals[w] = sum(build(w))
		}()
	}
	wg.Wait()
	fmt.Println(totals)
}
