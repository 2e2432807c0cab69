// kind: data race|test failure

// Package sliceappendrace appends to one slice from two goroutines.
package sliceappendrace

// Errors collects errors.
type Errors struct {
	list []error
}

// Add appends an error.
func (e *Errors) Add(err error) {
	e.list = append(e.list, err)
}

// cause: list: e.list = append
