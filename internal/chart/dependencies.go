package chart

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	helmchart "helm.sh/helm/v3/pkg/chart"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/chart/chartutil"
)

// missing names the dependencies of a chart that it does not hold.
func missing(c *helmchart.Chart) (names []string) {
	for _, d := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(sub *helmchart.Chart) bool { return sub.Name() == d.Name }) {
			names = append(names, d.Name)
		}
	}
	return names
}

// dependencies are worked out as Helm does: which subcharts are wanted, under which names,
// and which of their values go into the chart's own.
type dependencies struct {
	budget *budget.Budget
	warn   func(format string, args ...any)
}

// resolve changes the chart and its subcharts.
func (d dependencies) resolve(c *helmchart.Chart, values map[string]any) error {
	if err := d.enable(c, values, ""); err != nil {
		return err
	}
	return d.importValues(c)
}

// enable leaves a chart with the subcharts that conditions and tags want; the path is that
// of the chart's values.
func (d dependencies) enable(c *helmchart.Chart, values map[string]any, path string) error {
	wanted := c.Metadata.Dependencies
	if wanted == nil {
		return nil
	}
	c.SetDependencies(d.named(c)...)
	merged, err := coalescing{budget: d.budget, warn: func(string, ...any) {}}.all(c, values)
	if err != nil {
		return err
	}
	off := map[string]bool{}
	for _, dependency := range wanted {
		dependency.Enabled = d.condition(dependency, merged, path, d.tags(dependency, merged))
		if !dependency.Enabled {
			off[dependency.Name] = true
		}
	}
	subcharts := slices.DeleteFunc(slices.Clone(c.Dependencies()),
		func(sub *helmchart.Chart) bool { return off[sub.Name()] })
	for _, sub := range subcharts {
		if err := d.enable(sub, merged, path+sub.Name()+"."); err != nil {
			return err
		}
	}
	c.Metadata.Dependencies = slices.DeleteFunc(slices.Clone(wanted),
		func(dependency *helmchart.Dependency) bool { return off[dependency.Name] })
	c.SetDependencies(subcharts...)
	return nil
}

// named are the subcharts that a chart does not name, and those that it does: a chart may
// be there several times, with several names.
func (d dependencies) named(c *helmchart.Chart) (subcharts []*helmchart.Chart) {
	for _, sub := range c.Dependencies() {
		if !slices.ContainsFunc(c.Metadata.Dependencies,
			func(dependency *helmchart.Dependency) bool { return fits(dependency, sub) }) {
			subcharts = append(subcharts, sub)
		}
	}
	for _, dependency := range c.Metadata.Dependencies {
		i := slices.IndexFunc(c.Dependencies(), func(sub *helmchart.Chart) bool { return fits(dependency, sub) })
		if i >= 0 {
			sub := *c.Dependencies()[i]
			metadata := *sub.Metadata
			sub.Metadata = &metadata
			if dependency.Alias != "" {
				metadata.Name = dependency.Alias
			}
			subcharts = append(subcharts, &sub)
		} else if !slices.Contains(missing(c), dependency.Name) {
			d.warn("chart %s: no subchart %s of version %s, as Chart.yaml asks for", c.Name(), dependency.Name,
				dependency.Version)
		}
		if dependency.Alias != "" {
			dependency.Name = dependency.Alias
		}
	}
	return subcharts
}

// fits says whether a subchart is the one that a dependency asks for.
func fits(dependency *helmchart.Dependency, sub *helmchart.Chart) bool {
	return sub.Name() == dependency.Name && InRange(dependency.Version, sub.Metadata.Version)
}

// InRange says whether a version is in a range, as Helm has them.
func InRange(constraint, version string) bool {
	v, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	c, err := semver.NewConstraint(constraint)
	return err == nil && c.Check(v)
}

// tags says whether a dependency is wanted by its tags: unless all that have a value are
// false.
func (d dependencies) tags(dependency *helmchart.Dependency, values chartutil.Values) bool {
	tags, err := values.Table("tags")
	if err != nil {
		return true
	}
	anyTrue, anyFalse := false, false
	for _, tag := range dependency.Tags {
		switch wanted := tags[tag].(type) {
		case nil:
		case bool:
			anyTrue, anyFalse = anyTrue || wanted, anyFalse || !wanted
		default:
			d.warn("values: tags.%s of subchart %s is neither true nor false", tag, dependency.Name)
		}
	}
	return anyTrue || !anyFalse
}

// condition says whether a dependency is wanted by the first of its conditions that has a
// value; without one it is as wanted as before.
func (d dependencies) condition(dependency *helmchart.Dependency, values chartutil.Values, path string,
	wanted bool,
) bool {
	for condition := range strings.SplitSeq(strings.TrimSpace(dependency.Condition), ",") {
		if condition == "" {
			continue
		}
		value, err := values.PathValue(path + condition)
		if err != nil {
			continue
		}
		if is, ok := value.(bool); ok {
			return is
		}
		d.warn("values: %s, the condition of subchart %s, is neither true nor false", path+condition, dependency.Name)
	}
	return wanted
}

// importValues takes values of subcharts into those of a chart, where they count less than
// its own.
func (d dependencies) importValues(c *helmchart.Chart) error {
	for _, sub := range c.Dependencies() {
		if err := d.importValues(sub); err != nil {
			return err
		}
	}
	if c.Metadata.Dependencies == nil {
		return nil
	}
	keep := coalescing{budget: d.budget, keepNull: true, warn: func(string, ...any) {}}
	merged, err := keep.all(c, nil)
	if err != nil {
		return err
	}
	imported := map[string]any{}
	for _, dependency := range c.Metadata.Dependencies {
		var entries []any // all written in the long way, as Helm records them
		for _, entry := range dependency.ImportValues {
			var child string
			parent := "."
			switch entry := entry.(type) {
			case string:
				child = "exports." + entry
			case map[string]any:
				child, parent = fmt.Sprint(entry["child"]), fmt.Sprint(entry["parent"])
			default:
				continue
			}
			entries = append(entries, map[string]string{"child": child, "parent": parent})
			table, err := chartutil.Values(merged).Table(dependency.Name + "." + child)
			if err != nil {
				d.warn("chart %s imports the values %s of subchart %s, which it does not have",
					c.Name(), child, dependency.Name)
				continue
			}
			keep.tables(imported, nest(parent, table), "")
		}
		dependency.ImportValues = entries
	}
	own, err := keep.copy(merged)
	if err != nil {
		return err
	}
	keep.tables(own, imported, "")
	c.Values = own
	return nil
}

// nest puts a table under a path; "." is the top.
func nest(path string, table map[string]any) map[string]any {
	if path == "." {
		return table
	}
	keys := strings.Split(path, ".")
	slices.Reverse(keys)
	for _, key := range keys {
		table = map[string]any{key: table}
	}
	return table
}

// within are the charts in a chart, each as PATH VERSION.
func within(c *helmchart.Chart, above string) (charts []string) {
	for _, sub := range c.Dependencies() {
		if sub.Metadata == nil {
			continue
		}
		at := above + sub.Name()
		charts = append(charts, at+" "+sub.Metadata.Version)
		charts = append(charts, within(sub, at+"/")...)
	}
	slices.Sort(charts)
	return charts
}
