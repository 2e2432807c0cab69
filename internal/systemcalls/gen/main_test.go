package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/heddle-dev/heddle/internal/systemcalls"
)

func TestPageIsGenerated(t *testing.T) {
	calls, err := systemcalls.Table()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/system-calls.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, page(calls)) {
		t.Error("docs/system-calls.md differs from the table: run go generate ./internal/systemcalls")
	}
}
