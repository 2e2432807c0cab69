package refcount

import "testing"

func TestFile(t *testing.T) {
	f := new(File)
	f.refs.Store(1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Release()
	}()
	if f.Retain() {
		if f.closed.Load() {
			t.Error("a reference to a closed file")
		}
		f.Release()
	}
	<-done
}
