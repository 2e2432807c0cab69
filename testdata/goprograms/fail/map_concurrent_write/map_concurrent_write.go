// kind: data race|fatal error

// Package mapconcurrentwrite writes a map from two goroutines.
package mapconcurrentwrite

// Index is the words by length.
type Index struct {
	words map[int]string
}

// Add adds words.
func (x *Index) Add(words ...string) {
	for _, w := range words {
		x.words[len(w)] = w
	}
}

// cause: map: x.words[len(w)] = w
