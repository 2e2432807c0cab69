// kind: panic
// finding: nil pointer dereference

// Package closedchannelzero treats the zero value received from a closed channel as a job.
package closedchannelzero

// Worker runs jobs until it is closed.
type Worker struct {
	jobs chan func()
	quit chan struct{}
	done chan struct{}
}

// NewWorker starts a worker.
func NewWorker() *Worker {
	w := &Worker{make(chan func(), 1), make(chan struct{}), make(chan struct{})}
	go w.run()
	return w
}

func (w *Worker) run() {
	defer close(w.done)
	for {
		select {
		case <-w.quit:
			return
		case job := <-w.jobs:
			job()
		}
	}
}

// Close ends the worker.
func (w *Worker) Close() {
	close(w.quit)
	close(w.jobs)
	<-w.done
}

// cause: : close(w.jobs)
