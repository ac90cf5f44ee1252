package provision

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/userstring"
)

// How long is waited where nothing says it: for ever, or as k8shell does.
func TestTimeout(t *testing.T) {
	plain, into := "alice~dev", "alice~dev+workload=deployment/web+ns=shop"
	for _, test := range []struct {
		scheme userstring.Scheme
		user   string
		want   time.Duration
	}{
		{userstring.Own, plain, 0},
		{userstring.K8shell, plain, 20 * time.Second},
		{userstring.K8shell, into, 120 * time.Second},
		{userstring.Own, into, 0},
	} {
		p := &Provisioner{}
		p.Scheme = test.scheme
		u, err := userstring.Parse(test.user)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Timeout(u); got != test.want {
			t.Errorf("%q with %q: %s, want %s", test.user, test.scheme, got, test.want)
		}
	}
}
