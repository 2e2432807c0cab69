// Package tracepb is the schema of heddle's trace files, schedule strings and plans, as
// generated from trace.proto, schedule.proto and plan.proto. Read and write traces with package
// trace, strings and plans with package schedule; this package is for tools that are
// neither.
//
// To generate it again, have protoc and the protoc-gen-go of the version in go.mod:
//
//	go install google.golang.org/protobuf/cmd/protoc-gen-go@$(go list -m -f '{{.Version}}' google.golang.org/protobuf)
package tracepb

// The files are given with their path in the repository, because that is the name they
// are registered by: another package in the program may have a trace.proto as well.
//
//go:generate protoc -I../.. --go_out=../.. --go_opt=paths=source_relative trace/tracepb/trace.proto trace/tracepb/schedule.proto trace/tracepb/plan.proto
