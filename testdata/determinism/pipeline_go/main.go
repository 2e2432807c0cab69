// kind: clean

// Command pipeline_go sends numbers through two channels, each of which has one sender and one receiver.
// Holds.
package main

import "fmt"

func main() {
	a, b := make(chan int, 2), make(chan int)
	go func() {
		for i := range 5 {
			a <- i
		}
		close(a)
	}()
	go func() {
		for x := range a {
			b <- x * x
		}
		close(b)
	}()
	sum := 0
	for x := range b {
		sum += x
	}
	fmt.Println(sum)
}
