package v1alpha1

import "embed"

//go:embed crds/*.yaml
var definitions embed.FS

// Definitions are the CustomResourceDefinitions of this API, as YAML documents.
func Definitions() (documents [][]byte, err error) {
	for _, name := range []string{"bundles", "bundleinstances"} {
		document, err := definitions.ReadFile("crds/" + name + ".yaml")
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
	return documents, nil
}
