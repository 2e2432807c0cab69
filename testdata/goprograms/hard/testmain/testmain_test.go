package testmain

import (
	"os"
	"testing"
)

type request struct{ reply chan int }

var requests = make(chan request)

func TestMain(m *testing.M) {
	ended := make(chan bool)
	go func() { // serves all tests
		n := 0
		for r := range requests {
			n++
			r.reply <- n
		}
		close(ended)
	}()
	status := m.Run()
	close(requests)
	<-ended
	os.Exit(status)
}

func TestServed(t *testing.T) {
	r := request{make(chan int)}
	for range 3 {
		go func() { requests <- r }()
	}
	a, b, c := <-r.reply, <-r.reply, <-r.reply
	if b != a+1 || c != b+1 {
		t.Error(a, b, c)
	}
}
