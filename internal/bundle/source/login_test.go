package source_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

// basic serves an archive to anyone who has the login.
func basic(packed []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if username, password, _ := r.BasicAuth(); username != "alice" || password != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(packed)
	}
}

// A login of a Secret goes nowhere but to the hosts that the Secret names.
func TestLoginIsForItsHosts(t *testing.T) {
	packed := targz(t, map[string]string{"a": "a"})
	url := serve(t, basic(packed))
	host := strings.TrimPrefix(url, "http://")
	_, port, _ := strings.Cut(host, ":")
	for hosts, says := range map[string]string{
		host:                                   "",
		"git.example.com, " + host:             "",
		"":                                     "does not name " + host,
		"git.example.com":                      "does not name " + host,
		"127.0.0.1":                            "does not name " + host, // the port of http
		"127.0.0.1:1":                          "does not name " + host,
		"git.example.com:" + port:              "does not name " + host,
		host + ".example.com," + "1" + host:    "does not name " + host,
		"x@" + host + "x,%zz,,:," + host + "0": "does not name " + host,
	} {
		secret := login()
		secret.Annotations[source.AnnotationHosts] = hosts
		f, _ := onCluster(t, secret)
		c, _, err := f.Fetch(t.Context(), overHTTP(url+"/b.tgz", withLogin()))
		if err == nil {
			_ = c.Close()
		}
		if (err == nil) != (says == "") || err != nil &&
			(fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), says) ||
				!strings.Contains(err.Error(), "secret/login") ||
				!strings.Contains(err.Error(), source.AnnotationHosts) ||
				!strings.Contains(fault.From(err).Hint, source.AnnotationHosts+"="+host)) {
			t.Errorf("%q: %v", hosts, err)
		}
		f.Getenv = os.Getenv // a caller at a terminal reads the Secret anyway
		if c, _, err = f.Fetch(t.Context(), overHTTP(url+"/b.tgz", withLogin())); err != nil {
			t.Errorf("%q: %v", hosts, err)
			continue
		}
		_ = c.Close()
	}
}

// The same is true of the logins and the keys of repositories.
func TestLoginOfARepositoryIsForItsHosts(t *testing.T) {
	f, _ := onCluster(t, login("https://git.example.com"))
	for _, address := range []string{"https://127.0.0.1:1/x", "ssh://git@127.0.0.1:1/x"} {
		_, _, err := f.Fetch(t.Context(), ofGit(address, "", v1alpha1.GitRef{Tag: "v1"}, withLogin()))
		if fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), "does not name ") ||
			!strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// No login goes over a network in the clear, no matter who asks.
func TestLoginIsEncrypted(t *testing.T) {
	const far = "http://far.invalid/x"
	for _, getenv := range []func(string) string{nil, os.Getenv} {
		f, _ := onCluster(t, login(far))
		f.Getenv = getenv
		for _, s := range []v1alpha1.Source{
			overHTTP(far, withLogin()),
			ofGit(far, "", v1alpha1.GitRef{Tag: "v1"}, withLogin()),
		} {
			_, _, err := f.Fetch(t.Context(), s)
			if fault.CodeOf(err) != fault.InvalidArgument ||
				!strings.Contains(err.Error(), "the login from secret/login is not sent to http://far.invalid "+
					"without encryption") {
				t.Errorf("%s: %v", s.Type, err)
			}
		}
	}
}
