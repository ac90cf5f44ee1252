package bundle_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/registrytest"
)

// A kustomization that a server sends, as an archive or as an image, has its own files and nothing else: whatever it
// names, neither that server nor another is asked for it, and no file of this machine is read.
func TestKustomizationsOfServers(t *testing.T) {
	there(t, nil)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(other.Close)
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	of := func(kustomization string, more ...string) map[string]string {
		files := map[string]string{"kustomization.yaml": kustomization, "a.yaml": object}
		for i := 0; i < len(more); i += 2 {
			files[more[i]] = more[i+1]
		}
		return files
	}
	builtin := func(kind, more string) string {
		return "apiVersion: builtin\nkind: " + kind + "\nmetadata: {name: g}\n" + more
	}
	for name, test := range map[string]struct {
		files map[string]string
		says  string
	}{
		"a base elsewhere":     {of("resources: ['" + other.URL + "/a.yaml']\n"), "would be fetched"},
		"a repository":         {of("resources: ['" + other.URL + "/r.git//x?ref=v1']\n"), "would be fetched"},
		"a chart":              {of("helmCharts: [{name: x, repo: '" + other.URL + "'}]\n"), "no chart is rendered"},
		"a schema":             {of("openapi: {path: '" + other.URL + "/o.json'}\n"), "would be fetched"},
		"a file above":         {of("resources: [a.yaml, ../../../../etc/passwd]\n"), "outside of the bundle"},
		"a file of the server": {of("resources: [a.yaml, /etc/passwd]\n"), "outside of the bundle"},
		"a secret": {
			of("generators: [g.yaml]\n", "g.yaml", builtin("SecretGenerator", "files: ["+secret+"]\n")),
			"does not exist",
		},
		"a patch elsewhere": {
			of("resources: [a.yaml]\ntransformers: [t.yaml]\n", "t.yaml",
				builtin("PatchTransformer", "path: "+other.URL+"/p\n")),
			"would be fetched, and nothing is",
		},
		"a program": {
			of("resources: [a.yaml]\ngenerators: [g.yaml]\n", "g.yaml",
				"apiVersion: x/v1\nkind: G\nmetadata: {name: g, "+
					"annotations: {config.kubernetes.io/function: 'exec: {path: ./run}'}}\n",
				"run", "#!/bin/sh\ncat "+secret+"\n"),
			"plugins disabled",
		},
		"aliases": {
			of("a: &a " + strings.Repeat("x", 1<<10) + "\nb: &b [" + strings.Repeat("*a,", 100) + "]\nc: [" +
				strings.Repeat("*b,", 100) + "]\n"), "with its aliases expanded",
		},
		"a circle": {
			of("resources: [b]\n", "b/kustomization.yaml", "resources: [..]\n"), "leads back to where it comes from",
		},
		"bases that double": {doubling(), "more than 1000 kustomizations are read"},
	} {
		t.Run(name, func(t *testing.T) {
			layer := archive(t, test.files)
			sent := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				sent++
				_, _ = w.Write([]byte(layer))
			}))
			defer server.Close()
			at := registrytest.Start(t).Repository("org/app")
			at.Image("v1", ocispec.MediaTypeImageLayer, []byte(layer))
			for _, from := range []string{server.URL + "/app.tgz", "oci://" + at.Ref(":v1")} {
				status, out, stderr := cmdtest.Run(t, "", "bundle", "template", from)
				if status != 2 || out != "" || !strings.Contains(stderr, test.says) ||
					!strings.Contains(stderr, "hint:") ||
					strings.Contains(stderr, "hunter2") || len(stderr) > 16<<10 {
					t.Errorf("%s: %d, %.2000s%.5000s", from, status, out, stderr)
				}
			}
			if sent != 1 {
				t.Errorf("the server of the archive was asked %d times", sent)
			}
		})
	}
	if asked.Load() > 0 {
		t.Errorf("another server was asked %d times", asked.Load())
	}
}

// doubling are bases of which each is there twice in the next.
func doubling() map[string]string {
	files := map[string]string{
		"kustomization.yaml": "resources: [b29]\n", "b0/kustomization.yaml": "resources: [a.yaml]\n",
		"b0/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	}
	for i := 1; i < 30; i++ {
		at := "b" + string(rune('0'+i/10)) + string(rune('0'+i%10))
		below := "b" + string(rune('0'+(i-1)/10)) + string(rune('0'+(i-1)%10))
		if i == 1 {
			below = "b0"
		}
		files[at+"/kustomization.yaml"] = "resources: [l, r]\n"
		for _, side := range []string{"l", "r"} {
			files[at+"/"+side+"/kustomization.yaml"] = "resources: [../../" + below + "]\nnamePrefix: " + side + "-\n"
		}
	}
	return files
}
