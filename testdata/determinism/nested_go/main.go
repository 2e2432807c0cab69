// kind: clean

// Command nested_go divides an array among goroutines that start goroutines, all under one sync.WaitGroup.
// Holds: a goroutine adds those that it starts before its own call of Done.
package main

import (
	"fmt"
	"sync"
)

func work(wg *sync.WaitGroup, out []int, depth int) {
	defer wg.Done()
	if depth > 0 {
		wg.Add(2)
		go work(wg, out[:len(out)/2], depth-1)
		go work(wg, out[len(out)/2:], depth-1)
		return
	}
	for i := range out {
		out[i] += i
	}
}

func main() {
	out := make([]int, 16)
	var wg sync.WaitGroup
	wg.Add(1)
	go work(&wg, out, 2)
	wg.Wait()
	sum := 0
	for _, n := range out {
		sum += n
	}
	fmt.Println(sum)
}
