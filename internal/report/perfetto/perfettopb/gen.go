// Package perfettopb is the part of Perfetto's trace schema that heddle writes, as generated from
// perfetto_trace.proto; see there for its origin and licence.
package perfettopb

//go:generate protoc -I../../../.. --go_out=../../../.. --go_opt=paths=source_relative internal/report/perfetto/perfettopb/perfetto_trace.proto
