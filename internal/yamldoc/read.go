// Package yamldoc reads YAML from untrusted sources: strictly, with the position
// of every problem, and within limits that a hostile file cannot exceed.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
)

// ReadFile reads a file, but little more than Read accepts: a device or a pipe
// may have no end.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxFile+1))
}

// Read returns the one document of a file as nodes, which keep positions and tell
// what is left out from what is empty. It is nil if the file is empty.
func Read(file string, raw []byte) (top *yaml.Node, problems []Problem) {
	return ReadWithin(file, raw, limits())
}

// ReadWithin is Read with other limits.
func ReadWithin(file string, raw []byte, limits Limits) (top *yaml.Node, problems []Problem) {
	top, problem := read(raw, limits)
	if problem == nil {
		return top, nil
	}
	problem.File = file
	return nil, []Problem{*problem}
}

func read(raw []byte, limits Limits) (top *yaml.Node, problem *Problem) {
	if len(raw) > limits.Bytes {
		return nil, &Problem{Message: fmt.Sprintf("larger than %d MiB", limits.Bytes>>20)}
	}
	if Marks(raw) > limits.Marks {
		return nil, &Problem{Message: "too many values"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxProblem(raw, err)
	}
	if problem, at := checkSize(&document, limits); problem != "" {
		return nil, &Problem{Line: at.Line, Column: at.Column, Message: problem}
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, &Problem{Line: second.Line, Message: "more than one document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(raw, err)
	}
	if top = Resolve(document.Content[0]); IsNull(top) {
		return nil, nil
	}
	return top, nil
}
