// kind: clean

// Package pipelinecancelleak cancels a pipeline of which every stage looks at the cancelling,
// and waits for the stages.
package pipelinecancelleak

import "sync"

// Pipeline squares numbers.
type Pipeline struct {
	cancel  chan struct{}
	numbers chan int
	squares chan int
	stages  sync.WaitGroup
}

// NewPipeline starts the stages.
func NewPipeline(n int) *Pipeline {
	p := &Pipeline{cancel: make(chan struct{}), numbers: make(chan int), squares: make(chan int)}
	p.stages.Add(2)
	go p.generate(n)
	go p.square()
	return p
}

func (p *Pipeline) generate(n int) {
	defer p.stages.Done()
	for i := 1; i <= n; i++ {
		select {
		case p.numbers <- i:
		case <-p.cancel:
			return
		}
	}
}

func (p *Pipeline) square() {
	defer p.stages.Done()
	for {
		select {
		case v := <-p.numbers:
			select {
			case p.squares <- v * v:
			case <-p.cancel:
				return
			}
		case <-p.cancel:
			return
		}
	}
}

// First returns the first square and ends the pipeline.
func (p *Pipeline) First() int {
	v := <-p.squares
	close(p.cancel)
	p.stages.Wait()
	return v
}
