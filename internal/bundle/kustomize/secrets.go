package kustomize

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

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

// quote is what kustomize quotes, by what is before and behind it; to the end, if nothing is.
type quote struct{ from, to, says string }

// quotes are all those that may be secret, and what is said for them.
func quotes() []quote {
	return []quote{
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
}

// texts are what is in a kustomization in the place of a file, as kustomize quotes it.
func texts(k *types.Kustomization) (all []reference) {
	add := func(field string, i int, text string) {
		all = append(all, reference{fmt.Sprintf("%s[%d]", field, i), text})
	}
	for i, patch := range k.Patches {
		add("patches", i, fmt.Sprintf("[patch: %q]", strings.TrimSpace(patch.Patch)))
	}
	for field, paths := range map[string][]string{
		"generators": k.Generators, "transformers": k.Transformers, "validators": k.Validators,
	} {
		for i, text := range paths {
			if isText(text) {
				add(field, i, text)
			}
		}
	}
	for i, text := range k.PatchesStrategicMerge { //nolint:staticcheck // deprecated, and still in use
		if isText(string(text)) {
			add("patchesStrategicMerge", i, string(text))
		}
	}
	return all
}

// withoutSecrets is a message of kustomize about files, without what these have in themselves.
func (t *tree) withoutSecrets(message string) string {
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		if !IsName(name) {
			continue
		}
		k, err := parse(t.files[name])
		if err != nil {
			continue
		}
		for _, text := range texts(&k) {
			message = strings.ReplaceAll(message, text.path, text.field+" of "+name)
		}
	}
	for _, quote := range quotes() {
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
