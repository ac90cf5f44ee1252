package iri_test

import (
	"context"
	"maps"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/berthdev/berth/internal/exec/iri"
	"github.com/berthdev/berth/internal/fault"
)

// described are the messages as the reference has them: nothing of how berth writes them is used.
func described(t *testing.T) protoreflect.MessageDescriptors {
	t.Helper()
	field := func(name string, number int32, of string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{
			Name: &name, Number: &number, Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
		}
		if of != "" {
			f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), new(".iri."+of)
		}
		return f
	}
	many := func(f *descriptorpb.FieldDescriptorProto) *descriptorpb.FieldDescriptorProto {
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		return f
	}
	message := func(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Name: &name, Field: fields}
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("iri.proto"), Package: new("iri"), Syntax: new("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			message("Pair", field("key", 1, ""), field("value", 2, "")),
			message("Filter", field("id", 1, ""), many(field("label_selector", 2, "Pair"))),
			message("ListMachinesRequest", field("filter", 1, "Filter")),
			message("Metadata", field("id", 1, ""), many(field("annotations", 2, "Pair")),
				many(field("labels", 3, "Pair"))),
			message("Machine", field("metadata", 1, "Metadata")),
			message("ListMachinesResponse", many(field("machines", 1, "Machine"))),
			message("ExecRequest", field("machine_id", 1, "")),
			message("ExecResponse", field("url", 1, "")),
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file.Messages()
}

// runtime has one machine; what it answers Exec with depends on the ID.
type runtime struct {
	protoreflect.MessageDescriptors
	t *testing.T
}

func (r runtime) new(name protoreflect.Name) *dynamicpb.Message {
	return dynamicpb.NewMessage(r.ByName(name))
}

func set(m protoreflect.Message, name protoreflect.Name, value string) {
	m.Set(m.Descriptor().Fields().ByName(name), protoreflect.ValueOfString(value))
}

func get(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

func (r runtime) answer(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	switch method {
	case "/machine.v1alpha1.MachineRuntime/ListMachines":
		asked, answer := r.new("ListMachinesRequest"), r.new("ListMachinesResponse")
		if err := stream.RecvMsg(asked); err != nil {
			return err
		}
		filter := get(asked, "filter").Message()
		labels, wanted := get(filter, "label_selector").List(), map[string]string{}
		for i := range labels.Len() {
			pair := labels.Get(i).Message()
			wanted[get(pair, "key").String()] = get(pair, "value").String()
		}
		if get(filter, "id").String() != "one" &&
			!maps.Equal(wanted, map[string]string{iri.LabelNamespace: "dev", iri.LabelName: "web"}) {
			return stream.SendMsg(answer)
		}
		list := answer.Mutable(answer.Descriptor().Fields().ByName("machines")).List()
		machine := list.AppendMutable().Message()
		metadata := machine.Mutable(machine.Descriptor().Fields().ByName("metadata")).Message()
		set(metadata, "id", "one")
		for field, value := range map[protoreflect.Name]string{"annotations": "no", "labels": "yes"} {
			pair := metadata.Mutable(metadata.Descriptor().Fields().ByName(field)).List().AppendMutable().Message()
			set(pair, "key", "is-label")
			set(pair, "value", value)
		}
		return stream.SendMsg(answer)
	case "/machine.v1alpha1.MachineRuntime/Exec":
		asked, answer := r.new("ExecRequest"), r.new("ExecResponse")
		if err := stream.RecvMsg(asked); err != nil {
			return err
		}
		switch id := get(asked, "machine_id").String(); id {
		case "none":
			return status.Error(codes.NotFound, "no such machine")
		case "full":
			return status.Error(codes.ResourceExhausted, "too many")
		case "broken":
			return status.Error(codes.Unknown, "broken")
		case "file":
			set(answer, "url", "file:///etc/passwd")
		case "user":
			set(answer, "url", "http://user:word@host/")
		default:
			set(answer, "url", "http://127.0.0.1:1/"+id)
		}
		return stream.SendMsg(answer)
	}
	r.t.Errorf("%s is called", method)
	return status.Error(codes.Unimplemented, method)
}

// served is a client of a runtime.
func served(t *testing.T) *iri.Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "iri.sock")
	on, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	r := runtime{described(t), t}
	server := grpc.NewServer(grpc.UnknownServiceHandler(r.answer))
	go func() { _ = server.Serve(on) }()
	t.Cleanup(server.Stop)
	return client(t, socket)
}

func client(t *testing.T, socket string) *iri.Client {
	t.Helper()
	c, err := iri.New(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestMachines(t *testing.T) {
	c := served(t)
	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	for name, list := range map[string]func() ([]iri.Machine, error){
		"by its labels": func() ([]iri.Machine, error) {
			return c.Labelled(t.Context(), map[string]string{iri.LabelNamespace: "dev", iri.LabelName: "web"})
		},
		"by its ID": func() ([]iri.Machine, error) { return c.ByID(t.Context(), "one") },
	} {
		found, err := list()
		if err != nil || len(found) != 1 || found[0].ID != "one" ||
			!maps.Equal(found[0].Labels, map[string]string{"is-label": "yes"}) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	if found, err := c.ByID(t.Context(), "other"); len(found) > 0 || err != nil {
		t.Error(found, err)
	}
}

func TestExec(t *testing.T) {
	c := served(t)
	for id, want := range map[string]struct {
		url, reason string
		code        fault.Code
	}{
		"one":    {url: "http://127.0.0.1:1/one"},
		"none":   {code: fault.NotFound},
		"full":   {code: fault.Unavailable, reason: iri.ReasonFull},
		"broken": {code: fault.Internal},
		"file":   {code: fault.Internal},
		"user":   {code: fault.Internal},
	} {
		at, err := c.Exec(t.Context(), id)
		if fault.CodeOf(err) != want.code || fault.ReasonOf(err) != want.reason ||
			err == nil && at.String() != want.url {
			t.Errorf("%s: %v, %v", id, at, err)
		}
	}
}

// A runtime that is not there, or does not answer, is said within a bound.
func TestNotThere(t *testing.T) {
	silent := filepath.Join(t.TempDir(), "silent.sock")
	on, err := net.Listen("unix", silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = on.Close() })
	for name, socket := range map[string]string{"none": filepath.Join(t.TempDir(), "none.sock"), "silent": silent} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := client(t, socket).Ready(ctx); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	_, err = client(t, filepath.Join(t.TempDir(), "none.sock")).Exec(t.Context(), "one")
	if fault.CodeOf(err) != fault.Unavailable || fault.ReasonOf(err) != iri.ReasonAway {
		t.Error(err)
	}
}

func TestSocket(t *testing.T) {
	for endpoint, want := range map[string]string{
		"unix:///var/run/iri.sock": "/var/run/iri.sock", "/var/run/iri.sock": "", "unix://iri.sock": "", "unix:///": "",
		"tcp://127.0.0.1:1": "", "unix:///a/../b": "", "": "",
	} {
		if path, err := iri.Socket(endpoint); path != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", endpoint, path, err)
		}
	}
}
