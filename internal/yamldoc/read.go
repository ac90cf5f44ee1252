// Package yamldoc reads YAML that others have written: strictly, with the place
// of everything that is wrong, and within limits that a hostile file cannot
// break.
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

// Read gives the one document of a file as nodes: only these tell what was left
// out from what is empty, and where everything stands. It is nil if there is
// none. What is called what in the words about limits.
func Read(file, what string, raw []byte) (top *yaml.Node, problems []string) {
	if len(raw) > MaxFile {
		return nil, []string{fmt.Sprintf("%s: is larger than %d MiB", file, MaxFile>>20)}
	}
	if crowded(raw) {
		return nil, []string{file + ": has more values than " + what + " can have"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, []string{syntaxProblem(file, err)}
	}
	if what, at := measure(&document); what != "" {
		return nil, []string{fmt.Sprintf("%s:%d:%d: %s", file, at.Line, at.Column, what)}
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, []string{fmt.Sprintf("%s:%d: a second document: a file has one", file, second.Line)}
	} else if !errors.Is(err, io.EOF) {
		return nil, []string{syntaxProblem(file, err)}
	}
	if top = Behind(document.Content[0]); IsNull(top) {
		return nil, nil
	}
	return top, nil
}

// syntaxProblem turns the parser's "yaml: line 3: what" into file:3: what.
func syntaxProblem(file string, err error) string {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(what, "line %d:", &line); n == 1 {
		_, what, _ = strings.Cut(what, ": ")
		return fmt.Sprintf("%s:%d: %s", file, line, what)
	}
	return file + ": " + what
}

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
