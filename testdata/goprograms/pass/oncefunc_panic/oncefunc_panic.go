// kind: clean

// Package oncefuncpanic opens its database again after a failure.
package oncefuncpanic

import "sync/atomic"

// DB is opened at its first use.
type DB struct {
	driver atomic.Pointer[string]
	opened atomic.Bool
	open   func()
}

// NewDB makes a database that is not open.
func NewDB() *DB {
	db := new(DB)
	db.open = func() {
		if db.driver.Load() == nil {
			panic("no driver")
		}
		db.opened.Store(true)
	}
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
