package provision

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// disturbed is a request of a command, and what becomes of it; no request stands for none that is
// disturbed.
type disturbed struct{ command, request, disruption string }

// outcomes are what comes of disturbed requests. Their text has each outcome once, below it the
// requests that lead to it, and below these the commands that make them:
//
//	it fails
//	there: nothing
//	  GET pods (fails, fails at 2); POST leases/ID (fails)
//	    provision again; update nothing
type outcomes map[disturbed]string

// of is what comes of one command, a line for each request.
func (o outcomes) of(command string) string {
	var all []string
	for d, outcome := range o {
		if d.command == command {
			all = append(all, fmt.Sprintf("%s %s\n    %s", d.request, d.disruption,
				strings.ReplaceAll(outcome, "\n", "\n    ")))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// only is what comes of one command alone.
func (o outcomes) only(command string) outcomes {
	only := maps.Clone(o)
	maps.DeleteFunc(only, func(d disturbed, _ string) bool { return d.command != command })
	return only
}

// String is the text of the outcomes, which parseOutcomes reads.
func (o outcomes) String() string {
	leading := map[string]map[string][]string{} // outcome, command: requests
	for _, d := range slices.SortedFunc(maps.Keys(o), disturbed.compare) {
		outcome := o[d]
		if leading[outcome] == nil {
			leading[outcome] = map[string][]string{}
		}
		requests := leading[outcome][d.command]
		if n := len(requests) - 1; n >= 0 && strings.HasPrefix(requests[n], d.request+" (") {
			requests[n] = strings.TrimSuffix(requests[n], ")") + ", " + d.disruption + ")"
		} else {
			requests = append(requests, fmt.Sprintf("%s (%s)", d.request, d.disruption))
		}
		leading[outcome][d.command] = requests
	}
	var b strings.Builder
	for _, outcome := range slices.Sorted(maps.Keys(leading)) {
		commands := map[string][]string{} // by their requests
		for _, command := range slices.Sorted(maps.Keys(leading[outcome])) {
			requests := wrapped("  ", leading[outcome][command])
			commands[requests] = append(commands[requests], command)
		}
		b.WriteString(outcome + "\n")
		for _, requests := range slices.Sorted(maps.Keys(commands)) {
			b.WriteString(requests + wrapped("    ", commands[requests]))
		}
	}
	return b.String()
}

func (d disturbed) compare(other disturbed) int {
	return slices.Compare([]string{d.command, d.request, d.disruption},
		[]string{other.command, other.request, other.disruption})
}

// wrapped are items in lines of up to 120 columns, with semicolons in between.
func wrapped(indent string, items []string) string {
	var b strings.Builder
	line := indent + items[0]
	for _, item := range items[1:] {
		if len(line)+len(item)+3 > 120 {
			b.WriteString(line + ";\n")
			line = indent + item
			continue
		}
		line += "; " + item
	}
	return b.String() + line + "\n"
}

// parseOutcomes reads the text of outcomes.
func parseOutcomes(text string) outcomes {
	o := outcomes{}
	var outcome, requests []string
	last := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		items := strings.Split(strings.TrimSuffix(words, ";"), "; ")
		switch {
		case indent == 0 && last > 0:
			outcome = []string{words}
		case indent == 0:
			outcome = append(outcome, words)
		case indent == 2 && last != 2:
			requests = items
		case indent == 2:
			requests = append(requests, items...)
		default:
			o.add(items, requests, strings.Join(outcome, "\n"))
		}
		last = indent
	}
	return o
}

// add takes what comes of requests of commands.
func (o outcomes) add(commands, requests []string, outcome string) {
	for _, command := range commands {
		for _, item := range requests {
			request, all, _ := strings.Cut(strings.TrimSuffix(item, ")"), " (")
			if dry, rest, ok := strings.Cut(all, ") "); ok { // GET (dry run) pods (fails)
				at, disruptions, _ := strings.Cut(rest, " (")
				request, all = request+" ("+dry+") "+at, disruptions
			}
			for disruption := range strings.SplitSeq(all, ", ") {
				o[disturbed{command, request, disruption}] = outcome
			}
		}
	}
}

// ownErrors is what a command says of the request that was disturbed.
var ownErrors = map[string]*regexp.Regexp{
	"it is not allowed": regexp.MustCompile(`you may not [^:]*: \S+ is forbidden: User "alice" cannot use resource ` +
		`"[^"]*" in API group "[^"]*"( in the namespace "dev")?`),
	"it fails": regexp.MustCompile(`the cluster cannot [^:]* at the moment: Internal error ` +
		`occurred: etcd is away`),
}

// inShort writes what a line says of the request itself, by its resource and its name, in a few words:
// what is said of another one stays.
func inShort(line, request string) string {
	_, at, _ := strings.Cut(strings.Replace(request, " (dry run)", "", 1), " ")
	parts := strings.Split(strings.Trim(at, "/"), "/")
	for words, pattern := range ownErrors {
		line = pattern.ReplaceAllStringFunc(line, func(said string) string {
			if strings.Contains(said, " "+parts[0]) &&
				(len(parts) == 1 || strings.Contains(said, " "+parts[len(parts)-1]) ||
					strings.HasPrefix(request, "POST")) {
				return words
			}
			return said
		})
	}
	return line
}

// What is written is read as it was.
func TestOutcomes(t *testing.T) {
	o := outcomes{
		{"delete", "GET pods", "fails"}:                            "it fails\nthere: nothing",
		{"delete", "GET pods", "fails at 2"}:                       "it fails\nthere: nothing",
		{"provision, stop", "GET pods", "fails"}:                   "it fails\nthere: nothing",
		{"delete", "PATCH (dry run) daemonsets/web", "fails"}:      "it fails\nthere: nothing",
		{"delete", "PATCH (dry run) daemonsets/web", "fails at 2"}: "it is not allowed",
		{"delete", "nothing", "undisturbed"}:                       "there: nothing",
	}
	for n := range 40 {
		o[disturbed{fmt.Sprint("command ", n), "GET secrets", "fails"}] = "it fails"
	}
	if got := parseOutcomes(o.String()); !maps.Equal(got, o) {
		t.Errorf("of\n%s\n%v", o, got)
	}
}
