package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/blueprint"
)

// Home directories do not go into other people's workloads.
func TestInjectable(t *testing.T) {
	b := blueprint.Blueprint{
		Env: map[string]string{"HOME": "/work/"},
		Storages: map[string]blueprint.Storage{
			"home": {Path: "/x"}, "a": {Path: "/home/dev"}, "b": {Path: "/root"}, "c": {Path: "/work"},
			"data": {Path: "/data"}, "deep": {Path: "/home/dev/data"},
		},
	}
	s := spec(t, "alice~repo=org/proj+ns=workspaces+workload=deployment/web", b)
	s.Access.Repositories = []RepositoryAccess{{
		URL: "https://github.com", Username: "alice", Password: "hunter2",
		InWorkspace: true,
	}}
	s.Repository = s.Access.Clone(s.User)
	got, leftOut := s.Injectable()
	want := []string{
		"storage a is", "storage b is", "storage c is", "storage home is",
		"the credentials of https://github.com are left out",
	}
	if !slices.EqualFunc(leftOut, want, strings.HasPrefix) || len(got.Blueprint.Storages) != 2 || len(b.Storages) != 6 {
		t.Errorf("left out: %q; kept: %v", leftOut, got.Blueprint.Storages)
	}
	pod := podOf(t, got)
	if len(pod.Spec.InitContainers) > 0 || len(got.Private()) > 0 || strings.Contains(fmt.Sprint(pod.Spec), "GIT_CONFIG") {
		t.Errorf("it has more than it may: %+v", pod.Spec)
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil || v.Name == "repository" {
			t.Errorf("it has volume %s", v.Name)
		}
	}
}
