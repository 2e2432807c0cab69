package unbuffereddeadlock

import (
	"errors"
	"testing"
)

func TestAll(t *testing.T) {
	c := new(Client)
	c.quota.Store(1)
	n, err := c.All("about", "index")
	if n != 2 && !errors.Is(err, errQuota) {
		t.Errorf("%d pages, %v", n, err)
	}
}
