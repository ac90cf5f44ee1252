package catalog

import (
	"reflect"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// Everything that an entry says is there to be read.
func TestExplained(t *testing.T) {
	got := Entry{
		Code: "Lost", Title: "It is lost", Reasons: []string{"Gone", "Away", "Gone"}, Person: true,
		Meaning: "Nobody has it.", Hint: "Look for it.", Signs: []string{"It is not there."},
		Remedies: []string{"Look for it."}, Passes: "It turns up.", Example: "node/lost",
	}.explained("node")
	want := Explanation{Dump: "node/lost", Explanation: v1.Explanation{
		Code: "Lost", Family: "node", Title: "It is lost", Reasons: []string{"Away", "Gone"}, Meaning: "Nobody has it.",
		Signs: []string{"It is not there."}, Remedies: []string{"Look for it."}, Passes: "It turns up.", NeedsPerson: true,
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestExplain(t *testing.T) {
	for name, want := range map[string]string{
		"CrashLoop":           "CrashLoop",
		"crashloop":           "CrashLoop",
		"crash-loop":          "CrashLoop",
		"Crash loop":          "CrashLoop",
		"CRASH_LOOP":          "CrashLoop",
		"CrashLoopBackOff":    "CrashLoop",
		"OOMKilled":           "OOMKilled",
		"oom killed":          "OOMKilled",
		"FailedAttachVolume":  "VolumeNotMounted",
		"InvalidImageName":    "InvalidImageName",
		"FailedScheduling":    "Unschedulable",
		"failed-create-pod":   "",
		"FailedBinding":       "VolumeUnbound",
		"":                    "",
		"-":                   "",
		"CrashLoops":          "",
		"FailedCreatePodSand": "",
	} {
		found := Explain(name)
		if want == "" && len(found) > 0 || want != "" && (len(found) == 0 || found[0].Code != want) {
			t.Errorf("%q is %+v, want %q", name, found, want)
		}
	}
}

// One of Kubernetes' words can mean several causes.
func TestExplainSeveral(t *testing.T) {
	var codes []string
	for _, e := range Explain("errimagepull") {
		codes = append(codes, e.Code)
	}
	for _, code := range []string{"ImageNotFound", "ImagePullDenied", "RegistryUnreachable"} {
		if !strings.Contains(strings.Join(codes, " "), code) {
			t.Errorf("ErrImagePull is %q, without %s", codes, code)
		}
	}
}
