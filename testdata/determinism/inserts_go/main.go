// kind: clean

// Command inserts_go has a goroutine that inserts into a map until it grows.
// Holds: where an element is depends on the map's hash seed, which does not depend on the schedule.
package main

import "os"

func main() {
	m := map[int]int{}
	done := make(chan bool)
	go func() {
		for i := range 12 {
			m[i] = i
		}
		close(done)
	}()
	<-done
	os.Stdout.Write([]byte{'0' + byte(m[7]), '\n'})
}
