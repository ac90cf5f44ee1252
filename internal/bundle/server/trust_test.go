package server

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// A token goes to Services of the cluster and to the hosts that are named, whatever a
// name tries to look like.
func TestTrust(t *testing.T) {
	trust := Trust{Hosts: []string{"bundles.example.com", "other.example.com:8443", "[::1]:9443", "192.0.2.1"}}
	for host, want := range map[string]bool{
		"core.rukpak-system.svc":               true,
		"core.rukpak-system.svc:8443":          true,
		"Core.rukpak-system.SVC":               true,
		"core.rukpak-system.svc.cluster.local": true,
		"core.rukpak-system.svc.example.com":   false,
		"core.svc":                             false,
		"svc":                                  false,
		"a.b.c.svc":                            false,
		".b.svc":                               false,
		"core.rukpak-system.svc.":              false,
		"core.rukpak-system.svc.cluster.local.example.com": false,
		"xcore-rukpak-systemsvc":                           false,
		"core.rukpak-system":                               false,
		"bundles.example.com":                              true,
		"bundles.example.com:443":                          true,
		"BUNDLES.example.com":                              true,
		"bundles.example.com:8443":                         false,
		"other.example.com":                                false,
		"other.example.com:8443":                           true,
		"evil.bundles.example.com":                         false,
		"bundles.example.com.evil.example":                 false,
		"[::1]:9443":                                       true,
		"[::1]":                                            false,
		"192.0.2.1":                                        true,
		"192.0.2.10":                                       false,
	} {
		at, err := url.Parse("https://" + host + "/bundles/web.tgz")
		if err != nil {
			t.Fatal(err)
		}
		err = trust.mayHaveToken(at)
		if (err == nil) != want {
			t.Errorf("%s: %v, want %t", host, err, want)
		}
		if err != nil && (fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), host) ||
			!strings.Contains(fault.From(err).Hint, "--content-host "+host)) {
			t.Errorf("%s: %s %v (%s)", host, fault.CodeOf(err), err, fault.From(err).Hint)
		}
	}
}

func TestTrustCheck(t *testing.T) {
	junk := filepath.Join(t.TempDir(), "ca")
	if err := os.WriteFile(junk, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		trust Trust
		want  string
	}{
		{Trust{}, ""},
		{Trust{Hosts: []string{"a.example.com", "b:1", "[::1]:2"}}, ""},
		{Trust{Hosts: []string{"https://a.example.com"}}, "--content-host must be HOST or HOST:PORT"},
		{Trust{Hosts: []string{"a.example.com/x"}}, "--content-host must be"},
		{Trust{Hosts: []string{"me@a.example.com"}}, "--content-host must be"},
		{Trust{Hosts: []string{""}}, "--content-host must be"},
		{Trust{CAFile: junk}, "has no certificate in PEM"},
		{Trust{CAFile: junk + "-that-is-not-there"}, "--content-ca"},
	} {
		err := c.trust.Check()
		if c.want == "" && err != nil || c.want != "" &&
			(fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c.trust, err)
		}
	}
}
