package injection

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Whatever the annotation of a workload says, taking the workspace out ends with a
// workload that is valid, or with an error that shows a little of it.
func FuzzRecordOf(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", "[]", "7", `{"canonicalId":"ID"}`,
		`{"canonicalId":"ID","containers":["ca","ID-k8shell-main"],"volumes":[""],"sharePID":true}`,
		`{"canonicalId":"ID","labels":["app",""],"annotations":[""],` +
			`"replaced":{"labels":{"":""},"annotations":{"k8shell.io/userstr":"x"}}}`,
		`{"canonicalId":"ID","containers":null,"hash":"x","sharePID":null}`, `{"canonicalId":"ID\n"}`,
		`{"canonicalId":` +
			strings.Repeat("[", 20_000), "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := parts(t, "deployment")
		text = strings.ReplaceAll(text, "ID", p.ID)
		before := parse(t,
			`{"kind":"Deployment","metadata":{"name":"web","uid":"u-1"},"spec":{"template":{`+
				`"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"ca","image":"x"}]}}}}`)
		in, err := Inject(before, p)
		if err != nil {
			t.Fatal(err)
		}
		injected := apply(t, before, in.Patch)
		meta, _ := injected["metadata"].(map[string]any)
		meta["annotations"] = map[string]any{kube.AnnotationInjection: text}
		out, err := Eject(injected, p.ID)
		if err != nil {
			if f := fault.From(err); f.Code != fault.Conflict || f.Hint == "" || len(f.Message) > 8<<10 {
				t.Errorf("%.500v", err)
			}
			return
		}
		if _, err := json.Marshal(out.After); err != nil {
			t.Error(err)
		}
		if out.Patch != nil && !json.Valid(out.Patch) {
			t.Errorf("%s", out.Patch)
		}
	})
}
