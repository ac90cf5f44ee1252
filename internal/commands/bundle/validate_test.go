package bundle_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// A cluster that the command line names checks what is in a bundle, says all that it refuses, and keeps nothing; one
// that it does not name is not asked.
func TestValidateOnACluster(t *testing.T) {
	var requests atomic.Int64
	server := kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			cluster(next).ServeHTTP(w, r)
		})
	})
	there(t, nil)
	cmdtest.Cluster(t, server.URL)
	chart := filepath.Join(t.TempDir(), "chart")
	for name, text := range map[string]string{
		"Chart.yaml": "{apiVersion: v2, name: web, version: 1.2.3}",
		"templates/a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: {{ .Release.Name }}}, data: " +
			"{there: '{{ .Capabilities.APIVersions.Has \"v1/Nothing\" }}'}}",
		"templates/b.yaml": "{{ range .Values.also }}---\n{apiVersion: v1, kind: ConfigMap, metadata: " +
			"{name: a{{ . }}, labels: {name: refused}}}\n{{ end }}",
	} {
		path := filepath.Join(chart, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kubeconfig := os.Getenv("KUBECONFIG")
	for name, test := range map[string]struct {
		args   string
		status int
		says   []string // on standard error
		asks   bool
	}{
		"nobody":                  {args: ""},
		"nobody, what is refused": {args: "--set also={1,2}"},
		"that of a kubeconfig":    {args: "--kubeconfig " + kubeconfig, asks: true},
		"the current one":         {args: "--dry-run=server", asks: true},
		"one that refuses": {
			args: "--dry-run=server --set also={1,2}", status: 3, asks: true,
			says: []string{
				"2 objects are refused", "configmaps a1 in namespace team", "configmaps a2 in namespace team",
			},
		},
		"in another namespace": {args: "--dry-run=server -n other --set also={1}", asks: true},
	} {
		t.Run(name, func(t *testing.T) {
			before := requests.Load()
			status, stdout, stderr := cmdtest.Run(t, "",
				append([]string{"bundle", "validate", chart}, strings.Fields(test.args)...)...)
			if status != test.status || status == 0 && !strings.Contains(stdout, "ConfigMap") {
				t.Errorf("%d, %s%s", status, stdout, stderr)
			}
			for _, text := range test.says {
				if !strings.Contains(stderr, text) {
					t.Errorf("%q is not in %s", text, stderr)
				}
			}
			if asked := requests.Load() > before; asked != test.asks {
				t.Errorf("the cluster was asked: %v", asked)
			}
			if there := append(server.Names("configmaps"), server.Names("bundles")...); len(there) > 0 {
				t.Errorf("%q was written", there)
			}
		})
	}
}
