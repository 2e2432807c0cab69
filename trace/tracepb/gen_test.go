package tracepb_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

// The generated code must come from the schema that lies beside it.
func TestGeneratedFromSchema(t *testing.T) {
	protoc := need.Tool(t, "protoc")
	out := filepath.Join(t.TempDir(), "set")
	cmd := exec.Command(protoc, "-I../..", "--descriptor_set_out="+out, "trace/tracepb/trace.proto", "trace/tracepb/schedule.proto", "trace/tracepb/plan.proto")
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
	generated := map[string]protoreflect.FileDescriptor{}
	for _, f := range []protoreflect.FileDescriptor{tracepb.File_trace_tracepb_trace_proto, tracepb.File_trace_tracepb_schedule_proto, tracepb.File_trace_tracepb_plan_proto} {
		generated[f.Path()] = f
	}
	if len(set.File) != len(generated) {
		t.Fatalf("%d files in the schema, %d generated", len(set.File), len(generated))
	}
	for _, want := range set.File {
		f, ok := generated[want.GetName()]
		if !ok {
			t.Errorf("%s was not generated", want.GetName())
			continue
		}
		// Names for JSON are in the one and not in the other.
		got := protodesc.ToFileDescriptorProto(f)
		for _, d := range []*descriptorpb.FileDescriptorProto{got, want} {
			for _, m := range d.MessageType {
				for _, field := range m.Field {
					field.JsonName = nil
				}
			}
		}
		if !proto.Equal(got, want) {
			t.Errorf("%s is not what the code was generated from: run go generate ./trace/tracepb", want.GetName())
		}
	}
}
