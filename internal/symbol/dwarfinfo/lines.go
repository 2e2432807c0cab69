package dwarfinfo

import "iter"

// Line yields the ranges of code that the line tables assign to a line of the files whose paths match accepts.
func (d *Info) Line(match func(path string) bool, line int) iter.Seq2[uint64, uint64] {
	return func(yield func(from, to uint64) bool) {
		for _, u := range d.units {
			u.loadLines()
			matched := map[string]bool{}
			for _, s := range u.seqs {
				for i, r := range s.rows {
					if int(r.line) != line {
						continue
					}
					path := u.path(r.file)
					ok, known := matched[path]
					if !known {
						ok = path != "" && match(path)
						matched[path] = ok
					}
					to := s.hi
					if i+1 < len(s.rows) {
						to = s.rows[i+1].addr
					}
					if ok && !yield(r.addr, to) {
						return
					}
				}
			}
		}
	}
}
