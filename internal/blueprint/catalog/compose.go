package catalog

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Order says what a blueprint is composed of.
type Order struct {
	// Name is the platform blueprint; not used with Custom.
	Name string
	// Custom is a user's own blueprint; nil for none.
	Custom *blueprint.Source
	// As renames the result, if the name is computed.
	As string
	// Overrides are merged into it last.
	Overrides []Override
	// Registry is the default registry of images.
	Registry string
}

// Compose merges a blueprint with its ancestors, the farthest first. Draft.Resolve finds the problems that depend on
// expressions.
func (s *Set) Compose(o Order) (Draft, error) {
	own, problems, err := s.ordered(o)
	if err != nil {
		return Draft{}, err
	}
	chain, broken := s.lineage(own)
	if len(problems) > 0 || broken != nil {
		return Draft{}, s.invalid(s.check(problems, []entry{own}, nil), own)
	}
	d := s.merge(chain, o)
	overrides, wrong := s.override(o.Overrides)
	if len(wrong) > 0 {
		return Draft{}, invalidFlags(wrong)
	}
	d.merged = customStrategies().Merge(d.merged, overrides)
	return d, nil
}

// Show returns a blueprint with everything inherited, for display: also a template, or one that cannot be provisioned.
// Expressions are shown as written.
func (s *Set) Show(name, registry string) (blueprint.Blueprint, error) {
	own, err := s.find(name)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	chain, broken := s.lineage(own)
	if broken != nil {
		return blueprint.Blueprint{}, s.invalid([]yamldoc.Problem{*broken}, own)
	}
	d := s.merge(chain, Order{Name: name, Registry: registry})
	b, err := d.decode(withoutUser(d.merged))
	if err != nil {
		return b, d.undecodable(err)
	}
	b.Expressions = d.merged.Expressions()
	return b, nil
}

// ordered is the blueprint that is to be composed, and its problems as written.
func (s *Set) ordered(o Order) (own entry, problems []yamldoc.Problem, err error) {
	if o.Custom != nil {
		own, problems = s.readCustom(*o.Custom)
		if o.As != "" {
			own.name = o.As
		}
		return own, problems, nil
	}
	if own, err = s.find(o.Name); err == nil && own.isTemplate {
		err = fault.New(fault.InvalidArgument, "blueprint %q is a template: it can only be inherited from", o.Name).
			WithHint("choose one of: %s", strings.Join(s.Names(), ", "))
	}
	return own, nil, err
}

// find is the platform blueprint of a name.
func (s *Set) find(name string) (entry, error) {
	e, ok := s.entries[name]
	if !ok {
		return e, fault.New(fault.NotFound, "blueprint %q not found", name).WithHint("%s", s.instead(name))
	}
	return e, nil
}

// instead is what to do about the name of a blueprint that does not exist.
func (s *Set) instead(name string) string {
	hint := "choose one of: " + strings.Join(s.Names(), ", ")
	if near := yamldoc.Nearest(name, s.Names()); near != "" {
		return "did you mean " + near + "? Or " + hint
	}
	return hint + "; `berth help blueprints` says how to add one"
}

func (s *Set) merge(chain []entry, o Order) Draft {
	d := Draft{own: chain[0], order: o, set: s, merged: layer.Value{Fields: map[string]layer.Value{}}}
	for _, e := range chain {
		d.lineage = append(d.lineage, e.name)
	}
	if o.As != "" && o.Custom == nil {
		d.lineage = append([]string{o.As}, d.lineage...)
	}
	for _, e := range slices.Backward(chain) {
		strategies := platformStrategies()
		if e.custom {
			strategies = customStrategies()
		}
		delete(d.merged.Fields, "name") // of a parent
		d.merged = strategies.Merge(d.merged, e.layer())
		if !e.custom {
			d.platform = d.merged
		}
	}
	return d
}

// platformStrategies merge the lists of platform blueprints.
func platformStrategies() layer.Strategies {
	return layer.Strategies{
		Exact: map[string]layer.Strategy{
			"initScripts":                {How: layer.Union, Key: "name"},
			"network.allowEgressToCIDRs": {How: layer.Union},
		},
		Suffix: map[string]layer.Strategy{
			"capabilities.add":  {How: layer.Union},
			"capabilities.drop": {How: layer.Union},
		},
		Key: map[string]layer.Strategy{
			// These are alternatives: both would require a volume that supports both.
			"accessModes": {How: layer.Replace},
			// The command line of an application.
			"start": {How: layer.Replace},
		},
	}
}

// customStrategies merge the lists that a user sets: their scripts do not replace the platform's.
func customStrategies() layer.Strategies {
	s := platformStrategies()
	delete(s.Exact, "initScripts")
	return s
}

// maxLineage is how many blueprints may inherit from each other.
const maxLineage = 32

// lineage is a blueprint and its ancestors, nearest first, as far as there are any. What is broken about it is reported
// where it is: once, however many inherit from there.
func (s *Set) lineage(own entry) (chain []entry, broken *yamldoc.Problem) {
	var seen []string
	for e := own; ; {
		chain = append(chain, e)
		if !e.custom {
			seen = append(seen, e.name)
		}
		parent, ok := s.entries[e.template]
		var problem yamldoc.Problem
		switch repeated := slices.Index(seen, e.template); {
		case e.template == "":
			return chain, nil
		case !ok:
			problem = e.problem("template", "template %q of blueprint %q not found%s", e.template, e.name,
				s.suggestion(e.template))
		case repeated >= 0:
			problem = s.cycle(seen[repeated:])
		case len(seen) == maxLineage:
			problem = e.problem("template", "inheritance chain longer than %d blueprints", maxLineage)
		default:
			e = parent
			continue
		}
		return chain, &problem
	}
}

// cycle is the problem of blueprints that inherit from each other, the same one whichever of them it is found from.
func (s *Set) cycle(names []string) yamldoc.Problem {
	first := slices.Index(names, slices.Min(names))
	names = slices.Concat(names[first:], names[:first+1])
	return s.entries[names[0]].problem("template", "inheritance cycle: %s", strings.Join(names, " → "))
}

// suggestion is a question for the name that is meant, if there is one like it.
func (s *Set) suggestion(name string) string {
	if nearest := yamldoc.Nearest(name, s.all()); nearest != "" {
		return ": did you mean " + nearest + "?"
	}
	return ""
}

// builtinDefault is the origin of what no layer sets.
const builtinDefault = "default (built in)"

// fillIn gives a blueprint what no layer of it sets, and its images their registry.
func fillIn(b *blueprint.Blueprint, registryHost string) {
	for _, field := range []struct {
		path  string
		value *string
		unset string
	}{
		{"helperImage", &b.HelperImage, blueprint.DefaultHelperImage},
		{"imagePullPolicy", &b.ImagePullPolicy, blueprint.DefaultPullPolicy},
		{"resources.cpu", &b.Resources.CPU, blueprint.DefaultCPU},
		{"resources.memory", &b.Resources.Memory, blueprint.DefaultMemory},
	} {
		if *field.value == "" {
			*field.value, b.Origins[field.path] = field.unset, builtinDefault
		}
	}
	if b.Podman.Enabled && len(b.Podman.SecurityContext) == 0 {
		b.Podman.SecurityContext = b.Podman.Security()
		for field := range b.Podman.SecurityContext {
			b.Origins["podman.securityContext."+field] = builtinDefault
		}
	}
	for _, image := range []*string{&b.Image, &b.HelperImage, &b.K8shelld.Image, &b.Podman.Image} {
		*image = registry.Qualify(*image, registryHost)
	}
}
