package registerafterclose

import "testing"

func TestHub(t *testing.T) {
	h := new(Hub)
	called := make(chan struct{})
	go h.Close()
	h.OnClose(func() { close(called) })
	<-called
}
