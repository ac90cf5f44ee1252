package catalog

import (
	"context"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Draft is a blueprint with everything inherited, and expressions that need a user to be evaluated.
type Draft struct {
	own      entry
	lineage  []string
	merged   layer.Value
	platform layer.Value // the same without what a user has set
	order    Order
	set      *Set
}

// Lineage is the name and its ancestors, nearest first.
func (d Draft) Lineage() []string { return d.lineage }

// Scratch are the scratch storages, each with the CSI driver that it names, as far as no expression says that.
func (d Draft) Scratch() map[string]string {
	b, err := d.decode(withoutUser(d.merged))
	if err != nil {
		return nil // Resolve reports it
	}
	return b.Scratch()
}

// Resolve evaluates the expressions and validates the result. The name in the metadata is filled in.
func (d Draft) Resolve(ctx context.Context, known expression.Facts) (blueprint.Blueprint, error) {
	known.Metadata.Name = d.lineage[0]
	final, problems := d.evaluated(ctx, d.merged, known)
	b, err := d.decode(final)
	if err != nil {
		return blueprint.Blueprint{}, d.undecodable(err)
	}
	var failed []string // a field without its value would only be a second problem
	for _, p := range problems {
		failed = append(failed, subject(p))
	}
	if problems = append(problems, d.validate(b, true, failed)...); len(problems) > 0 {
		return blueprint.Blueprint{}, d.invalid(problems)
	}
	b.Proxies = d.proxies(ctx, known)
	if d.order.As != "" && d.order.As != b.Name {
		b.Name, b.Origins["name"] = d.order.As, "the user string"
	}
	return b, nil
}

// proxies are the variables by which the platform names proxies. They have been validated as a part of the blueprint,
// unless the user has replaced them.
func (d Draft) proxies(ctx context.Context, known expression.Facts) map[string]string {
	env := map[string]layer.Value{}
	for name, value := range d.platform.Fields["env"].Fields {
		if isProxy(name) {
			env[name] = value
		}
	}
	final, _ := d.evaluated(ctx, layer.Value{Fields: map[string]layer.Value{"env": {Fields: env}}}, known)
	var b blueprint.Blueprint
	_ = final.Node().Decode(&b)
	return b.Env
}

// limits are the problems that the expressions have for everybody: which values they have is not known, but whether
// they are too many, or too much work.
func (d Draft) limits(ctx context.Context) []string {
	_, problems := d.all(ctx, d.merged, standIn(d.lineage[0]), expression.IsLimit)
	return problems
}

// standIn is somebody for whom expressions are evaluated whose user is not known.
func standIn(name string) expression.Facts {
	return expression.Facts{
		User: expression.User{
			Username: "user", UID: 1000, GID: 1000, Email: "user@example.com", Organization: "organization",
			Roles: []string{"role"}, Blueprints: []string{"*"},
		},
		WorkspaceName: "user-0000000",
		Metadata:      expression.Metadata{Name: name, RepoOwner: "owner", RepoName: "name", Ref: "main"},
	}
}

// isOwn reports whether a field has been set by a user: in their own blueprint, or by a flag.
func (d Draft) isOwn(field string) bool {
	at, ok := d.merged.Lookup(field)
	return ok && d.isUsers(at)
}

// isUsers reports whether a user has written what is at a place.
func (d Draft) isUsers(at layer.Place) bool {
	return at.File == "" || d.own.custom && at.File == d.own.file
}

func (d Draft) decode(v layer.Value) (blueprint.Blueprint, error) {
	var b blueprint.Blueprint
	if err := v.Node().Decode(&b); err != nil {
		return b, err
	}
	b.Lineage, b.Origin, b.Origins = d.lineage, d.own.position(), origins(d.merged)
	b.Platform, b.Template, b.IsTemplate = d.own.name, d.own.template, d.own.isTemplate // never inherited
	if d.own.custom {
		b.Platform = d.own.template
	}
	fillIn(&b, d.order.Registry)
	return b, nil
}

// undecodable is the error of a draft that is not a blueprint.
func (d Draft) undecodable(err error) error {
	return d.set.invalid([]yamldoc.Problem{d.own.problem("", "blueprint %s: %v", d.lineage[0], err)}, d.own)
}

// isProxy reports whether a variable names a proxy, or says what to reach without one. Programs read them in both
// cases.
func isProxy(name string) bool {
	return slices.Contains([]string{"all_proxy", "http_proxy", "https_proxy", "no_proxy"}, strings.ToLower(name))
}

// origins are the layers that set the fields of a blueprint.
func origins(v layer.Value) map[string]string {
	all := map[string]string{}
	v.Walk(func(path string, leaf layer.Value) {
		all[path] = leaf.At.String()
		if leaf.IsExpression() {
			all[path] += ", " + layer.ExpressionTag + " " + shorten(leaf.Scalar.Value, 60)
		}
	})
	delete(all, "template") // these two are not inherited
	delete(all, "isTemplate")
	return all
}

// invalid is the error of a draft with problems.
func (d Draft) invalid(problems []string) error {
	var located []yamldoc.Problem
	for _, problem := range problems {
		p := d.locate(problem).Problem
		if p.File != "" {
			p.Message = "blueprint " + d.lineage[0] + ": " + p.Message
		}
		located = append(located, p)
	}
	return d.set.invalid(located, d.own)
}
