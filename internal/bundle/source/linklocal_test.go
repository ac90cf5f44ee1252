package source_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// A server connects to no link-local address for a source, whatever its type and wherever it leads.
func TestServerRefusesLinkLocal(t *testing.T) {
	const at = "169.254.169.254"
	moved := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+at+"/latest", http.StatusFound)
	})
	chartAt := func(repository string) v1alpha1.Source {
		return v1alpha1.Source{
			Type: v1alpha1.SourceChart, Chart: &v1alpha1.ChartSource{Repository: repository, Name: "a"},
		}
	}
	skip := &v1alpha1.Authorization{InsecureSkipVerify: true}
	for name, s := range map[string]v1alpha1.Source{
		"http":              overHTTP("http://"+at+"/latest", nil),
		"http over IPv6":    overHTTP("http://[fe80::1]/latest", nil),
		"http, a redirect":  overHTTP(moved, nil),
		"http, unverified":  overHTTP("https://"+at+"/latest", skip),
		"a chart":           chartAt("http://" + at),
		"a moved index":     chartAt(moved),
		"an image":          {Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: at + "/a:1"}},
		"a range of images": {Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: at + "/a", Version: "^1"}},
		"git": {Type: v1alpha1.SourceGit, Git: &v1alpha1.GitSource{
			Repository: "https://" + at + "/a", Ref: v1alpha1.GitRef{Branch: "main"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			f.Time = 5 * time.Second
			f.Getenv = nil
			_, _, err := f.Fetch(t.Context(), s)
			if err == nil || !strings.Contains(err.Error(), at+" is a link-local address") &&
				!strings.Contains(err.Error(), "fe80::1 is a link-local address") {
				t.Error(err)
			}
		})
	}
}
