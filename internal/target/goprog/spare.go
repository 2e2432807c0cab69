package goprog

import (
	"context"
	"errors"
	"slices"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
)

const (
	// coldSpares is how many processes are started ahead where each execution needs one.
	coldSpares = 2

	// With target.SomeNew, a Stream begins with firstNew new processes. Then a process that runs
	// sharedBetween executions and laterNew new ones alternate. Starting a process takes about as long
	// as ten short executions, so that each kind gets about half of the time.
	firstNew      = 50
	sharedBetween = 500
	laterNew      = 50
)

// spare is a process that is started, and warmed up unless it is cold, before it is needed.
type spare struct {
	cold   bool
	cancel context.CancelFunc
	done   chan struct{} // closed when proc and err are set
	proc   *ipc.Process
	err    error
}

// coldAt reports whether the process that is used after n others is for one execution, without
// warm-up.
func (t *Target) coldAt(n int) bool {
	if t.isolation != target.SomeNew || !t.streaming {
		return t.Cold()
	}
	n += t.launched
	return t.cold.Load() || n < firstNew || (n-firstNew)%(1+laterNew) != 0
}

// start starts a spare in the background.
func (t *Target) start(cold bool) *spare {
	ctx, cancel := context.WithCancel(context.Background())
	s := &spare{cold: cold, cancel: cancel, done: make(chan struct{})}
	go func() {
		s.proc, s.err = launch(ctx, &t.cfg, cold)
		close(s.done)
	}()
	return s
}

// prepare starts the processes that are used next. A single new process between shared ones does not
// make others likely.
func (t *Target) prepare() {
	ahead := 1
	if t.coldAt(0) {
		ahead = min(coldSpares, t.coldInRow)
	}
	count := map[bool]int{}
	for _, s := range t.spares {
		count[s.cold]++
	}
	for n := range ahead {
		cold := t.coldAt(n)
		if count[cold]--; count[cold] < 0 {
			t.spares = append(t.spares, t.start(cold))
		}
	}
}

// ready returns a spare for a process that has been started.
func ready(p *ipc.Process, cold bool) *spare {
	s := &spare{cold: cold, cancel: func() {}, done: make(chan struct{}), proc: p}
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

// drop ends the spares.
func (t *Target) drop() {
	for _, s := range t.spares {
		s.drop()
	}
	t.spares = nil
}

// take hands over a spare and starts further ones.
func (t *Target) take(ctx context.Context) (*ipc.Process, error) {
	cold := t.coldAt(0)
	i := slices.IndexFunc(t.spares, func(s *spare) bool { return s.cold == cold })
	if i < 0 {
		i = len(t.spares)
		t.spares = append(t.spares, t.start(cold))
	}
	s := t.spares[i]
	select {
	case <-s.done:
	case <-ctx.Done():
		return nil, ctx.Err() // keep the spare for the next call
	}
	t.spares = slices.Delete(t.spares, i, i+1)
	s.cancel()
	p, err := s.proc, s.err
	switch {
	case errors.Is(err, ipc.ErrCold):
		t.cold.Store(true)
		p, err = t.launch(ctx)
	case err == nil && !p.Alive():
		// It was killed while it waited.
		p.Close()
		p, err = t.launch(ctx)
	}
	if err != nil {
		return nil, err
	}
	if t.own = t.coldAt(0); t.isolation == target.SomeNew && t.streaming {
		if !t.own {
			p.Budget = min(p.Budget, sharedBetween)
		}
		t.launched++
	}
	if t.own {
		t.coldInRow++
	} else {
		t.coldInRow = 0
	}
	if !t.alone {
		t.prepare()
	}
	return p, nil
}

// Alone implements target.Solitary.
func (t *Target) Alone() {
	t.alone = true
	t.drop()
}
