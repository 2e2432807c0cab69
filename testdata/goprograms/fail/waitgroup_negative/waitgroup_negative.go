// kind: panic
// finding: negative WaitGroup counter
// minimum: switches=2

// Package waitgroupnegative marks a job done when it ends and when it is cancelled, and both
// can happen to one job.
//
// Fewest switches: the test's goroutine looks, the other one looks and is done, the test's
// goroutine is done again: three intervals.
package waitgroupnegative

import (
	"sync"
	"sync/atomic"
)

// Job is waited for until it has ended or was cancelled.
type Job struct {
	wg    sync.WaitGroup
	state atomic.Int32 // 0: at work, 1: ended, 2: cancelled
}

// NewJob makes a job at work.
func NewJob() *Job {
	j := new(Job)
	j.wg.Add(1)
	return j
}

func (j *Job) finish(state int32) {
	if j.state.Load() == 0 {
		j.state.Store(state)
		j.wg.Done()
	}
}

// Run does the work.
func (j *Job) Run() { j.finish(1) }

// Cancel gives the job up.
func (j *Job) Cancel() { j.finish(2) }

// Wait waits for the job.
func (j *Job) Wait() int32 {
	j.wg.Wait()
	return j.state.Load()
}

// cause: state: j.state.Load() == 0 | j.state.Store(state)
