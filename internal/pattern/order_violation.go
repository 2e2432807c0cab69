package pattern

// OrderViolation is an ordering that shows no other pattern.
const OrderViolation = "order violation"

var orderViolation = &Pattern{
	Name:  OrderViolation,
	Shows: "none of these: the first event comes before the second",
	find: func(x *Execution) *Match {
		if x.Order == nil {
			return nil
		}
		return &Match{}
	},
}
