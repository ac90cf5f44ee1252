package chart

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/chart/schema"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// MergeValues makes one text of YAML of several with values, of which a later one wins:
// table by table, as Helm merges the files of --values. A single one stays as it is.
func MergeValues(texts [][]byte) ([]byte, error) {
	switch len(texts) {
	case 0:
		return nil, nil
	case 1:
		return texts[0], nil
	}
	merged, memory := map[string]any{}, budget.New(budget.Limit)
	var all []string
	for i, text := range texts {
		values, problems := parseValues(text, memory)
		for _, problem := range problems {
			all = append(all, "file "+strconv.Itoa(i+1)+" of --values: "+problem)
		}
		override(merged, values)
	}
	if len(all) > 0 {
		err := fault.New(fault.InvalidArgument, "the values cannot be read: %s", all[0])
		if len(all) > 1 {
			err.Problems = all
		}
		return nil, err.WithHint("correct the files; each is a mapping in YAML")
	}
	return yaml.Marshal(merged)
}

// override writes values over others.
func override(values, by map[string]any) {
	for key, value := range by {
		inner, is := value.(map[string]any)
		outer, was := values[key].(map[string]any)
		if is && was {
			override(outer, inner)
			continue
		}
		values[key] = value
	}
}

// CompareValues lists what differs between two texts of values, as "image.tag changed",
// "replicas added" or "debug removed", sorted. The values themselves may be secret.
func CompareValues(before, after []byte) []string {
	old, _ := parseValues(before, budget.New(budget.Limit)) // what cannot be read is refused elsewhere
	wanted, _ := parseValues(after, budget.New(budget.Limit))
	return compareTables("", old, wanted)
}

func compareTables(prefix string, old, wanted map[string]any) (changes []string) {
	keys := maps.Clone(old)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, wanted)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, had := old[key]
		is, has := wanted[key]
		outer, wasTable := was.(map[string]any)
		inner, isTable := is.(map[string]any)
		switch at := join(prefix, key); {
		case !had:
			changes = append(changes, at+" added")
		case !has:
			changes = append(changes, at+" removed")
		case wasTable && isTable:
			changes = append(changes, compareTables(at, outer, inner)...)
		case !reflect.DeepEqual(was, is):
			changes = append(changes, at+" changed")
		}
	}
	return changes
}

// parseValues reads the values that are given.
func parseValues(text []byte, b *budget.Budget) (values map[string]any, problems []string) {
	if found := yamldoc.Bomb(text, budget.YAMLLimits(text)); found != nil {
		return nil, []string{"values: " + found.Message}
	}
	keep, pass := budget.YAML(text)
	done, err := b.Pass("the values", pass)
	if err == nil {
		done()
		err = b.Hold("the values", 2*keep)
	}
	if err != nil {
		return nil, []string{err.Error()}
	}
	var content any
	if err := yaml.Unmarshal(text, &content); err != nil {
		return nil, []string{"values: " +
			strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")}
	}
	values, ok := content.(map[string]any)
	if !ok && content != nil {
		return nil, []string{"values: must be a mapping"}
	}
	if values == nil {
		values = map[string]any{}
	}
	return values, nil
}

// fillIn gives the values of the chart with its subcharts, of which those stay that the values
// want, and checks them against the schemas.
func (r *Rendered) fillIn(ctx context.Context, given map[string]any) (values map[string]any, problems []string) {
	if err := (dependencies{r.budget, r.warn}).resolve(r.Chart, given); err != nil {
		return nil, []string{err.Error()}
	}
	values, err := coalescing{budget: r.budget, warn: r.warn}.all(r.Chart, given)
	if err != nil {
		return nil, []string{err.Error()}
	}
	return values, r.checkSchemas(ctx, r.Chart, values, "")
}

// checkSchemas checks the values of a chart and its subcharts against their schemas.
func (r *Rendered) checkSchemas(ctx context.Context, c *helmchart.Chart, values map[string]any,
	prefix string,
) (problems []string) {
	if ctx.Err() != nil {
		return nil
	}
	if c.Schema != nil {
		file := c.ChartFullPath() + "/values.schema.json"
		done, err := r.budget.Pass(file, 2*budget.JSON(c.Schema))
		if err != nil {
			return []string{err.Error()}
		}
		defer done()
		found, outside, err := schema.Check(c.Schema, values)
		for _, reference := range outside {
			r.warn("%s: values are not checked against %s, which is not fetched", file, reference)
		}
		if err != nil {
			problems = append(problems, file+": "+err.Error())
		}
		for _, problem := range found {
			problems = append(problems, "values"+prefix+problem)
		}
	}
	for _, sub := range c.Dependencies() {
		// Coalescing has made sure that they are a table.
		if below, ok := values[sub.Name()].(map[string]any); ok {
			problems = append(problems, r.checkSchemas(ctx, sub, below, prefix+"."+sub.Name())...)
		}
	}
	return problems
}
