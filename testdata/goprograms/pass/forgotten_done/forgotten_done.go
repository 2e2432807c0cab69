// kind: clean

// Package forgottendone defers Done, so that every way out passes it.
package forgottendone

import "sync"

// Table is a set of rows.
type Table struct {
	mu   sync.Mutex
	rows map[string]bool
}

func (t *Table) insert(row string, wg *sync.WaitGroup) {
	defer wg.Done()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows[row] {
		return
	}
	t.rows[row] = true
}

// Drop takes a row out.
func (t *Table) Drop(row string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.rows, row)
}

// Import puts rows in at the same time.
func (t *Table) Import(rows ...string) {
	var wg sync.WaitGroup
	for _, row := range rows {
		wg.Add(1)
		go t.insert(row, &wg)
	}
	wg.Wait()
}
