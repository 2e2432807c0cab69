// kind: goroutine leak
// finding: generate

// Package pipelinecancelleak cancels a pipeline of which the first stage does not know about
// cancelling: if the second has not taken its value, it waits forever.
package pipelinecancelleak

// Pipeline squares numbers.
type Pipeline struct {
	cancel  chan struct{}
	numbers chan int
	squares chan int
}

// NewPipeline starts the stages.
func NewPipeline(n int) *Pipeline {
	p := &Pipeline{cancel: make(chan struct{}), numbers: make(chan int), squares: make(chan int)}
	go p.generate(n)
	go p.square()
	return p
}

func (p *Pipeline) generate(n int) {
	for i := 1; i <= n; i++ {
		p.numbers <- i
	}
}

func (p *Pipeline) square() {
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
	return v
}

// cause: : p.numbers <- i | select {
