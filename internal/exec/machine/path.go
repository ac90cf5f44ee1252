// Package machine finds the consoles of machines and connects a session with them. Its
// decisions are functions of values, for anyone who makes them: berth with --direct, or an
// API server of machines.
package machine

import "net/url"

// Group is the API group of machines and their pools.
const Group = "compute.ironcore.dev"

// Version is the version of the group that berth speaks.
const Version = "v1alpha1"

// Path is where an API server connects to the console of a machine: the subresource exec.
func Path(namespace, name string) string {
	return "/apis/" + Group + "/" + Version + namespaced(namespace, name)
}

// PoolletPath is where the poollet of the machine's pool does. It has no version.
func PoolletPath(namespace, name string) string {
	return "/apis/" + Group + namespaced(namespace, name)
}

func namespaced(namespace, name string) string {
	return "/namespaces/" + url.PathEscape(namespace) + "/machines/" + url.PathEscape(name) + "/exec"
}
