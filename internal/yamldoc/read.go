// Package yamldoc reads YAML from untrusted sources: strictly, with the position
// of every problem, and within limits that a hostile file cannot exceed.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
func Read(file string, raw []byte) (top *yaml.Node, problems []string) {
	return ReadWithin(file, raw, limits())
}

// ReadWithin is Read with other limits.
func ReadWithin(file string, raw []byte, limits Limits) (top *yaml.Node, problems []string) {
	if len(raw) > limits.Bytes {
		return nil, []string{fmt.Sprintf("%s: larger than %d MiB", file, limits.Bytes>>20)}
	}
	if Marks(raw) > limits.Marks {
		return nil, []string{file + ": too many values"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, []string{syntaxProblem(file, err)}
	}
	if problem, at := checkSize(&document, limits); problem != "" {
		return nil, []string{fmt.Sprintf("%s:%d:%d: %s", file, at.Line, at.Column, problem)}
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, []string{fmt.Sprintf("%s:%d: more than one document", file, second.Line)}
	} else if !errors.Is(err, io.EOF) {
		return nil, []string{syntaxProblem(file, err)}
	}
	if top = Resolve(document.Content[0]); IsNull(top) {
		return nil, nil
	}
	return top, nil
}

// syntaxProblem turns the parser's "yaml: line 3: message" into file:3: message.
func syntaxProblem(file string, err error) string {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(message, "line %d:", &line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
		return fmt.Sprintf("%s:%d: %s", file, line, message)
	}
	return file + ": " + message
}
