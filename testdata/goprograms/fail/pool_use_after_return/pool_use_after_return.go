// kind: test failure
// finding: answer to another

// Package pooluseafterreturn puts a connection back into the pool before it has read the
// answer.
package pooluseafterreturn

// conn answers each request, in order; a request's answer is its own number.
type conn struct {
	answers chan int
}

func (c *conn) send(n int)   { c.answers <- n }
func (c *conn) receive() int { return <-c.answers }

// Pool has one connection.
type Pool struct {
	free chan *conn
}

// NewPool connects.
func NewPool() *Pool {
	p := &Pool{make(chan *conn, 1)}
	p.free <- &conn{make(chan int, 2)}
	return p
}

// Query requests n and returns the answer.
func (p *Pool) Query(n int) int {
	c := <-p.free
	c.send(n)
	p.free <- c
	return c.receive()
}

// cause: : receive() int { return <-c.answers }
