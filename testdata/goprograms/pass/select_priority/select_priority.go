// kind: clean

// Package selectpriority looks at the stop channel alone before and after it takes a job.
package selectpriority

// Worker runs jobs until it is stopped.
type Worker struct {
	stop chan struct{}
	jobs chan func()
	done chan struct{}
}

// NewWorker makes a worker that does not run yet.
func NewWorker() *Worker {
	return &Worker{stop: make(chan struct{}), jobs: make(chan func(), 4), done: make(chan struct{})}
}

// Run runs jobs.
func (w *Worker) Run() {
	defer close(w.done)
	for {
		select {
		case <-w.stop:
			return
		case job := <-w.jobs:
			select {
			case <-w.stop:
				return
			default:
			}
			job()
		}
	}
}
