package provider

import (
	"testing"

	"k8s.io/client-go/kubernetes/fake"
)

// The credentials decide what is asked first; the cluster decides. One question
// is enough where the credentials tell the truth about the caller.
func TestQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		self, caller string
		impersonate  bool
		allowed      bool
		questions    int
	}{
		"alice is alice":                    {"alice", "alice", false, true, 1},
		"an admin acts for alice":           {"admin", "admin", true, true, 1},
		"a stranger does not":               {"bob", "bob", false, false, 2},
		"nothing is known of alice":         {"", "alice", false, true, 2},
		"nothing is known of an admin":      {"", "admin", true, true, 2},
		"the credentials have another name": {"0a1b2c", "alice", false, true, 2},
		"the credentials lie":               {"alice", "mallory", false, false, 2},
		"they lie, and it does not matter":  {"alice", "admin", true, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			k := clusterOf(c.caller, c.impersonate)
			k.self = c.self
			_, err := k.Resolve(t.Context(), "alice")
			if (err == nil) != c.allowed {
				t.Errorf("allowed is %t: %v", c.allowed, err)
			}
			client, _ := k.client.(*fake.Clientset)
			if n := len(client.Actions()); n != c.questions {
				t.Errorf("%d questions, want %d", n, c.questions)
			}
		})
	}
}
