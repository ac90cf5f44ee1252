package provision

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// situation is a command, with the steps before it, on a workspace that is injected or standalone.
type situation struct{ mode, command string }

// disturbed is a case: a request of a command, and its fault; "no request" stands for a run in which nothing is
// refused.
type disturbed struct {
	situation
	request, disruption string
}

// in is the same case in another mode.
func (d disturbed) in(mode string) disturbed {
	d.mode = mode
	return d
}

// outcomes are the outcomes of all cases.
type outcomes map[disturbed]string

// diff says how the outcomes of a command differ from the wanted ones, each difference below its requests.
func (o outcomes) diff(got outcomes, s situation) string {
	requests := map[string][]string{} // by their difference
	both := maps.Clone(o)
	maps.Copy(both, got)
	for d := range both {
		if d.situation == s && o[d] != got[d] {
			diff := diffOf(o[d], got[d])
			requests[diff] = append(requests[diff], fmt.Sprintf("%s: %s\n", d.disruption, d.request))
		}
	}
	var all []string
	for diff, of := range requests {
		all = append(all, strings.Join(slices.Sorted(slices.Values(of)), "")+diff)
	}
	return strings.Join(slices.Sorted(slices.Values(all)), "")
}

// diffOf marks the lines of an outcome between the first and the last that differ.
func diffOf(want, got string) string {
	a := strings.Split(cmp.Or(want, "no such request"), "\n")
	b := strings.Split(cmp.Or(got, "no such request"), "\n")
	var before, after string
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		before, a, b = before+"      "+a[0]+"\n", a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		after, a, b = "      "+a[len(a)-1]+"\n"+after, a[:len(a)-1], b[:len(b)-1]
	}
	for _, line := range a {
		before += "    - " + line + "\n"
	}
	for _, line := range b {
		before += "    + " + line + "\n"
	}
	return before + after
}

// only has the outcomes of one command.
func (o outcomes) only(s situation) outcomes {
	only := maps.Clone(o)
	maps.DeleteFunc(only, func(d disturbed, _ string) bool { return d.situation != s })
	return only
}

// ownErrors are the errors about the refused request, by its fault.
var ownErrors = map[string]*regexp.Regexp{
	"not allowed": regexp.MustCompile(`(^PERMISSION_DENIED )?you may not [^:]*: \S+ is forbidden: User "alice" ` +
		`cannot use resource "[^"]*" in API group "[^"]*"( in the namespace "dev")?`),
	"fails": regexp.MustCompile(`(^UNAVAILABLE )?the cluster cannot [^:]* at the moment: Internal error ` +
		`occurred: etcd is away`),
}

// inShort replaces the error about the refused request itself by a few words, if it names the right resource and
// object. An error about another request is not changed.
func (d disturbed) inShort(line string) string {
	fault, _, _ := strings.Cut(d.disruption, " at ")
	pattern := ownErrors[fault]
	if pattern == nil {
		return line
	}
	verb := verbOf(d.request)
	at := strings.TrimPrefix(d.request, verb+" ")
	parts := strings.Split(strings.Trim(at, "/"), "/")
	return pattern.ReplaceAllStringFunc(line, func(said string) string {
		named := len(parts) == 1 || strings.HasPrefix(verb, "POST") || strings.Contains(said, " "+parts[len(parts)-1])
		switch {
		case !named || !strings.Contains(said, " "+parts[0]):
			return said
		case pattern.FindStringSubmatch(said)[1] != "":
			return "REFUSED"
		}
		return "it is refused"
	})
}

// A difference names the requests that lead to it, and marks the missing lines and the unexpected ones.
func TestDiffOfOutcomes(t *testing.T) {
	s := situation{"injected", "delete"}
	want := outcomes{
		{s, "GET pods", "fails"}:                                 "REFUSED\nstopped\nthere: nothing",
		{s, "GET secrets", "fails"}:                              "REFUSED\nstopped\nthere: nothing",
		{s, "GET events", "fails"}:                               "as undisturbed",
		{situation{"standalone", "delete"}, "GET pods", "fails"}: "REFUSED",
	}
	got := outcomes{
		{s, "GET pods", "fails"}:    "REFUSED\ndeleted\nthere: nothing",
		{s, "GET secrets", "fails"}: "REFUSED\ndeleted\nthere: nothing",
		{s, "GET events", "fails"}:  "as undisturbed",
		{s, "GET nodes", "fails"}:   "REFUSED",
	}
	const diff = `fails: GET nodes
    - no such request
    + REFUSED
fails: GET pods
fails: GET secrets
      REFUSED
    - stopped
    + deleted
      there: nothing
`
	if text := want.diff(got, s); text != diff {
		t.Errorf("it is\n%s", text)
	}
}

// The text of outcomes is read back as what was written.
func TestOutcomes(t *testing.T) {
	o := outcomes{}
	for _, mode := range []string{"injected", "standalone"} {
		of := func(command, request, fault string) disturbed {
			return disturbed{situation{mode, command}, request, fault}
		}
		maps.Copy(o, outcomes{
			of("delete", "GET pods", "fails"):                            "REFUSED\nthere: nothing",
			of("delete", "GET pods", "fails at 2"):                       "REFUSED\nthere: nothing",
			of("provision, stop", "GET pods", "fails"):                   "REFUSED\nthere: 1 Pod\n" + mode,
			of("provision, stop", "GET pods", "not allowed"):             "REFUSED\nthere: 1 Pod",
			of("delete", "PATCH (dry run) daemonsets/web", "fails"):      "REFUSED\nthere: nothing",
			of("delete", "PATCH (dry run) daemonsets/web", "fails at 2"): mode,
			of("delete", "no request", "undisturbed"):                    "there: nothing\n" + mode + "\nthere: 1 Pod",
			of(mode, "GET pods", "fails"):                                "as undisturbed",
		})
		for n := range 40 {
			o[of("stop", "GET pods", fmt.Sprint("fails at ", n+2))] = "it fails late"
			o[of(fmt.Sprint("command ", n), "GET secrets", "fails")] = "it is refused"
			o[of("restart", fmt.Sprint("GET secrets/", n), "fails")] = "it is refused"
		}
	}
	if got := parseOutcomes(o.String()); !maps.Equal(got, o) {
		t.Errorf("of\n%s\n%v", o, got)
	}
}
