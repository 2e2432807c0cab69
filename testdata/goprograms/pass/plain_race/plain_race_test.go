package plainrace

import (
	"bytes"
	"testing"
)

func TestCopy(t *testing.T) {
	c := new(Copier)
	var dst bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Copy(&dst, []byte("twelve bytes"))
	}()
	if n := c.Progress(); n < 0 || n > 12 {
		t.Errorf("%d bytes copied of 12", n)
	}
	<-done
	if dst.String() != "twelve bytes" {
		t.Errorf("copied %q", dst.String())
	}
}
