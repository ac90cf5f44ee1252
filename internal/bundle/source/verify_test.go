package source_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/bundle/signature/signaturetest"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registrytest"
	"github.com/berthdev/berth/internal/skiptest"
)

// signing is a signer of charts, and the policy by which only theirs count.
func signing(t *testing.T) (signaturetest.Maintainer, *signature.Policy) {
	t.Helper()
	m := signaturetest.NewMaintainer(t, "alice", nil)
	policy, err := signature.New(signature.Keys{Keyring: m.Ring}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, policy
}

// Of archives, those count that are signed: in a repository, at a URL and in a file. What was fetched without that is
// not taken from the cache.
func TestSignedArchives(t *testing.T) {
	alice, policy := signing(t)
	dir, archive := t.TempDir(), chartArchive(t, "1.2.3")
	local := filepath.Join(dir, "app-1.2.3.tgz")
	prov := alice.Sign(t, "app-1.2.3.tgz", archive)
	unsigned := filepath.Join(dir, "app-1.2.4.tgz")
	for file, text := range map[string][]byte{
		local: archive, local + signature.Suffix: prov, unsigned: chartArchive(t, "1.2.4"),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index.yaml":
			_, _ = fmt.Fprint(w, "entries:\n  app:\n  - {version: 1.2.3, urls: [app-1.2.3.tgz]}\n"+
				"  - {version: 1.2.4, urls: [app-1.2.4.tgz]}\n  - {version: 1.2.5, urls: [app-1.2.5.tgz]}\n")
		case "/app-1.2.3.tgz":
			_, _ = w.Write(archive)
		case "/app-1.2.3.tgz.prov":
			_, _ = w.Write(prov)
		case "/app-1.2.5.tgz.prov":
			_, _ = w.Write(alice.Sign(t, "app-1.2.5.tgz", chartArchive(t, "1.2.5")))
		case "/app-1.2.4.tgz", "/app-1.2.5.tgz":
			_, _ = w.Write(chartArchive(t, "1.2.4"))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	web := func(file string) v1alpha1.Source {
		return v1alpha1.Source{Type: v1alpha1.SourceHTTP, HTTP: &v1alpha1.HTTPSource{URL: at + file}}
	}
	f, _ := onCluster(t)
	verifying := f.Verifying(policy)
	for name, test := range map[string]struct {
		source v1alpha1.Source
		local  string
		reason string
	}{
		"of a repository":          {source: ofChart(at, "1.2.3", "")},
		"unsigned of a repository": {source: ofChart(at, "1.2.4", ""), reason: signature.ReasonUnsigned},
		"replaced in a repository": {source: ofChart(at, "1.2.5", ""), reason: signature.ReasonOfOther},
		"at a URL":                 {source: web("/app-1.2.3.tgz")},
		"unsigned at a URL":        {source: web("/app-1.2.4.tgz"), reason: signature.ReasonUnsigned},
		"YAML at a URL":            {source: web("/install.yaml"), reason: signature.ReasonUnsupported},
		"in a file":                {local: local},
		"unsigned in a file":       {local: unsigned, reason: signature.ReasonUnsigned},
		"a directory":              {local: dir, reason: signature.ReasonUnsupported},
		"a part of one":            {local: dir + "//x", reason: signature.ReasonUnsupported},
		"standard input":           {local: source.Stdin, reason: signature.ReasonUnsupported},
		"a repository of git": {source: v1alpha1.Source{
			Type: v1alpha1.SourceGit,
			Git: &v1alpha1.GitSource{
				Repository: "https://git.example.com/x.git", Ref: v1alpha1.GitRef{Branch: "main"},
			},
		}, reason: signature.ReasonUnsupported},
		"ConfigMaps": {source: v1alpha1.Source{
			Type:       v1alpha1.SourceConfigMaps,
			ConfigMaps: []v1alpha1.ConfigMapSource{{ConfigMap: v1alpha1.LocalReference{Name: "x"}}},
		}, reason: signature.ReasonUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			get := func(f source.Fetcher) (resolved v1alpha1.Source, by string, err error) {
				if test.local != "" {
					c, err := f.Local(t.Context(), test.local, strings.NewReader(""))
					if err != nil {
						return resolved, "", err
					}
					return resolved, c.SignedBy, c.Close()
				}
				c, resolved, err := f.Fetch(t.Context(), test.source)
				if err != nil {
					return resolved, "", err
				}
				return resolved, c.SignedBy, c.Close()
			}
			if resolved, _, err := get(f); err == nil && resolved.HTTP != nil && test.reason != "" {
				// What the source was resolved to is in the cache that is used without verification.
				_, _, err := verifying.Fetch(t.Context(), resolved)
				if fault.ReasonOf(err) != test.reason {
					t.Errorf("from the cache: %s: %v", fault.ReasonOf(err), err)
				}
			}
			_, by, err := get(verifying)
			if fault.ReasonOf(err) != test.reason ||
				test.reason == "" && (err != nil || !strings.Contains(by, "alice")) {
				t.Errorf("%q, %s: %v", by, fault.ReasonOf(err), err)
			}
			if test.reason != "" && fault.From(err).Hint == "" {
				t.Error("it does not say what to do")
			}
		})
	}
}

// What is signed is a chart of a version: an index cannot pass off an older one, or another, as the one that is wanted.
func TestSignedVersion(t *testing.T) {
	alice, policy := signing(t)
	archive := chartArchive(t, "1.2.3")
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index.yaml":
			_, _ = fmt.Fprint(w, "entries:\n  app:\n  - {version: 1.2.3, urls: [app-1.2.3.tgz]}\n"+
				"  - {version: 1.3.0, urls: [app-1.2.3.tgz]}\n  web:\n  - {version: 1.2.3, urls: [app-1.2.3.tgz]}\n")
		case "/app-1.2.3.tgz":
			_, _ = w.Write(archive)
		default:
			_, _ = w.Write(alice.Sign(t, "app-1.2.3.tgz", archive))
		}
	})
	for chart, says := range map[string]string{
		"app 1.2.3": "", "app 1.3.0": "is of app-1.2.3.tgz, not of app-1.3.0.tgz",
		"web 1.2.3": "is of app-1.2.3.tgz, not of web-1.2.3.tgz",
	} {
		s := ofChart(at, "", "")
		s.Chart.Name, s.Chart.Version, _ = strings.Cut(chart, " ")
		c, _, err := newFetcher(t).Verifying(policy).Fetch(t.Context(), s)
		if err == nil {
			_ = c.Close()
		}
		if says == "" && err != nil || says != "" && (fault.ReasonOf(err) != signature.ReasonOfOther ||
			!strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", chart, err)
		}
	}
}

// What the real helm packs and signs is accepted where it is accepted by helm, from a registry and from a repository.
func TestHelmSigns(t *testing.T) {
	helm := skiptest.Helm(t)
	alice, policy := signing(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app/Chart.yaml":       "apiVersion: v2\nname: app\nversion: 1.4.0+build.1\n",
		"app/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), helm, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "HELM_CONFIG_HOME="+dir, "HELM_CACHE_HOME="+dir)
		return cmd.CombinedOutput()
	}
	ref := registrytest.Start(t).Host + "/org/app"
	files := serve(t, http.FileServer(http.Dir(dir)).ServeHTTP)
	for _, args := range [][]string{
		{"package", "app", "--sign", "--key", "alice", "--keyring", alice.Secret(t)},
		{"push", "app-1.4.0+build.1.tgz", "oci://" + strings.TrimSuffix(ref, "/app"), "--plain-http"},
		{"repo", "index", "."},
		{
			"pull", "app", "--repo", files, "--version", "1.4.0+build.1", "--verify", "--keyring", alice.Ring,
			"-d", t.TempDir(),
		},
	} {
		if out, err := run(args...); err != nil {
			t.Fatalf("helm %s: %v %s", args[0], err, out)
		}
	}
	ofRegistry := ofImage(ref, "")
	ofRegistry.Image.Version = "1.4.0+build.1"
	_, other := signing(t)
	for name, s := range map[string]v1alpha1.Source{
		"a registry": ofRegistry, "a repository": ofChart(files, "1.4.0+build.1", ""),
	} {
		f, _ := onCluster(t)
		c, resolved, err := f.Verifying(policy).Fetch(t.Context(), s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(c.SignedBy, "alice") {
			t.Errorf("%s: %q", name, c.SignedBy)
		}
		_ = c.Close()
		_, _, err = f.Verifying(other).Fetch(t.Context(), resolved)
		if fault.ReasonOf(err) != signature.ReasonUntrusted {
			t.Errorf("%s, by another: %v", name, err)
		}
	}
}
