package catalog

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/blueprint/original"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// maxTotal is the limit of all files, and of all ConfigMaps, in bytes; yamldoc has that of one file.
const maxTotal = 8 << 20

// listDir are the YAML files of a directory, sorted.
func listDir(dir string) (paths []string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if !file.IsDir() && blueprint.IsFile(file.Name()) {
			paths = append(paths, filepath.Join(dir, file.Name()))
		}
	}
	return paths, nil
}

// readFiles reads files until they are too large together.
func readFiles(files []string) (sources []blueprint.Source, problems []yamldoc.Problem) {
	left := maxTotal
	for _, file := range files {
		text, err := yamldoc.ReadFile(file)
		if err != nil {
			problems = append(problems, yamldoc.Problem{Message: err.Error()})
			continue
		}
		if left -= len(text); left < 0 {
			return sources, append(problems,
				yamldoc.Problem{File: file, Message: fmt.Sprintf("the files exceed %d MiB in total", maxTotal>>20)})
		}
		sources = append(sources, blueprint.Source{Name: file, Text: text, Dir: filepath.Dir(file)})
	}
	return sources, problems
}

// parse returns the blueprints of a file as nodes, with the files that it includes: left is how many bytes these may
// still have.
func (s *Set) parse(source blueprint.Source, left *int) (blueprints []*yaml.Node, problems []yamldoc.Problem) {
	top, problems := s.top(source)
	if top == nil {
		return nil, problems
	}
	if source.Dir != "" {
		i := original.Includer{Dir: source.Dir, File: source.Name, Left: left}
		i.Include(top)
		if len(i.Problems) > 0 {
			return nil, i.Problems
		}
	}
	if theirs, ok := original.Blueprints(top); ok {
		return theirs, nil
	}
	return listed(source.Name, top)
}

// top is what is in a file; nil if it is empty.
func (s *Set) top(source blueprint.Source) (*yaml.Node, []yamldoc.Problem) {
	if top, ok := s.parsed[source.Name]; ok {
		return top, nil
	}
	return yamldoc.Read(source.Name, source.Text)
}

// listed are the blueprints of the list that a file has.
func listed(file string, top *yaml.Node) (blueprints []*yaml.Node, problems []yamldoc.Problem) {
	c := &yamldoc.Checker{File: file}
	fields := yamldoc.Fields(reflect.TypeFor[blueprint.File]())
	if top.Kind != yaml.MappingNode {
		c.Problemf(top, "expected a mapping with a list \"blueprints\", found %s", yamldoc.Describe(top))
		return nil, c.Problems
	}
	c.Pairs(top, func(key, list *yaml.Node) {
		list = yamldoc.Resolve(list)
		switch {
		case key.Value != "blueprints" && !c.Unknown(top, key, fields):
		case list.Kind == yaml.SequenceNode:
			blueprints = list.Content
		case !yamldoc.IsNull(list):
			c.Problemf(list, "expected a list, found %s", yamldoc.Describe(list))
		}
	})
	return blueprints, c.Problems
}

// read makes an entry of a platform blueprint and finds its problems as written.
func (s *Set) read(file string, node *yaml.Node) (entry, []yamldoc.Problem) {
	node = yamldoc.Resolve(node)
	c := s.language.checker(file)
	if node.Kind != yaml.MappingNode {
		c.Problemf(node, "expected a blueprint, found %s", yamldoc.Describe(node))
		return entry{}, c.Problems
	}
	original.Adopt(node, nil)
	original.Refuse(c, node)
	c.Check(node, reflect.TypeFor[blueprint.Blueprint]())
	e := entry{file: file, node: node}
	e.identify(c)
	if yamldoc.Field(node, "name") == nil || e.name == "" && len(c.Problems) == 0 {
		c.Problemf(node, "name: required")
	}
	if e.name != "" && !e.isTemplate && !userstring.CanName(e.name) { // a template is named in files alone
		c.Problemf(yamldoc.Field(node, "name"),
			"name: no user string can name %q: leave out spaces, control characters and |", e.name)
	}
	return e, c.Problems
}

// identify decodes the fields by which blueprints refer to each other.
func (e *entry) identify(c *yamldoc.Checker) {
	written := e.layer()
	for _, field := range []string{"name", "template", "isTemplate"} {
		if v := written.Fields[field]; v.IsExpression() {
			c.Problemf(v.Scalar, "%s: must not be an expression, as it is needed before anything is evaluated", field)
		}
	}
	var own struct {
		Name, Template string
		IsTemplate     bool `yaml:"isTemplate"`
	}
	_ = written.Node().Decode(&own) // Check has reported what does not fit
	e.name, e.template, e.isTemplate = own.Name, own.Template, own.IsTemplate
}

func (e entry) layer() layer.Value { return layer.New(e.name, e.file, e.node) }

// maxReads is how many ConfigMaps are read concurrently.
const maxReads = 8

// ReadConfigMaps reads ConfigMaps of blueprints concurrently. One that does not exist is an error: a workspace must not
// be made of less than was configured.
func ReadConfigMaps(ctx context.Context, client kube.Interface, all []blueprint.ConfigMap) ([]blueprint.Source, error) {
	found := make([][]blueprint.Source, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxReads)
	for i, c := range all {
		group.Go(func() (err error) {
			found[i], err = readConfigMap(ctx, client, c)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	sources, total := slices.Concat(found...), 0
	for _, source := range sources {
		if total += len(source.Text); total > maxTotal {
			return nil, invalid("invalid blueprints",
				[]string{fmt.Sprintf("%s: the ConfigMaps of blueprints exceed %d MiB in total", source.Name,
					maxTotal>>20)})
		}
	}
	return sources, nil
}

func readConfigMap(ctx context.Context, client kube.Interface, c blueprint.ConfigMap) (sources []blueprint.Source,
	err error,
) {
	read, err := client.CoreV1().ConfigMaps(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	if err = kube.Fault(err, kube.Call{
		Verb: "get", Resource: "configmaps", Namespace: c.Namespace,
		Name: c.Name,
	}); err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return nil, fault.New(fault.NotFound,
				"configmap %s/%s not found; blueprintConfigMaps in the configuration names it", c.Namespace, c.Name).
				WithHint("create it, or correct blueprintConfigMaps in the configuration")
		}
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(read.Data)) {
		if blueprint.IsFile(key) {
			sources = append(sources, blueprint.Source{
				Name: fmt.Sprintf("configmap/%s/%s:%s", c.Namespace, c.Name, key),
				Text: []byte(read.Data[key]),
			})
		}
	}
	return sources, nil
}

// readCustom makes an entry of a custom blueprint and finds its problems as written. Without a node, it cannot be read.
func (s *Set) readCustom(custom blueprint.Source) (entry, []yamldoc.Problem) {
	e := entry{file: custom.Name, text: custom.Text, commit: custom.Commit, custom: true}
	top, problems := s.top(custom)
	if len(problems) > 0 {
		return e, problems
	}
	if top == nil {
		return e, []yamldoc.Problem{{File: custom.Name, Message: "empty; a blueprint requires at least a template"}}
	}
	c := s.language.ofUser().checker(custom.Name)
	if top.Kind != yaml.MappingNode {
		c.Problemf(top, "expected the fields of a blueprint, found %s", yamldoc.Describe(top))
		return e, c.Problems
	}
	inner := original.Unwrapped(top)
	if inner != nil {
		top = inner
	}
	original.Adopt(top, nil)
	original.Refuse(c, top)
	checkCustomFields(c, top)
	e.node = top
	e.identify(c)
	s.checkTemplate(c, e)
	if inner != nil {
		s.switchOff(e)
	}
	return e, c.Problems
}

// switchOff gives the storages of a file that k8shell can read its meaning: they are off unless they are switched on.
func (s *Set) switchOff(e entry) {
	var inherited []string
	chain, _ := s.lineage(e)
	for _, ancestor := range chain[1:] {
		inherited = append(inherited, original.StoragesOf(ancestor.node)...)
	}
	original.SwitchOff(e.node, inherited)
}

// checkCustomFields checks the top-level fields of a custom blueprint.
func checkCustomFields(c *yamldoc.Checker, top *yaml.Node) {
	fields := yamldoc.Fields(reflect.TypeFor[blueprint.Blueprint]())
	allowed := maps.Clone(fields)
	maps.DeleteFunc(allowed, func(name string, _ reflect.Type) bool {
		return name != "template" && !slices.Contains(blueprint.CustomFields(), name)
	})
	c.Pairs(top, func(key, value *yaml.Node) {
		switch {
		case allowed[key.Value] != nil:
		case fields[key.Value] != nil:
			c.Problemf(key, "field %q is only allowed in platform blueprints; a custom blueprint can set: %s",
				key.Value, strings.Join(slices.Sorted(maps.Keys(allowed)), ", "))
			yamldoc.Drop(value)
			return
		case !c.Unknown(top, key, allowed):
			yamldoc.Drop(value)
			return
		}
		c.Check(value, allowed[key.Value])
	})
}

// checkTemplate requires a platform blueprint to inherit from.
func (s *Set) checkTemplate(c *yamldoc.Checker, e entry) {
	platform := strings.Join(s.all(), ", ")
	switch written := e.layer().Fields["template"]; {
	case written.IsExpression(): // a problem already
	case e.template == "":
		c.Problemf(e.node, "template: required: must be one of the platform blueprints %s", platform)
	case !s.Has(e.template):
		c.Problemf(written.Scalar, "template: unknown platform blueprint %q: must be one of %s",
			shorten(e.template, 60), platform)
	}
}
