// kind: clean

// Command kmeans_go is k-means as map-reduce: each goroutine sums its points in a block of its own,
// which main merges. Its argument is the number of points, by default 18.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

type sums struct {
	sum   [2]float64
	count [2]int
}

func assign(points []float64, centres [2]float64, result **sums) {
	s := new(sums)
	for _, p := range points {
		best := 0
		if a, b := p-centres[0], p-centres[1]; a*a > b*b {
			best = 1
		}
		s.sum[best] += p
		s.count[best]++
	}
	*result = s
}

func main() {
	const workers = 3
	count := 18
	if len(os.Args) > 1 {
		count, _ = strconv.Atoi(os.Args[1])
	}
	points := make([]float64, count)
	for i := range points {
		points[i] = float64(i*7%13 + i%2*20)
	}
	centres := [2]float64{points[0], points[1]}
	for range 2 {
		var wg sync.WaitGroup
		results := make([]*sums, workers)
		for w := range workers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				n := len(points) / workers
				assign(points[w*n:(w+1)*n], centres, &results[w])
			}()
		}
		wg.Wait()
		var all sums
		for _, r := range results {
			for c := range centres {
				all.sum[c] += r.sum[c]
				all.count[c] += r.count[c]
			}
		}
		for c := range centres {
			centres[c] = all.sum[c] / float64(all.count[c])
		}
	}
	fmt.Println(centres[0], centres[1])
}
