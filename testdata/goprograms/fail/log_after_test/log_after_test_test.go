package logaftertest

import "testing"

func TestCache(t *testing.T) {
	c := NewCache(t)
	c.Close()
}
