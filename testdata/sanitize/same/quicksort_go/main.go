// kind: clean

// Command quicksort_go sorts in parallel: a goroutine starts one for the left part and sorts the
// right part itself. The tree of goroutines depends on the data only.
package main

import "fmt"

func sort(a []int) {
	if len(a) < 5 {
		for i := 1; i < len(a); i++ {
			for j := i; j > 0 && a[j-1] > a[j]; j-- {
				a[j-1], a[j] = a[j], a[j-1]
			}
		}
		return
	}
	pivot, i, j := a[len(a)/2], 0, len(a)-1
	for {
		for a[i] < pivot {
			i++
		}
		for a[j] > pivot {
			j--
		}
		if i >= j {
			break
		}
		a[i], a[j] = a[j], a[i]
		i, j = i+1, j-1
	}
	done := make(chan struct{})
	go func() {
		sort(a[:i])
		close(done)
	}()
	sort(a[i:])
	<-done
}

func main() {
	numbers := make([]int, 24)
	for i := range numbers {
		numbers[i] = i * 37 % 101
	}
	sort(numbers)
	for i := 1; i < len(numbers); i++ {
		if numbers[i-1] > numbers[i] {
			panic("not sorted")
		}
	}
	fmt.Println(numbers[0], numbers[len(numbers)-1])
}
