package provision

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// outcomesHead is the beginning of the text of outcomes, and says how to read it.
const outcomesHead = `# TestRefusedRequests: what comes of a command when one of its requests is refused.
#
# Each outcome is here once, and the cases that lead to it are below:
#
#     REFUSED
#     it is Unknown, Unknown
#       there: 1 Lease
#         both | provision again; provision, stop | fails, not allowed: GET pods secrets, POST leases/berth-ID
#       there: nothing
#         injected | ...
#
# An outcome is what the command says (its error, warnings and results) and what exists afterwards ("there: ..."),
# without the lines that are the same when nothing is refused. "as undisturbed" is an outcome without any other line.
# Outcomes that begin with the same lines share these, and what differs is indented. REFUSED is the error of the
# refused request: UNAVAILABLE if it fails, PERMISSION_DENIED if it is not allowed; within a line, "it is refused".
#
# A case is MODE | COMMANDS | FAULTS: REQUESTS | FAULTS: REQUESTS, on one line, or on several with the others indented.
# Each request with each of its faults is refused alone, in a run of its own of each of the commands.
#
#   MODE      injected (into a workload), standalone, or both
#   COMMANDS  separated by semicolons; of "provision, stop, delete", delete is the command, and provision and stop are
#             what was done before ("keep" is delete --keep-storage)
#   FAULTS    fails           the first request of this kind gets an internal error
#             fails at 2, 3   the second one does, or the third
#             never answered  the first one gets no answer
#             not allowed     all of them are forbidden
#             undisturbed     nothing is refused ("no request")
`

// both is the mode of a case whose outcome is the same injected and standalone.
const both = "both"

// bar separates the parts of a case.
const bar = " | "

// hardSpace is a space in a name, at which no line is broken.
const hardSpace = "\u00a0"

// outcomesText is the text while it is written.
type outcomesText struct {
	strings.Builder
	cases map[string]map[situation][]disturbed // by their outcome
}

// String is the text of the outcomes, which parseOutcomes reads.
func (o outcomes) String() string {
	t := outcomesText{cases: map[string]map[situation][]disturbed{}}
	var all [][]string
	for d, outcome := range o {
		inBoth := o[d.in("injected")] == outcome && o[d.in("standalone")] == outcome
		if inBoth && d.mode == "standalone" {
			continue // the injected one stands for it
		}
		if inBoth {
			d = d.in(both)
		}
		if t.cases[outcome] == nil {
			t.cases[outcome] = map[situation][]disturbed{}
			all = append(all, strings.Split(outcome, "\n"))
		}
		t.cases[outcome][d.situation] = append(t.cases[outcome][d.situation], d)
	}
	slices.SortFunc(all, slices.Compare)
	t.WriteString(outcomesHead)
	t.write(all, 0, "")
	return strings.ReplaceAll(t.String(), hardSpace, " ")
}

// write writes outcomes, which are sorted and have some lines in common that are written already.
func (t *outcomesText) write(all [][]string, written int, indent string) {
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(lines []string) bool { return lines[written] != all[0][written] })
		if n < 0 {
			n = len(all)
		}
		if written == 0 {
			t.WriteString("\n")
		}
		first, last, shared := all[0], all[n-1], written
		for ; shared < min(len(first), len(last)) && first[shared] == last[shared]; shared++ {
			t.WriteString(indent + first[shared] + "\n")
		}
		alike := all[:n]
		if len(first) == shared {
			t.writeCases(indent+"  ", t.cases[strings.Join(first, "\n")])
			alike = alike[1:]
		}
		t.write(alike, shared, indent+"  ")
		all = all[n:]
	}
}

// writeCases writes what leads to an outcome. Commands that meet it with the same faults are in one case.
func (t *outcomesText) writeCases(indent string, cases map[situation][]disturbed) {
	type key struct{ mode, faults string }
	commands := map[key][]string{}
	for s, all := range cases {
		k := key{s.mode, faultsOf(all)}
		commands[k] = append(commands[k], strings.ReplaceAll(s.command, " ", hardSpace))
	}
	var lines []string
	for k, all := range commands {
		slices.Sort(all)
		lines = append(lines, k.mode+strings.ReplaceAll(bar, " ", hardSpace)+strings.Join(all, "; ")+bar+k.faults)
	}
	slices.Sort(lines)
	for _, line := range lines {
		if columns(indent+line) <= 120 {
			t.WriteString(indent + line + "\n")
			continue
		}
		for i, part := range strings.SplitAfter(line, bar) { // each on a line of its own
			t.WriteString(wrapped(indent+strings.Repeat("  ", min(i, 1)), indent+"    ", part))
		}
	}
}

// faultsOf are the faults of cases, each with its requests.
func faultsOf(cases []disturbed) string {
	faults := map[string][]string{} // by their request
	for _, d := range cases {
		faults[d.request] = append(faults[d.request], d.disruption)
	}
	requests := map[string]string{} // by their faults
	last := map[string]string{}     // the verb of the last one of these
	for _, request := range slices.Sorted(maps.Keys(faults)) {
		alike, verb := listed(faults[request]), verbOf(request)
		switch last[alike] {
		case "":
			requests[alike] = request
		case verb:
			requests[alike] += strings.TrimPrefix(request, verb)
		default:
			requests[alike] += ", " + request
		}
		last[alike] = verb
	}
	var all []string
	for _, alike := range slices.Sorted(maps.Keys(requests)) {
		all = append(all, alike+": "+requests[alike])
	}
	return strings.Join(all, bar)
}

const failsAt = "fails at "

// listed lists faults: fails, fails at 2, 3, never answered.
func listed(faults []string) string {
	slices.SortFunc(faults, func(a, b string) int { // 10 is after 2
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
	text := ""
	for _, fault := range faults {
		if strings.Contains(text, failsAt) {
			fault = strings.TrimPrefix(fault, failsAt)
		}
		text += ", " + fault
	}
	return strings.ReplaceAll(text[len(", "):], " ", hardSpace)
}

// verbOf is what comes before the name in a request.
func verbOf(request string) string { return request[:strings.LastIndex(request, " ")] }

func columns(text string) int { return utf8.RuneCountInString(text) }

// wrapped is a text in lines of up to 120 columns, with an indent of the first and another one of the others.
func wrapped(first, others, text string) string {
	line, all := first, ""
	for i, word := range strings.Split(strings.TrimRight(text, " "), " ") {
		switch {
		case i == 0:
			line += word
		case columns(line)+1+columns(word) <= 120:
			line += " " + word
		default:
			all += line + "\n"
			line = others + word
		}
	}
	return all + line + "\n"
}

// parseOutcomes reads the text of outcomes.
func parseOutcomes(text string) outcomes {
	o := outcomes{}
	var outcome [][]string // its lines, by their indent
	before := -1           // the indent of the line of the outcome before this one; -1 after a case
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "#")
	})
	for len(lines) > 0 {
		indent, line := divided(lines[0])
		lines = lines[1:]
		if !isCase(line) {
			if indent != before {
				outcome = append(outcome[:indent/2], nil)
			}
			outcome[indent/2] = append(outcome[indent/2], line)
			before = indent
			continue
		}
		for ; len(lines) > 0; lines = lines[1:] { // what is deeper continues it
			deeper, more := divided(lines[0])
			if deeper <= indent {
				break
			}
			line += " " + more
		}
		o.add(line, strings.Join(slices.Concat(outcome...), "\n"))
		before = -1
	}
	return o
}

// divided is the indent of a line, and the rest of it.
func divided(line string) (indent int, rest string) {
	rest = strings.TrimLeft(line, " ")
	return len(line) - len(rest), rest
}

func isCase(line string) bool {
	mode, _, ok := strings.Cut(line, bar)
	return ok && slices.Contains([]string{"injected", "standalone", both}, mode)
}

// add takes the outcome of a case.
func (o outcomes) add(line, outcome string) {
	parts := strings.Split(line, bar)
	modes := []string{parts[0]}
	if parts[0] == both {
		modes = []string{"injected", "standalone"}
	}
	for _, mode := range modes {
		for command := range strings.SplitSeq(parts[1], "; ") {
			for _, part := range parts[2:] {
				for _, d := range disturbedIn(part) {
					d.situation = situation{mode, command}
					o[d] = outcome
				}
			}
		}
	}
}

var namesOfVerb = regexp.MustCompile(`^(\S+(?: \(dry run\))?) (.*)$`)

// disturbedIn are the requests of a part of a case, with their faults.
func disturbedIn(part string) (all []disturbed) {
	faults, requests, _ := strings.Cut(part, ": ")
	for alike := range strings.SplitSeq(requests, ", ") {
		match := namesOfVerb.FindStringSubmatch(alike)
		for name := range strings.SplitSeq(match[2], " ") {
			for fault := range strings.SplitSeq(faults, ", ") {
				if _, err := strconv.Atoi(fault); err == nil {
					fault = failsAt + fault
				}
				all = append(all, disturbed{request: match[1] + " " + name, disruption: fault})
			}
		}
	}
	return all
}
