module github.com/heddle-dev/heddle

go 1.25.0

require (
	github.com/alecthomas/kong v1.14.0 // indirect
	golang.org/x/sys v0.40.0 // indirect
	mvdan.cc/sh/v3 v3.12.0 // indirect
	pgregory.net/rapid v1.2.0 // indirect
)
