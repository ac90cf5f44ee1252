package diagnose

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	quota = regexp.MustCompile(`exceeded quota: ([^,]+), requested: (.+), used: (.+), limited: (.+)`)
	// One limit or several: requests.cpu=1,requests.memory=1Gi.
	amount = regexp.MustCompile(`([a-z][a-zA-Z0-9./-]*)=([^,\s]+)`)
)

// quotaText puts the numbers of a quota's refusal in order.
func quotaText(message string) string {
	m := quota.FindStringSubmatch(message)
	if m == nil {
		return "The namespace's quota is used up, or asks for limits that are not given."
	}
	used, limited := amounts(m[3]), amounts(m[4])
	var parts []string
	for _, a := range amount.FindAllStringSubmatch(m[2], -1) {
		parts = append(parts, fmt.Sprintf("%s: %s more wanted, %s of %s in use", a[1], a[2], used[a[1]], limited[a[1]]))
	}
	return fmt.Sprintf("Quota %s of the namespace is used up (%s).", m[1], strings.Join(parts, "; "))
}

func amounts(list string) map[string]string {
	found := map[string]string{}
	for _, a := range amount.FindAllStringSubmatch(list, -1) {
		found[a[1]] = a[2]
	}
	return found
}

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
