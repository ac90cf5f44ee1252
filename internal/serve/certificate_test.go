package serve

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/fault"
)

// A certificate that changes is used from then on; one that is broken is not, and the one before stays.
func TestCertificateIsReloaded(t *testing.T) {
	authority := certtest.New(t)
	now := time.Now()
	first, second := authority.Issue(now.Add(time.Hour), "first"), authority.Issue(now.Add(time.Hour), "second")
	var told []string
	c, err := NewCertificate(first.Cert, first.Key, func() time.Time { return now },
		func(err error) { told = append(told, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	name := func() string {
		t.Helper()
		now = now.Add(lookAtMost)
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, _ := x509.ParseCertificate(pair.Certificate[0])
		return leaf.Subject.CommonName
	}
	replace := func(path, from string) {
		t.Helper()
		text := []byte("broken")
		if from != "" {
			text, _ = os.ReadFile(from)
		}
		if err := os.WriteFile(path+"-new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+"-new", path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
	}
	if got := name(); got != "first" {
		t.Errorf("it is %s", got)
	}
	replace(first.Cert, second.Cert)
	if got := name(); got != "first" || len(told) != 1 {
		t.Errorf("with half of a new one it is %s, %q", got, told)
	}
	replace(first.Key, second.Key)
	if got := name(); got != "second" || len(told) != 1 {
		t.Errorf("with a new one it is %s, %q", got, told)
	}
	replace(first.Cert, "")
	if got := name(); got != "second" || len(told) != 2 {
		t.Errorf("with a broken one it is %s, %q", got, told)
	}
	if err := os.Remove(first.Cert); err != nil {
		t.Fatal(err)
	}
	if got := name(); got != "second" || len(told) != 3 {
		t.Errorf("without one it is %s, %q", got, told)
	}
	if _, err := NewCertificate(first.Cert, first.Key, time.Now, nil); fault.CodeOf(err) != fault.InvalidArgument ||
		fault.From(err).Hint == "" {
		t.Errorf("a server without one begins: %v", err)
	}
}

func loaded(t *testing.T, pair certtest.Pair) tls.Certificate {
	t.Helper()
	certificate, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// A client certificate says who somebody is as a token does, if it is of the right authority.
func TestClientCertificate(t *testing.T) {
	own, other := certtest.New(t), certtest.New(t)
	authorities, err := NewClientCA(own.File, time.Now, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	cluster := &cluster{}
	cluster.may.Store("alice get /a", true)
	guard, log := newGuard(cluster, DefaultLimits())
	guard.ClientCA = authorities
	server := httptest.NewUnstartedServer(guard.Protect(byPath, http.HandlerFunc(greet)))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()
	for name, c := range map[string]struct {
		pair  *certtest.Pair
		token string
		want  int
		says  string
	}{
		"may": {pair: new(own.Issue(time.Now().Add(time.Hour), "alice")), want: 200},
		"may nothing": {
			pair: new(own.Issue(time.Now().Add(time.Hour), "bob")), want: 403,
			says: "bob may not get /a",
		},
		"of another authority": {
			pair: new(other.Issue(time.Now().Add(time.Hour), "alice")), want: 401,
			says: "the client certificate is not valid",
		},
		"expired": {
			pair: new(own.Issue(time.Now().Add(-time.Minute), "alice")), want: 401,
			says: "the client certificate is not valid",
		},
		"none":            {want: 401, says: "a token or a client certificate is required"},
		"a token as well": {pair: new(own.Issue(time.Now().Add(time.Hour), "bob")), token: "of-alice", want: 200},
		"a bad token as well": {
			pair: new(own.Issue(time.Now().Add(time.Hour), "alice")), token: "nonsense", want: 401,
			says: "the token is not valid",
		},
		"a token and no more": {token: "of-alice", want: 200},
		"nobody":              {pair: new(own.Issue(time.Now().Add(time.Hour), "")), want: 401},
	} {
		t.Run(name, func(t *testing.T) {
			security := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a test
			if c.pair != nil {
				security.Certificates = []tls.Certificate{loaded(t, *c.pair)}
			}
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: security, DisableKeepAlives: true}}
			request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/a", http.NoBody)
			if c.token != "" {
				request.Header.Set("Authorization", "Bearer "+c.token)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, _ := io.ReadAll(response.Body)
			if response.StatusCode != c.want || !strings.Contains(string(body), c.says) {
				t.Errorf("the answer is %d %s, want %d with %q", response.StatusCode, body, c.want, c.says)
			}
		})
	}
	if !strings.Contains(log.String(), `"user":"alice"`) && !strings.Contains(log.String(), "user=alice") {
		t.Errorf("the audit does not name who had a certificate:\n%s", log)
	}
}

// Groups are the organizations, and the one of everybody.
func TestGroupsOfCertificates(t *testing.T) {
	own := certtest.New(t)
	authorities, err := NewClientCA(own.File, time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(loaded(t, own.Issue(time.Now().Add(time.Hour), "alice")).Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	leaf.Subject.Organization = []string{"dev", "ops"}
	user, presented, valid := authorities.User(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}})
	if !presented || !valid || user.Username != "alice" ||
		!slices.Equal(user.Groups, []string{"dev", "ops", "system:authenticated"}) {
		t.Errorf("%+v, %t, %t", user, presented, valid)
	}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	ofServer := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
	if _, presented, valid := authorities.User(ofServer); !presented || valid {
		t.Error("the certificate of a server is one of a client")
	}
	if _, presented, _ := (*ClientCA)(nil).
		User(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}); presented {
		t.Error("certificates count where none are wanted")
	}
}

// Authorities are read again; a file that is broken changes nothing but the log.
func TestClientCAIsReloaded(t *testing.T) {
	first, second := certtest.New(t), certtest.New(t)
	file, now, complaints := filepath.Join(t.TempDir(), "ca.crt"), time.Now(), 0
	put := func(from string) {
		text := []byte("nonsense")
		if from != "" {
			text, _ = os.ReadFile(from)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		now = now.Add(2 * lookAtMost)
		if err := os.Chtimes(file, now, now); err != nil {
			t.Fatal(err)
		}
	}
	put(first.File)
	authorities, err := NewClientCA(file, func() time.Time { return now }, func(error) { complaints++ })
	if err != nil {
		t.Fatal(err)
	}
	believes := func(a *certtest.Authority) bool {
		leaf, err := x509.ParseCertificate(loaded(t, a.Issue(time.Now().Add(time.Hour), "alice")).Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _, valid := authorities.User(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}})
		return valid
	}
	if !believes(first) || believes(second) {
		t.Error("the authority is not that of the file")
	}
	put(second.File)
	if believes(first) || !believes(second) {
		t.Error("the authority is still the one before")
	}
	put("")
	if !believes(second) || complaints != 1 {
		t.Errorf("with a broken file there are %d complaints", complaints)
	}
	if _, err := NewClientCA(file, time.Now, nil); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a broken file at the beginning: %v", err)
	}
}
