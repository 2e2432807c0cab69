package firsterror

import (
	"context"
	"errors"
	"testing"
)

func TestGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	g := &Group{cancel: cancel}
	broken := errors.New("broken disk")
	g.Go(ctx.Err)
	g.Go(func() error { return broken })
	if err := g.Wait(); err != broken {
		t.Errorf("cause was overwritten: %v", err)
	}
}
