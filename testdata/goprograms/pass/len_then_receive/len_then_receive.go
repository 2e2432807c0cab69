// kind: clean

// Package lenthenreceive receives if there is something to receive, by select.
package lenthenreceive

// drain receives the available values and returns their number.
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
