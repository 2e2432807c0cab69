// kind: data race|test failure|panic

// Package interfacetearing replaces an interface value that another goroutine reads: a reader
// may get the type of one value with the data of another.
package interfacetearing

// Shape has an area.
type Shape interface{ Area() int }

type square struct{ side int }
type rectangle struct{ width, height int }

// Area is the area.
func (s *square) Area() int { return s.side * s.side }

// Area is the area.
func (r *rectangle) Area() int { return r.width * r.height }

// Holder has a shape.
type Holder struct {
	shape Shape
}

// Set replaces the shape.
func (h *Holder) Set(s Shape) { h.shape = s }

// Area is the area of the shape.
func (h *Holder) Area() int { return h.shape.Area() }

// cause: shape: h.shape = s | h.shape.Area()
