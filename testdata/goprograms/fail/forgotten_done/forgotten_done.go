// kind: deadlock
// finding: Import

// Package forgottendone returns early for a row that is there already, without Done.
package forgottendone

import "sync"

// Table is a set of rows.
type Table struct {
	mu   sync.Mutex
	rows map[string]bool
}

func (t *Table) insert(row string, wg *sync.WaitGroup) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows[row] {
		return
	}
	t.rows[row] = true
	wg.Done()
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

// cause: map: if t.rows[row] | delete(t.rows, row)
