package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
)

// read reads the file strictly: a key that does not exist is an error with its
// line. A file that is not there is empty, unless it was asked for by name.
func read(path string, explicit bool, getenv func(string) string) (Config, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && !explicit {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, fault.New(fault.InvalidArgument, "configuration: %w", err).
			WithHint("correct BERTH_CONFIG, or create the file")
	}
	return parse(path, raw, getenv)
}

func parse(path string, raw []byte, getenv func(string) string) (Config, error) {
	var c Config
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, invalid(path, strings.Split(strings.TrimPrefix(err.Error(), "yaml: "), "\n"))
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return Config{}, invalid(path, []string{err.Error()})
	}
	if problems := expand(&document, filepath.Dir(path), getenv); len(problems) > 0 {
		return Config{}, invalid(path, problems)
	}
	c = Config{}
	if err := document.Decode(&c); err != nil && len(document.Content) > 0 {
		return Config{}, invalid(path, []string{err.Error()})
	}
	if problems := c.Jobs.Problems(); len(problems) > 0 {
		return Config{}, invalid(path, problems)
	}
	for _, file := range []*string{&c.Jobs.NATS.Credentials, &c.Jobs.NATS.TLS.CA, &c.Jobs.NATS.TLS.Cert, &c.Jobs.NATS.TLS.Key} {
		if *file != "" && !filepath.IsAbs(*file) {
			*file = filepath.Join(filepath.Dir(path), *file)
		}
	}
	if c.Blueprints != "" && !filepath.IsAbs(c.Blueprints) {
		c.Blueprints = filepath.Join(filepath.Dir(path), c.Blueprints)
	}
	return c, nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand fills ${NAME} and !file PATH into the strings of a document.
func expand(node *yaml.Node, dir string, getenv func(string) string) (problems []string) {
	if node.Kind != yaml.ScalarNode {
		for _, child := range node.Content {
			problems = append(problems, expand(child, dir, getenv)...)
		}
		return problems
	}
	if node.Tag == "!file" {
		path := node.Value
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return []string{fmt.Sprintf("line %d: !file: %v", node.Line, err)}
		}
		node.Tag, node.Value = "!!str", strings.TrimRight(string(text), "\r\n")
		return nil
	}
	node.Value = variable.ReplaceAllStringFunc(node.Value, func(match string) string {
		name := variable.FindStringSubmatch(match)[1]
		value := getenv(name)
		if value == "" {
			problems = append(problems, fmt.Sprintf("line %d: the variable %s is not set", node.Line, name))
		}
		return value
	})
	return problems
}

func invalid(path string, problems []string) error {
	err := fault.New(fault.InvalidArgument, "the configuration %s cannot be used", path)
	for _, p := range problems {
		p = strings.TrimSpace(p)
		if p == "" || p == "unmarshal errors:" {
			continue
		}
		if i := strings.Index(p, " not found in type"); i > 0 {
			p = p[:i] + " does not exist"
		}
		err.Problems = append(err.Problems, p)
	}
	return err.WithHint("the keys are blueprints, defaultBlueprint, defaultRegistry, jobs and policy")
}
