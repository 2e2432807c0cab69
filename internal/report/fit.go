package report

// Fit splits list into its head, the items left out, and its tail, so that head and tail together take
// no more than budget; size returns what an item takes. If all items fit, head is the list. Otherwise
// the tail, which shows the failure, gets three quarters of the budget.
func Fit[T any](list []T, budget int, size func(T) int) (head, left, tail []T) {
	sum := 0
	for _, x := range list {
		sum += size(x)
	}
	if sum <= budget {
		return list, nil, nil
	}
	i, j := 0, len(list)
	for room := budget / 4; i < j && size(list[i]) <= room; i++ {
		room -= size(list[i])
	}
	for room := budget - budget/4; j > i && size(list[j-1]) <= room; j-- {
		room -= size(list[j-1])
	}
	return list[:i], list[i:j], list[j:]
}
