package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"
)

// noEnd is a file that is cut off, as one is whose program was interrupted or whose disk was full: of a list, the
// items that are whole are read. It is true if there are such.
func (r *reader) noEnd(at place, line int, text []byte) bool {
	r.cutOff = true
	n := 0
	for _, item := range wholeItems(text) {
		if !deeper(item, r.limits.depth) && r.object(item, nil) == nil {
			n++
		}
	}
	r.problem(at.file, line, "the file is cut off: what begins on line %d has no end; %s", at.line, itemsRead(n))
	return n > 0
}

// wholeItems are those of a list in JSON that has no end.
func wholeItems(text []byte) (items []json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		var value json.RawMessage
		key, err := decoder.Token()
		switch {
		case err != nil:
			return nil
		case key != "items":
			if decoder.Decode(&value) != nil {
				return nil
			}
			continue
		}
		if first, err := decoder.Token(); err != nil || first != json.Delim('[') {
			return nil
		}
		for decoder.More() {
			var item json.RawMessage
			if decoder.Decode(&item) != nil {
				return items
			}
			items = append(items, item)
		}
		return items
	}
	return nil
}

// unfinished reads a list in YAML that has no end; false if that is not what a document is.
func (r *reader) unfinished(at place, raw []byte) bool {
	var list document
	if deeper(raw, r.limits.depth) || json.Unmarshal(raw, &list) != nil || list.Kind != "" || list.Items == nil {
		return false
	}
	r.problem(at.file, at.line, "%v", plainly(r.withoutKind(list.Items)))
	return true
}

// withoutKind reads the items of a list in YAML without its kind, which would come at its end. The last item may be
// half of one.
func (r *reader) withoutKind(raw []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	r.cutOff = true
	n := 0
	for _, item := range items[:max(len(items)-1, 0)] {
		if r.object(item, nil) == nil {
			n++
		}
	}
	return fmt.Errorf(`the file is cut off: "kind" is missing, which ends a list; %s`, itemsRead(n))
}

// halfLine reads a document that ends within a line; false if that is not what is wrong with it.
func (r *reader) halfLine(at place, text []byte) bool {
	end := bytes.LastIndexByte(text, '\n') + 1
	if end == len(text) || end == 0 {
		return false
	}
	raw, err := yaml.YAMLToJSON(text[:end])
	if err != nil || deeper(raw, r.limits.depth) {
		return false
	}
	r.cutOff = true
	var list document
	err = errors.New("the file is cut off: its last line has no end; " + itemsRead(0))
	if json.Unmarshal(raw, &list) == nil && list.Kind == "" && list.Items != nil {
		err = r.withoutKind(list.Items)
	}
	r.problem(at.file, at.line+bytes.Count(text, []byte("\n")), "%v", err)
	return true
}

// itemsRead says how much of a list was read.
func itemsRead(n int) string {
	switch n {
	case 0:
		return "nothing of it was read"
	case 1:
		return "its first item was read"
	}
	return fmt.Sprintf("its first %d items were read", n)
}
