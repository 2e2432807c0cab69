package poolreuseafterput

import (
	"sync"
	"testing"
)

func TestFormat(t *testing.T) {
	f := NewFormatter()
	var wg sync.WaitGroup
	for _, c := range []byte("xy") {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if s := f.Format(c, 3); s[0] != c || s[2] != c {
				t.Errorf("format is %q, want three %q", s, c)
			}
		}()
	}
	wg.Wait()
}
