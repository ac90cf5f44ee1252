package operator

import (
	"fmt"
	"strings"
)

// Dependency says what a bundle depends on, in words: of metadata/dependencies.yaml, a type and a value.
func Dependency(kind string, value any) string {
	fields, _ := value.(map[string]any)
	text := func(key string) string {
		if v, ok := fields[key]; ok && v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	switch kind {
	case "olm.package":
		return withVersion("the package "+text("packageName"), text("version"))
	case "olm.gvk":
		return "the API " + strings.TrimPrefix(text("group")+"/"+text("version")+" "+text("kind"), "/")
	case "olm.label":
		return "a bundle with the label " + text("label")
	case "olm.constraint":
		return constraint(fields)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %v", kind, value))
}

func withVersion(what, version string) string {
	if version == "" {
		return what
	}
	return what + " in version " + version
}

// constraint says what a compound constraint asks for.
func constraint(fields map[string]any) string {
	inner := func(key string) map[string]any {
		found, _ := fields[key].(map[string]any)
		return found
	}
	several := func(key, word string) string {
		var some []string
		for _, one := range list(inner(key)["constraints"]) {
			some = append(some, constraint(one))
		}
		return strings.Join(some, word)
	}
	switch {
	case inner("package") != nil:
		found := inner("package")
		return withVersion("the package "+fmt.Sprint(found["packageName"]), textOf(found["versionRange"]))
	case inner("gvk") != nil:
		return Dependency("olm.gvk", inner("gvk"))
	case inner("all") != nil:
		return several("all", " and ")
	case inner("any") != nil:
		return several("any", " or ")
	case textOf(fields["failureMessage"]) != "":
		return "a constraint: " + textOf(fields["failureMessage"])
	}
	return fmt.Sprintf("the constraint %v", fields)
}
