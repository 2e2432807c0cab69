// kind: clean

// Command prints_go prints three lines, for which package fmt takes a value from a sync.Pool each time.
// Holds: one goroutine uses the pool, and gets back what it gave.
package main

import "fmt"

func main() {
	fmt.Println("one")
	fmt.Println("two")
	fmt.Println("three")
}
