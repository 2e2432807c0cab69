// kind: test failure
// finding: job ran after the stop
// minimum: switches=2

// Package selectpriority expects select to prefer its first case: a worker that is stopped may
// still take a job.
//
// Fewest switches: the test's goroutine comes before and after the worker.
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
			job()
		}
	}
}

// cause: none
