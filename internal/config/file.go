package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity/provider"
	"github.com/berthdev/berth/internal/yamldoc"
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

// Check finds what is wrong with a text that is to be a file.
func Check(path string, raw []byte, getenv func(string) string) error {
	_, err := parse(path, raw, getenv)
	return err
}

func parse(path string, raw []byte, getenv func(string) string) (Config, error) {
	top, problems := yamldoc.Read(path, raw)
	if len(problems) > 0 {
		return Config{}, invalid(path, problems)
	}
	var c Config
	if top == nil {
		return c, nil
	}
	s := &yamldoc.Checker{Position: func(n *yaml.Node) string { return fmt.Sprintf("line %d", n.Line) }}
	s.Problems = expand(top, filepath.Dir(path), getenv)
	s.Check(top, reflect.TypeFor[Config]())
	provider.CheckConfig(s, yamldoc.Field(top, "identity"))
	if len(s.Problems) > 0 {
		return Config{}, invalid(path, s.Problems)
	}
	if err := top.Decode(&c); err != nil {
		return Config{}, invalid(path, []string{err.Error()})
	}
	if problems := c.Jobs.Problems(); len(problems) > 0 {
		return Config{}, invalid(path, problems)
	}
	nats := &c.Jobs.NATS
	relativeTo(filepath.Dir(path), &nats.Credentials, &nats.TLS.CA, &nats.TLS.Cert, &nats.TLS.Key)
	for i, configMap := range c.BlueprintConfigMaps {
		if configMap.Namespace == "" || configMap.Name == "" {
			return Config{}, invalid(path, []string{fmt.Sprintf("blueprintConfigMaps[%d]: requires a namespace and a name", i)})
		}
	}
	relativeTo(filepath.Dir(path), &c.Blueprints)
	for i := range c.Identity.Providers {
		p := &c.Identity.Providers[i]
		relativeTo(filepath.Dir(path), &p.Path, &p.TokenFile)
	}
	if problems := slices.Concat(c.checkAccess(filepath.Dir(path)), c.namespaces(), c.Limits.problems(), c.checkGateways(filepath.Dir(path))); len(problems) > 0 {
		return Config{}, invalid(path, problems)
	}
	return c, nil
}

// relativeTo makes paths that are written in a file start from where it lies.
func relativeTo(dir string, paths ...*string) {
	for _, path := range paths {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
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
	err := fault.New(fault.InvalidArgument, "invalid configuration %s", path)
	err.Problems = problems
	return err.WithHint("see `berth help environment` for what can be configured")
}

// namespaces checks those of injectNamespaces: a list that restricts must not
// be misread.
func (c Config) namespaces() (problems []string) {
	for _, name := range c.InjectNamespaces {
		if name != "*" && len(validation.IsDNS1123Label(name)) > 0 {
			problems = append(problems, fmt.Sprintf("injectNamespaces: invalid namespace %q: must be the name of one, or * for all", name))
		}
	}
	return problems
}
