package source_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

func ofChart(repository, version, secret string) v1alpha1.Source {
	s := v1alpha1.Source{
		Type: v1alpha1.SourceChart, Chart: &v1alpha1.ChartSource{Repository: repository, Name: "app", Version: version},
	}
	if secret != "" {
		s.Chart.Auth = &v1alpha1.Authorization{Secret: v1alpha1.LocalReference{Name: secret}}
	}
	return s
}

// A chart of a repository is the version that is wanted, verified, and pinned to its URL and content. A login goes to
// the host of the repository alone.
func TestRepository(t *testing.T) {
	archive, other := chartArchive(t, "1.2.3"), chartArchive(t, "1.3.0")
	sum := sha256.Sum256(archive)
	var sent string // the login that the other host was sent
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		_, _ = w.Write(other)
	})
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if username, password, _ := r.BasicAuth(); username != "alice" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/charts/index.yaml":
			_, _ = fmt.Fprintf(w, "entries:\n  app:\n  - version: 1.2.3\n    digest: %s\n"+
				"    urls: [files/app-1.2.3.tgz]\n"+
				"  - version: 1.2.2\n    digest: sha256:%s\n    urls: [/charts/files/app-1.2.3.tgz]\n"+
				"  - version: 1.2.1\n    digest: 0123\n    urls: [files/app-1.2.3.tgz]\n  - version: 1.3.0\n"+
				"    urls: [%s/x.tgz]\n"+
				"  - version: 2.0.0\n    urls: ['oci://host/app:2.0.0']\n  - version: 2.1.0\n"+
				"  - version: 2.2.0\n    urls: ['file:///etc/passwd']\n  - version: 2.3.0\n"+
				"    urls: ['https://a:b@host/x']\n"+
				"  - version: 2.4.0\n    urls: [gone.tgz]\n  - version: new\n    urls: [x]\n",
				hex.EncodeToString(sum[:]), strings.ToUpper(hex.EncodeToString(sum[:])), elsewhere)
		case "/charts/files/app-1.2.3.tgz":
			_, _ = w.Write(archive)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}) + "/charts"
	for version, test := range map[string]struct {
		want, url, secret string
		code              fault.Code
		says              string
	}{
		"~1.2":  {want: "1.2.3", url: at + "/files/app-1.2.3.tgz", secret: "login"},
		"1.2.2": {want: "1.2.3", url: at + "/files/app-1.2.3.tgz", secret: "login"},
		"1.3.0": {want: "1.3.0", url: elsewhere + "/x.tgz"},
		"1.2.1": {code: fault.Failed, says: "is not the one of the index"},
		"2.0.0": {code: fault.InvalidArgument, says: "is in a registry: oci://host/app:2.0.0"},
		"2.1.0": {code: fault.InvalidArgument, says: "version 2.1.0 has no URL"},
		"2.2.0": {code: fault.InvalidArgument, says: "not one of https"},
		"2.3.0": {code: fault.InvalidArgument, says: "not one of https"},
		"":      {code: fault.NotFound, says: "gone.tgz: 404"},
		"~3":    {code: fault.NotFound, says: `has no version "~3"; the newest are 2.4.0`},
	} {
		t.Run(version, func(t *testing.T) {
			f, _ := onCluster(t, login(at))
			sent = ""
			c, resolved, err := f.Fetch(t.Context(), ofChart(at, version, "login"))
			if test.code != "" {
				if fault.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.says) ||
					strings.Contains(err.Error(), "a:b") {
					t.Errorf("%s: %v", fault.CodeOf(err), err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := versionOf(t, c); got != test.want || sent != "" {
				t.Errorf("%s, %q was sent", got, sent)
			}
			auth := ""
			if resolved.HTTP.Auth != nil {
				auth = resolved.HTTP.Auth.Secret.Name
			}
			if resolved.Type != v1alpha1.SourceHTTP || resolved.Chart != nil || resolved.HTTP.URL != test.url ||
				resolved.HTTP.Digest != c.Digest || auth != test.secret {
				t.Errorf("%+v", resolved.HTTP)
			}
		})
	}
	f, _ := onCluster(t, login("https://another.example.com"))
	f.Getenv = nil
	if _, _, err := f.Fetch(t.Context(), ofChart(at, "", "login")); fault.CodeOf(err) != fault.PermissionDenied {
		t.Errorf("%v", err)
	}
	if _, _, err := f.Fetch(t.Context(), ofChart(at, "", "")); fault.CodeOf(err) != fault.Unauthenticated {
		t.Errorf("%v", err)
	}
}

// A chart of a repository takes two requests: for the index, and for the archive.
func TestRequestsOfARepository(t *testing.T) {
	var asked []string
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if r.URL.Path == "/app.tgz" {
			_, _ = w.Write(chartArchive(t, "1.2.3"))
			return
		}
		_, _ = w.Write([]byte("entries:\n  app:\n  - version: 1.2.3\n    urls: [app.tgz]\n"))
	})
	for _, version := range []string{"1.2.3", "^1", ""} {
		asked = nil
		c, _, err := newFetcher(t).Fetch(t.Context(), ofChart(at, version, ""))
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		if got := strings.Join(asked, " "); got != "/index.yaml /app.tgz" {
			t.Errorf("%q: %s", version, got)
		}
	}
}
