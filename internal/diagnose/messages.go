package diagnose

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	noKey    = regexp.MustCompile(`couldn't find key (\S+) in (ConfigMap|Secret) (?:\S+/)?(\S+)`)
	noObject = regexp.MustCompile(`(configmap|secret) "([^"]*)" not found`)
	noClass  = regexp.MustCompile(`storageclass\.storage\.k8s\.io "([^"]*)" not found`)
)

// missingText names what is not there, and the command that makes it.
func missingText(message, option string) string {
	if m := noKey.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("%s %s has no key %s: add it with `kubectl edit %s %s%s`.", m[2], m[3], m[1], strings.ToLower(m[2]), m[3], option)
	}
	if m := noObject.FindStringSubmatch(message); m != nil {
		kind, create := "ConfigMap", "configmap"
		if m[1] == "secret" {
			kind, create = "Secret", "secret generic"
		}
		return fmt.Sprintf("%s %s does not exist: create it with `kubectl create %s %s%s --from-literal=KEY=VALUE`.", kind, m[2], create, m[2], option)
	}
	if m := noClass.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("Storage class %s does not exist.", m[1])
	}
	return "Something that the pod needs does not exist: create what the message names in the namespace."
}
