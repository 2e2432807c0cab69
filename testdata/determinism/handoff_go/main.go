// kind: clean

// Command handoff_go has two goroutines that change one variable in turn, by two channels.
// Holds.
package main

import "fmt"

func main() {
	ping, pong := make(chan int), make(chan int)
	x := 0
	go func() {
		for n := range ping {
			x += n
			pong <- x
		}
		close(pong)
	}()
	for i := range 4 {
		ping <- i
		x += <-pong
	}
	close(ping)
	<-pong
	fmt.Println(x)
}
