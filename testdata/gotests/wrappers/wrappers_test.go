// Package wrappers calls methods through everything that the compiler and package reflect
// put between a call and a method, at many depths of the stack, with receivers of many
// sizes. It is right under every schedule.
package wrappers

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

type box[A any] struct {
	p *int
	a A
	n int
}

func (b box[A]) Sum(i int) int { return *b.p + b.n + i }

type summer interface{ Sum(int) int }

//go:noinline
func call(s summer, i int) int { return s.Sum(i) }

//go:noinline
func deep(n int, f func() int) int {
	var pad [5]int
	pad[n%5] = n
	if n == 0 {
		return f()
	}
	return deep(n-1, f) + pad[(n+1)%5]
}

func each[A any](yield func(summer) bool) {
	for n := range 2 {
		one := 1
		if !yield(&box[A]{p: &one, n: n}) {
			return
		}
	}
}

func embedded[A any](b *box[A]) summer {
	return struct {
		*box[A]
		other [3]string
	}{box: b}
}

func ways[A any](t *testing.T) {
	x := 1
	b := &box[A]{p: &x, n: 2}
	calls := []func() int{
		func() int { return call(b, 3) },
		func() int { return call(embedded(b), 3) },
		func() int { return summer.Sum(b, 3) },
		func() int { f := summer(b).Sum; return f(3) },
		func() int { f := (*box[A]).Sum; return f(b, 3) },
		func() (n int) {
			defer func() { n += 6 }()
			defer summer(b).Sum(3)
			return 0
		},
		func() int {
			n := 6
			for s := range each[A] {
				n += s.Sum(0)
			}
			return n - 3
		},
		func() int {
			done := make(chan int)
			go func() { done <- call(b, 3) }()
			return <-done
		},
		func() int {
			return int(reflect.ValueOf(b).MethodByName("Sum").Call([]reflect.Value{reflect.ValueOf(3)})[0].Int())
		},
		func() int { return reflect.ValueOf(b).MethodByName("Sum").Interface().(func(int) int)(3) },
		func() int {
			f := reflect.MakeFunc(reflect.TypeFor[func(box[A], int) int](), func(in []reflect.Value) []reflect.Value {
				return []reflect.Value{reflect.ValueOf(in[0].Interface().(box[A]).Sum(int(in[1].Int())))}
			}).Interface().(func(box[A], int) int)
			return f(*b, 3)
		},
		func() int {
			var p atomic.Pointer[box[A]]
			p.Store(b)
			runtime.GC()
			return p.Swap(nil).Sum(3)
		},
	}
	var wg sync.WaitGroup
	for depth := 0; depth < 90; depth += 7 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i, f := range calls {
				if got := deep(depth, f); got != 6 {
					t.Errorf("way %d gives %d", i, got)
				}
			}
		}()
	}
	wg.Wait()
}

func Test0(t *testing.T)    { ways[struct{}](t) }
func Test16(t *testing.T)   { ways[string](t) }
func Test48(t *testing.T)   { ways[[3]string](t) }
func Test320(t *testing.T)  { ways[[20]string](t) }
func Test1000(t *testing.T) { ways[[125]*int](t) }
func Test1024(t *testing.T) { ways[[1024]byte](t) }
func Test4096(t *testing.T) { ways[[256]string](t) }
