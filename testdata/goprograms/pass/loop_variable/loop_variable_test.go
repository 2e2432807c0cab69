package loopvariable

import "testing"

func TestSquares(t *testing.T) {
	if s := Squares(3); s[1] != 1 || s[2] != 4 {
		t.Errorf("squares are %v", s)
	}
}
