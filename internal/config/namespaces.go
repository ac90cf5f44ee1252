package config

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// namespaces checks those of injectNamespaces: a list that restricts must not
// be misread.
func (c Config) namespaces() (problems []string) {
	for _, name := range c.InjectNamespaces {
		if name != "*" && len(validation.IsDNS1123Label(name)) > 0 {
			problems = append(problems, fmt.Sprintf("injectNamespaces: invalid namespace %q: must be the name of one, or * for all", name))
		}
	}
	return problems
}
