package main

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// machineRuntime are the messages of ironcore's machine runtime interface that a gateway takes. They are read and
// written by the library of protocol buffers, and not as berth does it.
const machineRuntime = `
name: "machine.proto" package: "machine.v1alpha1" syntax: "proto3"
message_type {
  name: "MachineFilter"
  nested_type {
    name: "LabelSelectorEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  }
  field { name: "id" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field {
    name: "label_selector" number: 2 type: TYPE_MESSAGE label: LABEL_REPEATED
    type_name: ".machine.v1alpha1.MachineFilter.LabelSelectorEntry"
  }
}
message_type {
  name: "ListMachinesRequest"
  field {
    name: "filter" number: 1 type: TYPE_MESSAGE label: LABEL_OPTIONAL
    type_name: ".machine.v1alpha1.MachineFilter"
  }
}
message_type {
  name: "ObjectMetadata"
  nested_type {
    name: "AnnotationsEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  }
  nested_type {
    name: "LabelsEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
  }
  field { name: "id" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field {
    name: "annotations" number: 2 type: TYPE_MESSAGE label: LABEL_REPEATED
    type_name: ".machine.v1alpha1.ObjectMetadata.AnnotationsEntry"
  }
  field {
    name: "labels" number: 3 type: TYPE_MESSAGE label: LABEL_REPEATED
    type_name: ".machine.v1alpha1.ObjectMetadata.LabelsEntry"
  }
}
message_type {
  name: "Machine"
  field {
    name: "metadata" number: 1 type: TYPE_MESSAGE label: LABEL_OPTIONAL
    type_name: ".machine.v1alpha1.ObjectMetadata"
  }
}
message_type {
  name: "ListMachinesResponse"
  field {
    name: "machines" number: 1 type: TYPE_MESSAGE label: LABEL_REPEATED
    type_name: ".machine.v1alpha1.Machine"
  }
}
message_type {
  name: "ExecRequest"
  field { name: "machine_id" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
}
message_type {
  name: "ExecResponse"
  field { name: "url" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
}
`

// The messages as values.
type (
	metadata struct {
		ID     string            `json:"id"`
		Labels map[string]string `json:"labels"`
	}
	runtimeMachine struct {
		Metadata metadata `json:"metadata"`
	}
	listMachinesRequest struct {
		Filter struct {
			ID            string            `json:"id"`
			LabelSelector map[string]string `json:"labelSelector"`
		} `json:"filter"`
	}
	listMachinesResponse struct {
		Machines []runtimeMachine `json:"machines"`
	}
	execRequest struct {
		MachineID string `json:"machineId"`
	}
	execResponse struct {
		URL string `json:"url"`
	}
)

// register lets a server of gRPC answer for a runtime.
func (r *runtime) register(server *grpc.Server) error {
	var file descriptorpb.FileDescriptorProto
	if err := prototext.Unmarshal([]byte(machineRuntime), &file); err != nil {
		return err
	}
	described, err := protodesc.NewFile(&file, nil)
	if err != nil {
		return err
	}
	messages := described.Messages()
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "machine.v1alpha1.MachineRuntime", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			method("ListMachines", messages, r.listMachines),
			method("Exec", messages, r.exec),
		},
	}, r)
	return nil
}

// method is one whose messages are values on this side.
func method[Request, Response any](name string, messages protoreflect.MessageDescriptors,
	call func(context.Context, Request) (Response, error),
) grpc.MethodDesc {
	in := messages.ByName(protoreflect.Name(name + "Request"))
	out := messages.ByName(protoreflect.Name(name + "Response"))
	return grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, decode func(any) error,
		_ grpc.UnaryServerInterceptor,
	) (any, error) {
		message := dynamicpb.NewMessage(in)
		if err := decode(message); err != nil {
			return nil, err
		}
		text, err := protojson.Marshal(message)
		if err != nil {
			return nil, err
		}
		var request Request
		if err := json.Unmarshal(text, &request); err != nil {
			return nil, err
		}
		response, err := call(ctx, request)
		if err != nil {
			return nil, err
		}
		if text, err = json.Marshal(response); err != nil {
			return nil, err
		}
		answer := dynamicpb.NewMessage(out)
		return answer, protojson.Unmarshal(text, answer)
	}}
}
