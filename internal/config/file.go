package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity/provider"
	"github.com/berthdev/berth/internal/yamldoc"
)

// read reads the file strictly: a key that does not exist is an error with its line. A file that is not there is empty,
// unless it was asked for by name.
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
	dir := filepath.Dir(path)
	s := &yamldoc.Checker{File: path}
	expand(s, top, dir, getenv)
	s.Check(top, reflect.TypeFor[Config]())
	provider.CheckConfig(s, yamldoc.Field(top, "identity"))
	whole := layer.New("", path, top) // of a key that is there twice, the first one
	if err := whole.Node().Decode(&c); err != nil {
		s.Problemf(top, "%v", err)
	}
	s.Problems = append(s.Problems, located(whole, s.Problems, c.check(dir))...)
	if len(s.Problems) > 0 { // else the policy is checked with what takes precedence over the file
		return Config{}, invalid(path, append(s.Problems, located(whole, s.Problems, c.PolicyFile.problems())...))
	}
	c.PolicyFile.place = func(key string) string {
		return fmt.Sprintf("%s:%d:%d: policy.%s", path, whole.Find("policy."+key).Line,
			whole.Find("policy."+key).Column, key)
	}
	return c, nil
}

// check finds what is wrong with the values, each as a sentence that begins with the path of its key, and makes paths
// those of the file's directory.
func (c *Config) check(dir string) (problems []string) {
	problems = c.Jobs.Problems()
	if problem := c.checkCompat("compat"); problem != "" {
		problems = append(problems, problem)
	}
	for i, configMap := range c.BlueprintConfigMaps {
		if configMap.Namespace == "" || configMap.Name == "" {
			problems = append(problems, fmt.Sprintf("blueprintConfigMaps[%d]: requires a namespace and a name", i))
		}
	}
	nats := &c.Jobs.NATS
	relativeTo(dir, &c.Blueprints, &nats.Credentials, &nats.TLS.CA, &nats.TLS.Cert, &nats.TLS.Key)
	for i := range c.Identity.Providers {
		p := &c.Identity.Providers[i]
		relativeTo(dir, &p.Path, &p.TokenFile)
	}
	return slices.Concat(problems, c.checkAccess(dir), c.namespaces(), c.variables(), c.Limits.problems(),
		c.checkGateways(dir), c.checkVolumes(dir),
		c.Bundles.check(dir))
}

// located finds where the values are that are wrong. At a place of which a problem is known already, the others follow
// from that one.
func located(whole layer.Value, known []yamldoc.Problem, sentences []string) (problems []yamldoc.Problem) {
	for _, sentence := range sentences {
		key, _, _ := strings.Cut(sentence, " ")
		at := whole.Find(strings.TrimSuffix(key, ":"))
		if !slices.ContainsFunc(known, func(p yamldoc.Problem) bool {
			return p.Line == at.Line &&
				p.Column == at.Column
		}) {
			problems = append(problems, yamldoc.Problem{
				File: at.File, Line: at.Line, Column: at.Column,
				Message: sentence,
			})
		}
	}
	return problems
}

// isRooted is true for a path that starts from no directory: absolute, or on Windows on the current drive, as /x is.
func isRooted(path string) bool {
	return filepath.IsAbs(path) || path != "" && os.IsPathSeparator(path[0])
}

// relativeTo makes paths that are written in a file start from where it lies.
func relativeTo(dir string, paths ...*string) {
	for _, path := range paths {
		if *path != "" && !isRooted(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand fills ${NAME} and !file PATH into the strings of a document.
func expand(s *yamldoc.Checker, node *yaml.Node, dir string, getenv func(string) string) {
	if node.Kind != yaml.ScalarNode {
		for _, child := range node.Content {
			expand(s, child, dir, getenv)
		}
		return
	}
	if node.Tag == "!file" {
		path := node.Value
		if !isRooted(path) {
			path = filepath.Join(dir, path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			s.Misfit(node, "!file: %v", err)
			return
		}
		node.Tag, node.Value = "!!str", strings.TrimRight(string(text), "\r\n")
		return
	}
	var missing []string
	node.Value = variable.ReplaceAllStringFunc(node.Value, func(match string) string {
		name := variable.FindStringSubmatch(match)[1]
		value := getenv(name)
		if value == "" {
			missing = append(missing, name)
		}
		return value
	})
	for _, name := range missing {
		s.Misfit(node, "the variable %s is not set", name)
	}
}

// invalid shows no lines of the file, which may have passwords in it.
func invalid(path string, problems []yamldoc.Problem) error {
	err := fault.New(fault.InvalidArgument, "invalid configuration %s", path)
	err.Problems = yamldoc.Report(problems, nil)
	return err.WithHint("see `berth help environment` for what can be configured")
}

// namespaces checks those of injectNamespaces and the control namespace: what restricts must not be misread.
func (c Config) namespaces() (problems []string) {
	for i, name := range c.InjectNamespaces {
		if name != "*" && len(validation.IsDNS1123Label(name)) > 0 {
			problems = append(problems, fmt.Sprintf("injectNamespaces[%d]: invalid namespace %q: must be the name of "+
				"one, or * for all", i, name))
		}
	}
	if name := c.ControlNamespace; name != "" && len(validation.IsDNS1123Label(name)) > 0 {
		problems = append(problems, fmt.Sprintf("controlNamespace: invalid namespace %q", name))
	}
	if at := c.APIServer; at != "" {
		u, err := url.Parse(at)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			problems = append(problems, "apiServer: invalid address: must be such as http://api-server.k8shell:9101")
		}
	}
	return problems
}

// variables checks the names of those that blueprints may read.
func (c Config) variables() (problems []string) {
	for i, name := range c.BlueprintVariables {
		if len(validation.IsEnvVarName(name)) > 0 {
			problems = append(problems, fmt.Sprintf("blueprintVariables[%d]: invalid name %q: must be that of a "+
				"variable of the environment", i, name))
		}
	}
	return problems
}
