package v1alpha1

import "embed"

//go:embed crds/*.yaml
var definitions embed.FS

// AnnotationDefinition is the version of a CustomResourceDefinition of this package: a
// number that grows with each change. One without it is somebody else's.
const AnnotationDefinition = "berth.dev/definition"

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
