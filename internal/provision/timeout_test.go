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
		users  []string
		want   time.Duration
	}{
		{userstring.Own, []string{plain, into}, 0},
		{userstring.K8shell, []string{plain}, 20 * time.Second},
		{userstring.K8shell, []string{into}, 120 * time.Second},
		{userstring.K8shell, []string{plain, into}, 120 * time.Second},
	} {
		p := &Provisioner{}
		p.Scheme = test.scheme
		var users []userstring.UserString
		for _, text := range test.users {
			u, err := userstring.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			users = append(users, u)
		}
		if got := p.Timeout(users...); got != test.want {
			t.Errorf("%q with %q: %s, want %s", test.users, test.scheme, got, test.want)
		}
	}
}
