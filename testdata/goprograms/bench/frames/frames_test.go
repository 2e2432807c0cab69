package frames

import (
	"io"
	"testing"
)

func TestFrames(t *testing.T) {
	r, w := io.Pipe()
	go Send(w, 8, 1<<19)
	// Of each four bytes, three are 7, 9 and 11 and one is the frame's number.
	if sum, want := Sum(r), 1<<17*(8*(7+9+11)+0+1+2+3+4+5+6+7); sum != want {
		t.Errorf("the sum is %d, want %d", sum, want)
	}
}
