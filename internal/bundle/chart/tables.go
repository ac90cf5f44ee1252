package chart

import (
	"maps"
	"reflect"
	"text/template"
)

// merging are the functions that merge tables. What they are given may have tables in common,
// and merged into itself a table would have no end: so it is merged from copies then.
func merging(all template.FuncMap) template.FuncMap {
	merging := template.FuncMap{}
	for _, name := range []string{"merge", "mergeOverwrite"} {
		original, _ := all[name].(func(map[string]any, ...map[string]any) any)
		merging[name] = func(into map[string]any,
			from ...map[string]any,
		) any {
			return original(into, apartFrom(into, from)...)
		}
	}
	for _, name := range []string{"mustMerge", "mustMergeOverwrite"} {
		original, _ := all[name].(func(map[string]any, ...map[string]any) (any, error))
		merging[name] = func(into map[string]any, from ...map[string]any) (any, error) {
			return original(into, apartFrom(into, from)...)
		}
	}
	return merging
}

// apartFrom are tables that have none in common with each other or with the first one: copies, if
// they have. They are known to have an end.
func apartFrom(into map[string]any, from []map[string]any) []map[string]any {
	seen := map[uintptr]bool{}
	shares := sharesTables(into, seen)
	for _, table := range from {
		shares = sharesTables(table, seen) || shares
	}
	if !shares {
		return from
	}
	copies := make([]map[string]any, 0, len(from))
	for _, table := range from {
		copies = append(copies, copied(table))
	}
	return copies
}

// sharesTables notes the tables in tables, and says whether one was met before.
func sharesTables(table map[string]any, seen map[uintptr]bool) (shares bool) {
	at := reflect.ValueOf(table).Pointer()
	if table == nil || seen[at] {
		return table != nil
	}
	seen[at] = true
	for _, value := range table {
		if inner, is := asTable(value); is {
			shares = sharesTables(inner, seen) || shares
		}
	}
	return shares
}

// copied is a table with copies of the tables in it.
func copied(table map[string]any) map[string]any {
	c := maps.Clone(table)
	for key, value := range c {
		switch value := value.(type) {
		case map[string]any:
			c[key] = copied(value)
		case Values:
			c[key] = Values(copied(value))
		}
	}
	return c
}

// asTable is a value as a table, of either type that they have.
func asTable(value any) (map[string]any, bool) {
	switch value := value.(type) {
	case map[string]any:
		return value, true
	case Values:
		return value, true
	}
	return nil, false
}
