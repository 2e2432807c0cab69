package goprog

import (
	"context"
	"errors"

	"github.com/heddle-dev/heddle/internal/target/ipc"
)

// spare is a process that is started and warmed up before it is needed.
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

// ready returns a spare for a process that has been started.
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

// take hands over the spare and starts the next one.
func (t *Target) take(ctx context.Context) (*ipc.Process, error) {
	if t.spare == nil {
		t.prepare()
	}
	s := t.spare
	select {
	case <-s.done:
	case <-ctx.Done():
		return nil, ctx.Err() // keep the spare for the next call
	}
	t.spare = nil
	s.cancel()
	p, err := s.proc, s.err
	switch {
	case errors.Is(err, ipc.ErrCold):
		t.cold = true
		p, err = t.launch(ctx)
	case err == nil && !p.Alive():
		// It was killed while it waited.
		p.Close()
		p, err = t.launch(ctx)
	}
	if err != nil {
		return nil, err
	}
	if !t.alone {
		t.prepare()
	}
	return p, nil
}

// Alone implements target.Solitary.
func (t *Target) Alone() {
	t.alone = true
	if t.spare != nil {
		t.spare.drop()
		t.spare = nil
	}
}
