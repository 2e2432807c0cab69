// kind: clean

// Package lenthenreceive receives if there is something to receive, by select.
package lenthenreceive

// drain receives what is there and returns how much it was.
func drain(ch chan int) (n int64) {
	for {
		select {
		case <-ch:
			n++
		default:
			return n
		}
	}
}
