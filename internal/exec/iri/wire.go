package iri

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// codec is that of the few messages that are spoken. They are written by hand: generated ones would be registered at
// every start of berth.
type codec struct{}

// Name implements encoding.Codec: it is what a runtime is told the messages are.
func (codec) Name() string { return "proto" }

// Marshal implements encoding.Codec.
func (codec) Marshal(v any) ([]byte, error) {
	m, is := v.(interface{ marshal() []byte })
	if !is {
		return nil, fmt.Errorf("%T is no request", v)
	}
	return m.marshal(), nil
}

// Unmarshal implements encoding.Codec.
func (codec) Unmarshal(data []byte, v any) error {
	m, is := v.(interface{ unmarshal(data []byte) error })
	if !is {
		return fmt.Errorf("%T is no answer", v)
	}
	return m.unmarshal(data)
}

// filter is ListMachinesRequest: field 1 is the filter, with the ID in field 1 and the labels in field 2.
type filter struct {
	id     string
	labels map[string]string
}

func (f filter) marshal() []byte {
	var inner []byte
	if f.id != "" {
		inner = text(inner, 1, f.id)
	}
	for _, key := range slices.Sorted(maps.Keys(f.labels)) {
		inner = text(inner, 2, string(text(text(nil, 1, key), 2, f.labels[key])))
	}
	return text(nil, 1, string(inner))
}

// execRequest is ExecRequest: field 1 is the ID of a machine.
type execRequest string

func (e execRequest) marshal() []byte { return text(nil, 1, string(e)) }

// machines are ListMachinesResponse: field 1 is a machine, field 1 of that its metadata: the ID in field 1, the
// labels in field 3.
type machines []Machine

func (m *machines) unmarshal(data []byte) error {
	return fields(data, func(number protowire.Number, value []byte) error {
		if number != 1 {
			return nil
		}
		one := Machine{Labels: map[string]string{}}
		err := fields(value, func(number protowire.Number, value []byte) error {
			if number != 1 {
				return nil
			}
			return fields(value, one.metadata)
		})
		*m = append(*m, one)
		return err
	})
}

func (m *Machine) metadata(number protowire.Number, value []byte) error {
	switch number {
	case 1:
		m.ID = string(value)
	case 3:
		var pair [2]string
		err := fields(value, func(number protowire.Number, value []byte) error {
			if number == 1 || number == 2 {
				pair[number-1] = string(value)
			}
			return nil
		})
		m.Labels[pair[0]] = pair[1]
		return err
	}
	return nil
}

// address is ExecResponse: field 1 is the URL.
type address string

func (a *address) unmarshal(data []byte) error {
	return fields(data, func(number protowire.Number, value []byte) error {
		if number == 1 {
			*a = address(value)
		}
		return nil
	})
}

// text appends a field of bytes.
func text(to []byte, number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(to, number, protowire.BytesType), value)
}

// fields calls for each field of bytes; the others are none that berth knows.
func fields(data []byte, each func(number protowire.Number, value []byte) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
				return protowire.ParseError(n)
			}
			data = data[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if err := each(number, value); err != nil {
			return err
		}
	}
	return nil
}
