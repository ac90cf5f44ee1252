package blueprint

// Source is a text with blueprints: a file of platform blueprints, or a user's own.
type Source struct {
	// Name is where it was found, for messages: a path, configmap/ns/name:key, or
	// github.com/org/proj@main:.k8shell.yaml.
	Name string
	Text []byte
	// Commit is that of a file of a repository, where it is known.
	Commit string
}

// ConfigMap is one that holds platform blueprints: each key that ends in .yaml or
// .yml is a file.
type ConfigMap struct {
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
}

// CustomFile is the file of a repository, at its root, that holds its blueprint.
const CustomFile = ".k8shell.yaml"

// CustomFields are what a custom blueprint may set in addition to the template that
// it must name. That is a security boundary: anybody who can push to a repository
// writes its blueprint, and everything else is for the platform to decide. It holds
// for the fields as they are decoded, whatever aliases, << and quoted or tagged keys
// they are written with.
func CustomFields() []string {
	return []string{
		"name", "splash", "image", "env", "network", "resources", "storages", "initScripts", "enableApps",
		"apps",
	}
}
