package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
	"github.com/berthdev/berth/internal/watch/detect"
)

const (
	// examplesDir is where `berth explain` has its examples.
	examplesDir = "internal/commands/explain/examples"
	causesPage  = "docs/causes.md"
)

// causes makes of the catalogue and of the dumps what there is to read about causes: a page, and what `berth explain`
// knows besides the catalogue.
func causes(all files) error {
	dumps, err := dumps()
	if err != nil {
		return err
	}
	explained := observed(dumps)
	for _, e := range explained {
		if all[examplesDir+"/"+e.Code+".json"], err = observation(e); err != nil {
			return err
		}
	}
	text, err := pageOf(explained)
	all[causesPage] = []byte(text)
	return err
}

// observed is the catalogue with what the dumps show of each cause.
func observed(dumps map[string]dump) (explained []v1.Explanation) {
	treated := treated(dumps)
	for _, e := range catalog.Explanations() {
		e.Policies = treated[e.Code].policies()
		if d, err := dumps[e.Dump].read(cause.DefaultPolicy()); err == nil && codeOf(d) == e.Code {
			e.Example = &d
		}
		explained = append(explained, e.Explanation)
	}
	return explained
}

// observation is what the dumps show of a cause: its part of an Explanation.
func observation(e v1.Explanation) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(struct {
		Policies []v1.PolicyTreatment `json:"policies,omitempty"`
		Example  *v1.Diagnosis        `json:"example,omitempty"`
	}{e.Policies, e.Example})
	return b.Bytes(), err
}

const causesAbout = "# Causes\n\nWhat keeps a workspace, a pod or a workload from running, as `berth diagnose` and " +
	"`berth status` name it. " +
	"`berth explain CAUSE` shows each of them in the terminal; [policies](policies.md) say which of them are " +
	"failures, and when.\n"

// pageOf is the page about all causes: an index by family, then each of them.
func pageOf(explained []v1.Explanation) (string, error) {
	var index, body strings.Builder
	family := ""
	for _, e := range explained {
		if e.Family != family {
			family = e.Family
			title := strings.ToUpper(family[:1]) + family[1:]
			fmt.Fprintf(&index, "\n**%s**\n\n", title)
			fmt.Fprintf(&body, "\n## %s\n", title)
		}
		fmt.Fprintf(&index, "- [%s](#%s): %s\n", e.Code, strings.ToLower(e.Code), markdown(e.Title))
		text, err := causeSection(e)
		if err != nil {
			return "", fmt.Errorf("%s: %w", e.Code, err)
		}
		body.WriteString(text)
	}
	return causesAbout + index.String() + body.String(), nil
}

// causeSection is about one cause.
func causeSection(e v1.Explanation) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n%s\n", e.Code, markdown(e.Title), markdown(e.Meaning))
	if len(e.Reasons) > 0 {
		fmt.Fprintf(&b, "\nKubernetes' words for it: `%s`\n", strings.Join(e.Reasons, "`, `"))
	}
	if e.Passes != "" {
		fmt.Fprintf(&b, "\nPasses by itself: %s\n", markdown(e.Passes))
	}
	b.WriteString(listed("How to recognize it:", e.Signs))
	b.WriteString(listed("What to do:", e.Remedies))
	b.WriteString(listed("What becomes of the workspace:", result.Explanation{Explanation: e}.Treatments()))
	text, err := exampleOf(e)
	return b.String() + text, err
}

// exampleOf is what berth says of the example of a cause; empty if it has none.
func exampleOf(e v1.Explanation) (string, error) {
	if e.Example == nil {
		return "", nil
	}
	lines, err := result.Diagnosis{Diagnosis: *e.Example}.Text(style.Page{
		Styles: style.New(style.NoColour, true),
		Width:  exampleWidth,
	})
	return fmt.Sprintf("\n```\n$ berth diagnose -f dump.yaml\n%s```\n", style.JoinLines(lines)), err
}

// exampleWidth is how many columns the examples of the page have.
const exampleWidth = 100

func listed(heading string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + heading + "\n\n")
	for _, item := range items {
		b.WriteString("- " + markdown(item) + "\n")
	}
	return b.String()
}

// markdown keeps what is between backquotes, and of the rest what would be taken for HTML from being so.
func markdown(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "<", "&lt;")
	}
	return strings.Join(parts, "`")
}

// treatments are what policies were seen to make of a cause, each once.
type treatments struct{ fast, patient []v1.Treatment }

// policies are how the policies treat a cause; nothing if that was never seen.
func (t treatments) policies() (all []v1.PolicyTreatment) {
	for _, p := range []v1.PolicyTreatment{
		{Policy: cause.Fast, Treatments: t.fast},
		{Policy: cause.Patient, Treatments: t.patient},
	} {
		if len(p.Treatments) > 0 {
			order := []v1.Treatment{v1.TreatmentFails, v1.TreatmentSpared, v1.TreatmentWaits}
			slices.SortFunc(p.Treatments, func(a, b v1.Treatment) int {
				return slices.Index(order,
					a) - slices.Index(order, b)
			})
			all = append(all, v1.PolicyTreatment{Policy: p.Policy, Treatments: slices.Compact(p.Treatments)})
		}
	}
	return all
}

// treated reads all dumps, and says what policies make of the cause of each.
func treated(dumps map[string]dump) map[string]treatments {
	all := map[string]treatments{}
	for _, d := range dumps {
		if code, seen := d.treated(); code != "" {
			t := all[code]
			all[code] = treatments{append(t.fast, seen.fast...), append(t.patient, seen.patient...)}
		}
	}
	return all
}

// treated is the cause in a dump, and what each policy makes of it: patience is tried with a grace period that has not
// ended, and with one that has.
func (d dump) treated() (code string, seen treatments) {
	policy := cause.DefaultPolicy()
	found, err := d.read(policy)
	if err != nil || codeOf(found) == "" {
		return "", treatments{}
	}
	code = codeOf(found)
	failsAfter := func(grace time.Duration) bool {
		policy.Name, policy.GracePeriod = cause.Patient, grace
		read, err := d.read(policy)
		return err == nil && codeOf(read) == code && failed(read)
	}
	const endless = 100 * 365 * 24 * time.Hour
	fast, patient := v1.TreatmentWaits, v1.TreatmentWaits
	if failed(found) {
		fast = v1.TreatmentFails
	}
	switch {
	case failsAfter(endless):
		patient = v1.TreatmentFails
	case failsAfter(0):
		patient = v1.TreatmentSpared
	}
	seen = treatments{[]v1.Treatment{fast}, []v1.Treatment{patient}}
	if refusesPods(found) {
		seen = treatments{append(seen.fast, v1.TreatmentFails), append(seen.patient, v1.TreatmentFails)}
	}
	return code, seen
}

// refusesPods is true for a cause for which a workload waits, as its controller tries again. Nothing tries again to
// create a pod of its own, which is in no dump.
func refusesPods(d v1.Diagnosis) bool {
	return d.Cause != nil && detect.Refusal(d.Cause.Message, "").Code == d.Cause.Code
}

func failed(d v1.Diagnosis) bool { return d.Verdict == v1.VerdictFailed || d.Verdict == v1.VerdictGone }

// codeOf is the cause in a diagnosis. It has none of what does not exist any more.
func codeOf(d v1.Diagnosis) string {
	switch {
	case d.Verdict == v1.VerdictGone:
		return cause.PodDeleted
	case d.Cause == nil:
		return ""
	}
	return d.Cause.Code
}
