// kind: deadlock
// finding: drain

// Package lenthenreceive receives if the channel's length is not 0; another receiver can come
// in between.
package lenthenreceive

// drain receives the available values and returns their number.
func drain(ch chan int) (n int64) {
	for len(ch) > 0 {
		<-ch
		n++
	}
	return n
}

// cause: : for len(ch) > 0 | <-ch
