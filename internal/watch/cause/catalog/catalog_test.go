package catalog

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
)

// Every file of the directory is a family, and every family has causes.
func TestFamilies(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range Families() {
		names = append(names, f.Name+".yaml")
		if len(f.Entries) == 0 {
			t.Errorf("%s has no causes", f.Name)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, files) {
		t.Errorf("families %q, files %q", names, files)
	}
}

// Every cause has all that there is to say of one, on one line each; only what does not exist is in no dump.
func TestEveryEntryIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Families() {
		for _, e := range f.Entries {
			if seen[e.Code] {
				t.Errorf("%s is there twice", e.Code)
			}
			seen[e.Code] = true
			for field, text := range map[string]string{
				"code": e.Code, "title": e.Title, "meaning": e.Meaning,
				"hint": e.Hint,
			} {
				if text == "" {
					t.Errorf("%s has no %s", e.Code, field)
				}
			}
			if len(e.Signs) == 0 || len(e.Remedies) == 0 || e.Example == "" && e.Code != "PodDeleted" {
				t.Errorf("%s has %d signs, %d remedies and the example %q", e.Code, len(e.Signs), len(e.Remedies),
					e.Example)
			}
			said := []string{e.Title, e.Meaning, e.Hint, e.Passes}
			for _, text := range slices.Concat(said, e.Reasons, e.Signs, e.Remedies) {
				if strings.Join(strings.Fields(text), " ") != text {
					t.Errorf("%s has a line end or more than one blank in %q", e.Code, text)
				}
			}
		}
	}
}

// Advice is found by expressions that compile, and the last is for every message.
func TestAdvice(t *testing.T) {
	for _, e := range load().byCode {
		if strings.Contains(e.Hint, "{advice}") != (len(e.Advice) > 0) {
			t.Errorf("%s: {advice} and advice do not go together", e.Code)
		}
		for i, a := range e.Advice {
			if _, err := regexp.Compile(string(a.Words)); err != nil || a.Text == "" {
				t.Errorf("%s: %q is for %q: %v", e.Code, a.Text, a.Words, err)
			}
			if last := i == len(e.Advice)-1; last != (a.Words == "") {
				t.Errorf("%s: %q is advice %d of %d", e.Code, a.Words, i+1, len(e.Advice))
			}
		}
	}
}

// docs/causes.md has the causes in the order of the catalogue.
func TestOrderIsThatOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/causes.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, codes []string
	for _, m := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, m[1])
	}
	for _, e := range Explanations() {
		codes = append(codes, e.Code)
	}
	if diff := cmp.Diff(codes, documented); diff != "" {
		t.Errorf("docs/causes.md has other causes (-catalogue +page); run make generate:\n%s", diff)
	}
}

func TestDecode(t *testing.T) {
	got, err := decode([]byte("- code: Lost\n  hint: >-\n    Look\n    for it.\n  person: true\n"))
	want := []Entry{{Code: "Lost", Hint: "Look for it.", Person: true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	_, err = decode([]byte("- code: Lost\n  hints: Look for it.\n"))
	if err == nil || !strings.Contains(err.Error(), "hints") {
		t.Errorf("an unknown field: %v", err)
	}
}

func TestLookup(t *testing.T) {
	if e := Lookup("CrashLoop"); e.Code != "CrashLoop" {
		t.Errorf("got %+v", e)
	}
	if e := Lookup("NoSuchThing"); e.Code != "" {
		t.Errorf("got %+v", e)
	}
}

// Each of Kubernetes' words is found in any case.
func TestReasons(t *testing.T) {
	_, kubernetes := Reasons()
	for _, word := range kubernetes {
		if proper, ok := Reason(strings.ToUpper(word)); !ok || proper != word {
			t.Errorf("%s is %q, %t", word, proper, ok)
		}
	}
	if _, ok := Reason("NoSuchThing"); ok {
		t.Error("what there is not was found")
	}
}

// Everything that an entry says is there to be read.
func TestExplained(t *testing.T) {
	got := Entry{
		Code: "Lost", Title: "It is lost", Reasons: []string{"Gone", "Away", "Gone"}, Person: true,
		Meaning: "Nobody has it.", Hint: "Look for it.", Signs: []string{"It is not there."},
		Remedies: []string{"Look for it."}, Passes: "It turns up.", Example: "node/lost",
	}.explained("node")
	want := Explanation{Dump: "node/lost", Explanation: v1.Explanation{
		Code: "Lost", Family: "node", Title: "It is lost", Reasons: []string{"Away", "Gone"}, Meaning: "Nobody has it.",
		Signs: []string{"It is not there."}, Remedies: []string{"Look for it."}, Passes: "It turns up.",
		NeedsPerson: true,
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
