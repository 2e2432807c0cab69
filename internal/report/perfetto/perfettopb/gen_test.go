package perfettopb_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/heddle-dev/heddle/internal/report/perfetto/perfettopb"
	"github.com/heddle-dev/heddle/internal/testing/need"
)

// The generated code must come from the schema that lies beside it.
func TestGeneratedFromSchema(t *testing.T) {
	out := filepath.Join(t.TempDir(), "set")
	cmd := exec.Command(need.Tool(t, "protoc"), "-I../../../..", "--descriptor_set_out="+out, "internal/report/perfetto/perfettopb/perfetto_trace.proto")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil {
		t.Fatal(err)
	}
	want := set.File[0]
	got := protodesc.ToFileDescriptorProto(perfettopb.File_internal_report_perfetto_perfettopb_perfetto_trace_proto)
	// Names for JSON are in the one and not in the other.
	for _, d := range []*descriptorpb.FileDescriptorProto{got, want} {
		for _, m := range d.MessageType {
			for _, field := range m.Field {
				field.JsonName = nil
			}
		}
	}
	if !proto.Equal(got, want) {
		t.Error("the schema is not what the code was generated from: run go generate ./internal/report/perfetto/perfettopb")
	}
}
