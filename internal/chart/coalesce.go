package chart

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"

	"github.com/berthdev/berth/internal/chart/budget"
)

// globalKey is the key of the values that a chart shares with its subcharts.
const globalKey = "global"

// coalescing puts the values of charts together as Helm does: what is given counts more than
// what a chart has, a parent's more than a subchart's, tables are merged, everything else is
// replaced. Null removes what a chart has, unless keepNull is set.
type coalescing struct {
	budget   *budget.Budget
	keepNull bool
	warn     func(format string, args ...any)
}

// ofChart are the bytes of a chart beside its values and files: one may be there several times.
const ofChart = 2 << 10

// copy copies values, of a chart that may be there several times.
func (m coalescing) copy(values map[string]any) (map[string]any, error) {
	if err := m.budget.Make("the values", ofChart+budget.Held(values)); err != nil {
		return nil, err
	}
	return copiedTable(values), nil
}

// copiedTable is a table with copies of all tables and lists in it.
func copiedTable(table map[string]any) map[string]any {
	c := maps.Clone(table)
	for key, value := range c {
		c[key] = copiedValue(value)
	}
	return c
}

func copiedValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return copiedTable(value)
	case []any:
		c := slices.Clone(value)
		for i, item := range c {
			c[i] = copiedValue(item)
		}
		return c
	}
	return value
}

// all gives the values of a chart and of its subcharts, under their names.
func (m coalescing) all(c *helmchart.Chart, given map[string]any) (map[string]any, error) {
	out, err := m.copy(given)
	if err != nil {
		return nil, err
	}
	if out == nil {
		out = map[string]any{}
	}
	return out, m.chart(c, out, "")
}

// chart puts the values of a chart and its subcharts into given.
func (m coalescing) chart(c *helmchart.Chart, given map[string]any, prefix string) error {
	prefix = join(prefix, c.Name())
	if err := m.own(c, given, prefix); err != nil {
		return err
	}
	for _, sub := range c.Dependencies() {
		if _, ok := given[sub.Name()]; !ok {
			given[sub.Name()] = map[string]any{}
		}
		below, ok := given[sub.Name()].(map[string]any)
		if !ok {
			return fmt.Errorf("%s must be a mapping: these are the values of the subchart", join(prefix, sub.Name()))
		}
		m.globals(below, given, prefix)
		if err := m.chart(sub, below, prefix); err != nil {
			return err
		}
	}
	return nil
}

// own puts the values that a chart itself has into given.
func (m coalescing) own(c *helmchart.Chart, given map[string]any, prefix string) error {
	own, err := m.copy(c.Values)
	if err != nil {
		return err
	}
	for key, value := range own {
		was, ok := given[key]
		table, wasTable := was.(map[string]any)
		below, isTable := value.(map[string]any)
		switch {
		case !ok:
			given[key] = value
		case was == nil && !m.keepNull:
			delete(given, key)
		case wasTable && isTable:
			inner := m
			inner.keepNull = m.keepNull || isSubchart(c, key)
			inner.tables(table, below, join(prefix, key))
		case wasTable && value != nil:
			m.warn("values: %s is a table and the chart's own value is not, so that is left out", join(prefix, key))
		}
	}
	return nil
}

func isSubchart(c *helmchart.Chart, name string) bool {
	return slices.ContainsFunc(c.Dependencies(), func(sub *helmchart.Chart) bool { return sub.Name() == name })
}

// tables puts what is in src into dst, which counts more. It changes both.
func (m coalescing) tables(dst, src map[string]any, prefix string) {
	for key, value := range maps.Clone(dst) {
		if had := src[key]; value == nil && had != nil {
			if !m.keepNull {
				delete(dst, key)
				delete(src, key)
				continue
			}
			src[key] = nil
		}
	}
	for key, value := range src {
		was, ok := dst[key]
		table, wasTable := was.(map[string]any)
		below, isTable := value.(map[string]any)
		switch {
		case !ok:
			dst[key] = value
		case wasTable && isTable:
			m.tables(table, below, join(prefix, key))
		case isTable:
			m.warn("values: %s is not a table, so the table of the chart is left out", join(prefix, key))
		case wasTable && value != nil:
			m.warn("values: %s is a table and the chart's own value is not, so that is left out", join(prefix, key))
		}
	}
}

// globals puts the global values of a parent into those of a subchart; they count more.
func (m coalescing) globals(sub, parent map[string]any, prefix string) {
	to, ok := table(sub)
	from, also := table(parent)
	if !ok || !also {
		m.warn("values: %s is not a table and is left out", join(prefix, globalKey))
		return
	}
	keep := coalescing{budget: m.budget, keepNull: true, warn: m.warn}
	for key, value := range from {
		below, isTable := value.(map[string]any)
		was, exists := to[key]
		table, wasTable := was.(map[string]any)
		switch {
		case isTable && exists && !wasTable, !isTable && wasTable:
			m.warn("values: %s is a table in one chart and none in another", join(join(prefix, globalKey), key))
		case isTable:
			value := maps.Clone(below)
			if exists {
				keep.tables(value, table, join(prefix, key))
			}
			to[key] = value
		default:
			to[key] = value
		}
	}
	sub[globalKey] = to
}

// table is the table of global values; a new one if there is none.
func table(values map[string]any) (map[string]any, bool) {
	global, ok := values[globalKey]
	if !ok {
		return map[string]any{}, true
	}
	t, ok := global.(map[string]any)
	return t, ok
}

func join(prefix, key string) string { return strings.TrimPrefix(prefix+"."+key, ".") }
