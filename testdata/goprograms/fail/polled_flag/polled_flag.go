// kind: test failure
// finding: the job ended with

// Package polledflag has a job whose caller polls for its end under the job's lock, without
// ever sleeping. The job raises the flag before it keeps the result.
package polledflag

import "sync"

// Job is something that ends with a result.
type Job struct {
	mu     sync.Mutex
	done   bool
	result int
}

// Run does the job.
func (j *Job) Run() {
	j.mu.Lock()
	j.done = true
	j.mu.Unlock()
	j.mu.Lock()
	j.result = 42
	j.mu.Unlock()
}

// Wait returns the result once there is one.
func (j *Job) Wait() int {
	for {
		j.mu.Lock()
		done, result := j.done, j.result
		j.mu.Unlock()
		if done {
			return result
		}
	}
}

// cause: result: j.result = 42 | done, result := j.done, j.result
