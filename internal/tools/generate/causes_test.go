package main

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// The section of a cause has everything that there is to read about it.
func TestCauseSection(t *testing.T) {
	got, err := causeSection(v1.Explanation{
		Code: "CrashLoop", Title: "It ends again and again", Reasons: []string{"BackOff", "CrashLoopBackOff"},
		Meaning:  "Something ends it.",
		Signs:    []string{"`kubectl get pods`: CrashLoopBackOff"},
		Remedies: []string{"Read its log.", "Ask <name>, as in `<name>`."},
		Passes:   "When it can reach <host>.",
		Policies: []v1.PolicyTreatment{{Policy: "fast", Treatments: []v1.Treatment{v1.TreatmentFails}}},
		Example: &v1.Diagnosis{
			Subject: "pod/api", Verdict: v1.VerdictFailed, Stage: v1.StageFailed,
			Cause: &v1.Cause{Code: "CrashLoop", Message: "crash loop"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n### CrashLoop\n\nIt ends again and again.\n\nSomething ends it.\n",
		"words for it: `BackOff`, `CrashLoopBackOff`\n",
		"\n\n- `kubectl get pods`: CrashLoopBackOff\n", "\n- Ask &lt;name>, as in `<name>`.\n",
		"Passes by itself: When it can reach &lt;host>.\n",
		"\n- every policy: it fails at once\n", "\n```\n$ berth diagnose -f dump.yaml\npod/api\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// The index leads to each cause, family by family.
func TestCausesIndex(t *testing.T) {
	page, err := pageOf([]v1.Explanation{
		{Code: "OOMKilled", Family: "crash", Title: "Too much"},
		{Code: "CrashLoop", Family: "crash"},
		{Code: "Evicted", Family: "node"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if index := "\n**Crash**\n\n- [OOMKilled](#oomkilled): Too much\n- [CrashLoop](#crashloop): \n\n**Node**\n\n" +
		"- [Evicted](#evicted): \n\n## Crash\n"; !strings.Contains(page, index) {
		t.Errorf("no %q in\n%s", index, page)
	}
}

// Every cause is explained, and shown by a dump that has that very cause.
func TestEveryCauseIsExplained(t *testing.T) {
	atTop(t)
	dumps, err := dumps()
	if err != nil {
		t.Fatal(err)
	}
	treated := treated(dumps)
	for _, e := range catalog.Explanations() {
		t.Run(e.Code, func(t *testing.T) {
			if e.Title == "" || strings.HasSuffix(e.Title, ".") || e.Meaning == "" || len(e.Signs) == 0 ||
				len(e.Remedies) == 0 {
				t.Errorf("it has title %q, meaning %q, %d signs and %d remedies", e.Title, e.Meaning, len(e.Signs),
					len(e.Remedies))
			}
			if len(treated[e.Code].policies()) == 0 && e.Code != cause.PodDeleted {
				t.Error("no dump shows what the policies make of it")
			}
			if e.Code == cause.PodDeleted {
				return // what does not exist is in no dump
			}
			d, ok := dumps[e.Dump]
			if !ok {
				t.Fatalf("its example is %q, which is not a dump", e.Dump)
			}
			if shown, err := d.read(cause.DefaultPolicy()); err != nil || codeOf(shown) != e.Code {
				t.Errorf("%s shows %q: %v", e.Dump, codeOf(shown), err)
			}
		})
	}
}
