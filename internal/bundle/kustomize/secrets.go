package kustomize

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/pattern"
)

// What a kustomization has in itself may be secret: logins in URLs, patches and literals. Messages say where it is.

// The parts of a URL that may be secret.
const (
	urlUser  pattern.Expr = `((?:://|git::))[^/\s"']*@`
	urlQuery pattern.Expr = `(://[^\s"'?#]*)[?#][^\s"']*`
)

// redactURLs takes logins and queries out of the URLs of a text.
func redactURLs(text string) string {
	return urlQuery.ReplaceAllString(urlUser.ReplaceAllString(text, "$1"), "$1")
}

// shown is a reference as it is in a message.
func shown(ref string) string {
	ref = redactURLs(ref)
	if !isRemote(ref) {
		return ref
	}
	ref, _, _ = strings.Cut(ref, "?")
	host, rest, _ := strings.Cut(ref, "/")
	if at := strings.LastIndex(host, "@"); at >= 0 && !strings.Contains(ref, "://") {
		return strings.TrimSuffix(host[at+1:]+"/"+rest, "/")
	}
	return ref
}

// quotes are the messages of kustomize that quote what may be secret: where that begins and ends, and what is said
// for it.
var quotes = []struct{ from, to, says string }{
	{" with config: `", "`: ", ": "},
	{"literal sources [", "]: ", "literals: "},
	{"[patch: ", `"]`, "a patch"},
	{"patch and path can't be set at the same time", "", "a patch has both a text and a path"},
	{"must specify one of patch and path in", "", "a patch has neither a text nor a path"},
	{"must specify a target for patch ", "", "a patch has no target"},
	{"decoding ", ": ", "decoding a patch: "},
	{"Patch=", "", "the patch is left out"},
	{"invalid literal source ", ", expected key=value", "a literal is not KEY=VALUE"},
	{"has invalid utf8 bytes : ", "", "has invalid UTF-8"},
	{"generator &{", "}: ", "a generator: "},
}

// withoutSecrets is a message of kustomize about files, without what these have in themselves.
func (t *tree) withoutSecrets(message string) string {
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		if !IsName(name) || !strings.Contains(message, "[patch: ") {
			continue
		}
		k, err := parse(t.files[name])
		if err != nil {
			continue
		}
		for i, patch := range k.Patches {
			said := fmt.Sprintf("[patch: %q]", strings.TrimSpace(patch.Patch))
			message = strings.ReplaceAll(message, said, fmt.Sprintf("patches[%d] of %s", i, path.Clean(name)))
		}
	}
	for _, quote := range quotes {
		before, rest, found := strings.Cut(message, quote.from)
		if !found {
			continue
		}
		message = before + quote.says
		// What is quoted may have its own end in it.
		if end := strings.LastIndex(rest, quote.to); end >= 0 && quote.to != "" {
			message += rest[end+len(quote.to):]
		}
	}
	return redactURLs(message)
}
