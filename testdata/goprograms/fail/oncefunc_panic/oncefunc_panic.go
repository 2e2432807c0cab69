// kind: panic
// finding: no driver
// minimum: switches=2

// Package oncefuncpanic opens its database in a OnceFunc and recovers when there is no driver
// yet, but OnceFunc panics again at every call.
//
// Fewest switches: the other goroutine tries before the driver is registered, which the test's
// goroutine does after it has created it and before it opens: three intervals.
package oncefuncpanic

import (
	"sync"
	"sync/atomic"
)

// DB is opened at its first use.
type DB struct {
	driver atomic.Pointer[string]
	opened atomic.Bool
	open   func()
}

// NewDB makes a database that is not open.
func NewDB() *DB {
	db := new(DB)
	db.open = sync.OnceFunc(func() {
		if db.driver.Load() == nil {
			panic("no driver")
		}
		db.opened.Store(true)
	})
	return db
}

// Register sets the driver.
func (db *DB) Register(name string) { db.driver.Store(&name) }

// TryOpen opens the database, if it can be opened already.
func (db *DB) TryOpen() {
	defer func() { _ = recover() }()
	db.open()
}

// Open opens the database; the driver must be registered.
func (db *DB) Open() { db.open() }

// cause: driver: db.driver.Load() == nil | db.driver.Store
