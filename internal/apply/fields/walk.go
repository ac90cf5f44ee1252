package fields

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// covers says whether every field of a value is in a set. What is empty is in all. Of
// what is owned as a whole, or was, the values decide: the set of a map that has lost
// its only field looks the same.
func covers(set *fieldpath.Set, current, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, _ := current.(map[string]any)
		for key, field := range wanted {
			if !coversElement(set, fieldpath.FieldNameElement(key), fields[key], field) {
				return false
			}
		}
		return true
	case []any:
		for _, item := range wanted {
			if !coversItem(set, current, item) {
				return false
			}
		}
		return true
	}
	return false // a list or an object has taken the place of a value
}

// coversElement is covers for what is below a field or an item of a list.
func coversElement(set *fieldpath.Set, at fieldpath.PathElement, current, wanted any) bool {
	if isEmpty(wanted) {
		return true
	}
	if below, has := set.Children.Get(at); has {
		return covers(below, current, wanted)
	}
	if !set.Members.Has(at) {
		return false
	}
	switch wanted.(type) {
	case map[string]any, []any:
		return includes(current, wanted)
	}
	return true
}

// coversItem finds an item of a list by its keys or by its value.
func coversItem(set *fieldpath.Set, current, item any) bool {
	for _, at := range elements(set) {
		if isItem(at, item) && coversElement(set, at, child(current, at), item) {
			return true
		}
	}
	return false
}

// includes says whether a value has everything of another one.
func includes(current, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		fields, _ := current.(map[string]any)
		for key, field := range wanted {
			if !isEmpty(field) && !includes(fields[key], field) {
				return false
			}
		}
		return true
	case []any:
		items, _ := current.([]any)
		if len(items) != len(wanted) {
			return false
		}
		for i := range wanted {
			if !includes(items[i], wanted[i]) {
				return false
			}
		}
		return true
	}
	return equal(current, wanted)
}

// elements are the fields or items of which a set has something.
func elements(set *fieldpath.Set) (all []fieldpath.PathElement) {
	add := func(at fieldpath.PathElement) { all = append(all, at) }
	set.Children.Iterate(add)
	set.Members.Iterate(add)
	return all
}

// isItem says whether an item of a list is the one that is meant. A key that it leaves
// out has its default.
func isItem(at fieldpath.PathElement, item any) bool {
	switch {
	case at.Value != nil:
		return value.Equals(*at.Value, value.NewValueInterface(item))
	case at.Key == nil:
		return false
	}
	fields, ok := item.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range *at.Key {
		if field, has := fields[key.Name]; has && !value.Equals(key.Value, value.NewValueInterface(field)) {
			return false
		}
	}
	return true
}

// isEmpty is true for what the API server leaves out.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, field := range v {
			if !isEmpty(field) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return false
}
