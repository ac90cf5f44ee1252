// Package registry knows container registries: how images name them, and the
// credentials to pull from them.
package registry

import (
	"cmp"
	"strings"

	"github.com/berthdev/berth/internal/secret"
)

// DefaultHost is the registry of an image that does not name one.
const DefaultHost = "docker.io"

// Login is an account at a registry.
type Login struct {
	Server   string // host, with its port if it has one
	Username string
	Password secret.Text
}

// Qualify writes out the registry of an image, which is the default one if the
// image does not name it; empty is DefaultHost. As in Docker, the first part of a
// name is a host if it has a dot or a colon, or is localhost.
func Qualify(image, defaultHost string) string {
	if image == "" {
		return ""
	}
	first, rest, ok := strings.Cut(image, "/")
	if ok && rest != "" && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return image
	}
	host := cmp.Or(defaultHost, DefaultHost)
	if host == DefaultHost && !ok {
		return host + "/library/" + image
	}
	return host + "/" + image
}
