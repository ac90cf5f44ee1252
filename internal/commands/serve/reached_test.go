package serve

import (
	"net"
	"testing"
)

// A server that no bundle names says where it is reached, or that it is not.
func TestReached(t *testing.T) {
	for name, test := range map[string]struct {
		at      string
		secured bool
		want    string
	}{
		"without a certificate": {
			"127.0.0.1:8443", false,
			"content is served to this host alone, at http://127.0.0.1:8443/bundles/BUNDLE.tgz",
		},
		"with one, on this host": {
			"[::1]:8443", true, "content is served to this host alone, at https://[::1]:8443/bundles/BUNDLE.tgz",
		},
		"everywhere": {"[::]:8443", true, "content is served at https://node-1:8443/bundles/BUNDLE.tgz"},
		"an address": {"192.0.2.1:443", true, "content is served at https://192.0.2.1:443/bundles/BUNDLE.tgz"},
	} {
		at, err := net.ResolveTCPAddr("tcp", test.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := reached(at, "node-1", test.secured); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
