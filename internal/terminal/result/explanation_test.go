package result_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func explanations() map[string]v1.Explanation {
	fast := func(t ...v1.Treatment) v1.PolicyTreatment {
		return v1.PolicyTreatment{Policy: "fast", Treatments: t}
	}
	patient := func(t ...v1.Treatment) v1.PolicyTreatment {
		return v1.PolicyTreatment{Policy: "patient", Treatments: t}
	}
	return map[string]v1.Explanation{
		"passes": {
			Code: "RegistryUnreachable", Family: "image", Title: "The registry does not answer",
			Reasons: []string{"ErrImagePull", "ImagePullBackOff"},
			Meaning: "The node asks a registry for the image, and gets no answer: the name of the registry is wrong, " +
				"or the network between them does not work.",
			Signs: []string{
				"`kubectl get pods` shows ErrImagePull or ImagePullBackOff.",
				"An event says \"no such host\", \"i/o timeout\" or \"connection refused\".",
			},
			Remedies: []string{
				"Correct the host in the name of the image.",
				"Have the network between nodes and registry checked.",
			},
			Passes:   "the registry answers again",
			Policies: []v1.PolicyTreatment{fast(v1.TreatmentFails), patient(v1.TreatmentFails, v1.TreatmentSpared)},
			Example:  new(example()),
		},
		"persists": {
			Code: "ClaimMissing", Family: "volume", Title: "The volume claim does not exist",
			Meaning:  "The pod mounts a claim that is not there.",
			Remedies: []string{"Create the claim."}, NeedsPerson: true,
			Policies: []v1.PolicyTreatment{fast(v1.TreatmentWaits), patient(v1.TreatmentWaits)},
		},
	}
}

func example() v1.Diagnosis {
	failedAt := 1.5
	return v1.Diagnosis{
		Subject: "pod/api", Namespace: "shop", At: terminaltest.T0.Add(time.Minute), Verdict: v1.VerdictFailed,
		Stage:  v1.StageFailed,
		Status: v1.StatusFailing, Since: terminaltest.T0.Add(style.Seconds(failedAt)), FailedAt: &failedAt,
		Cause: &v1.Cause{
			Code:    "RegistryUnreachable",
			Message: "container app: image nosuch.example.com/api:1 cannot be pulled: no such host", Container: "app",
		},
		Hint: "The node cannot reach the registry.",
	}
}

func TestExplanation(t *testing.T) {
	for name, e := range explanations() {
		t.Run(name, func(t *testing.T) {
			doc := result.Explanation{Explanation: e}
			goldentest.Check(t, "explanation/"+name+"-colour.txt",
				terminaltest.Visible(printed(t, "text", doc, 100, style.Colour16)))
			goldentest.Check(t, "explanation/"+name+"-pipe.txt", printed(t, "text", doc, 0, style.NoColour))
			goldentest.Check(t, "explanation/"+name+".json", printed(t, "json", doc, 0, style.NoColour))
			for _, columns := range []int{40, 80} {
				got := printed(t, "text", doc, columns, style.NoColour)
				goldentest.Check(t, "explanation/"+name+"-"+strconv.Itoa(columns)+".txt", got)
				for line := range strings.SplitSeq(got, "\n") {
					if style.Width(line) >= columns && !strings.Contains(line, "kubectl ") {
						t.Errorf("%d columns: %q", style.Width(line), line)
					}
				}
			}
		})
	}
}

func TestExplanations(t *testing.T) {
	all := explanations()
	list := result.Explanations{ExplanationList: v1.ExplanationList{Items: []v1.Explanation{
		all["passes"],
		all["persists"],
	}}}
	for i := range list.Items {
		list.Items[i].Example = nil
	}
	for _, format := range []string{"text", "wide", "name", "json"} {
		goldentest.Check(t, "explanation/list-"+format+".txt", printed(t, format, list, 0, style.NoColour))
	}
	goldentest.Check(t, "explanation/list-40.txt", printed(t, "text", list, 40, style.NoColour))
}
