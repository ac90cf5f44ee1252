package result_test

import (
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

func dryRun() (objects result.Objects, secret map[string]any) {
	meta := func(name string) map[string]any { return map[string]any{"name": name, "namespace": "ns"} }
	secret = map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": meta("s"),
		"data": map[string]any{"k": "aHVudGVyMg=="}, "stringData": map[string]any{"p": "hunter2"},
	}
	objects = result.NewObjects()
	objects.Add("create", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta("a"),
		"data": map[string]any{"x": "plain"},
	})
	objects.Add("update", secret)
	objects.Add("delete", map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": meta("p"),
		"spec": map[string]any{},
	})
	return objects, secret
}

func TestObjects(t *testing.T) {
	for format, want := range map[string]string{
		"text": `---
# create configmap/a
apiVersion: v1
data:
  x: plain
kind: ConfigMap
metadata:
  name: a
  namespace: ns
---
# update secret/s
apiVersion: v1
data:
  k: '***'
kind: Secret
metadata:
  name: s
  namespace: ns
stringData:
  p: '***'
# delete pod/p
`,
		"name":                             "configmap/a\nsecret/s\npod/p\n",
		"jsonpath={.items[*].kind}":        "ConfigMap Secret Pod",
		"go-template={{.kind}}":            "List",
		"jsonpath={.items[1].data.k}":      "***",
		"jsonpath={.items[*].metadata.ns}": "",
	} {
		f, err := printer.ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		objects, _ := dryRun()
		s, b := terminal.Test("", time.Time{})
		if err := printer.Print(s, f, objects); err != nil {
			t.Fatal(err)
		}
		if got := b.Out.String(); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", format, got, want)
		}
	}
}

// No format shows what a Secret holds, and the caller's object stays as it is.
func TestSecretsAreNotShown(t *testing.T) {
	for _, format := range []string{"text", "json", "yaml", "jsonl", "name", "go-template={{.}}"} {
		f, err := printer.ParseFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		s, b := terminal.Test("", time.Time{})
		objects, original := dryRun()
		if err := printer.Print(s, f, objects); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"hunter2", "aHVudGVyMg"} {
			if strings.Contains(b.Out.String(), secret) {
				t.Errorf("%s shows %s:\n%s", format, secret, b.Out.String())
			}
		}
		if original["stringData"].(map[string]any)["p"] != "hunter2" {
			t.Errorf("%s changed the object", format)
		}
	}
}
