package goprog

import (
	"context"
	"errors"

	"github.com/heddle-dev/heddle/internal/target/ipc"
)

// spare is a process that is started, and warmed up, before it is needed.
type spare struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when proc and err are set
	proc   *ipc.Process
	err    error
}

// prepare starts a spare in the background.
func (t *Target) prepare() {
	ctx, cancel := context.WithCancel(context.Background())
	s := &spare{cancel: cancel, done: make(chan struct{})}
	cold := t.cold
	go func() {
		s.proc, s.err = launch(ctx, &t.cfg, cold)
		close(s.done)
	}()
	t.spare = s
}

// ready is a spare of a process that was started already.
func ready(p *ipc.Process) *spare {
	s := &spare{cancel: func() {}, done: make(chan struct{}), proc: p}
	close(s.done)
	return s
}

// drop ends the spare.
func (s *spare) drop() {
	s.cancel()
	<-s.done
	if s.proc != nil {
		s.proc.Close()
	}
}

// take gives the spare away, for good, and has the next one started.
func (t *Target) take(ctx context.Context) (*ipc.Process, error) {
	if t.spare == nil {
		t.prepare()
	}
	s := t.spare
	select {
	case <-s.done:
	case <-ctx.Done():
		return nil, ctx.Err() // the spare is for the next
	}
	t.spare = nil
	s.cancel()
	p, err := s.proc, s.err
	switch {
	case errors.Is(err, ipc.ErrCold):
		t.cold = true
		p, err = t.launch(ctx)
	case err == nil && !p.Alive():
		// Something ended it while it waited.
		p.Close()
		p, err = t.launch(ctx)
	}
	if err != nil {
		return nil, err
	}
	t.prepare()
	return p, nil
}
