package diagnose

import "testing"

func TestLost(t *testing.T) {
	for log, want := range map[string]bool{
		"unable to retrieve container logs for containerd://bcdaa84b":                                   true,
		`failed to try resolving symlinks in path "/var/log/pods/a/b/2.log": no such file or directory`: true,
		"starting workspace\nunable to retrieve container logs for fun":                                 false,
		"": false,
	} {
		if got := lost(log); got != want {
			t.Errorf("%q: %t", log, got)
		}
	}
}
