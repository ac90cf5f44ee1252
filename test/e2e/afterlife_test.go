//go:build e2e

package e2e

import (
	"maps"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// An afterlife that is raised while pods run counts for them: what a pod asked for and what the node grants are kept
// apart, and combined when the pod ends. One that is raised after that changes nothing.
func TestScratchAfterlifeIsRaised(t *testing.T) {
	s := newScratch(newWorld(t), "--afterlife", "30m")
	s.create(s.with(pod("early", "sleep 3600"), map[string]string{"afterlife": "2h"}))
	s.create(s.with(pod("asks", "sleep 3600"), map[string]string{"afterlife": "2h"}))
	s.create(s.with(pod("silent", "sleep 3600"), nil))
	s.create(s.with(pod("brief", "sleep 3600"), map[string]string{"afterlife": "10m"}))
	for _, name := range []string{"early", "asks", "silent", "brief"} {
		s.running(name)
	}
	s.delete("early") // which the API server no longer has before the kubelet has unmounted anything
	s.eventually("it is in its afterlife", func() bool { return len(s.lifespans()) == 1 })

	file := s.write(t.TempDir(), "raised.yaml", s.must(0, "serve", "manifests", "volumes", "--image",
		"registry.example.com/berth/berth:"+s.program(binary), "--driver-name", s.driver, "--directory", s.directory,
		"--afterlife", "3h").stdout)
	s.kubectl("apply", "--server-side", "-f", file)
	s.ready()
	s.delete("asks", "silent", "brief")

	want := map[string]time.Duration{
		"early": 30 * time.Minute, "asks": 2 * time.Hour, "silent": 3 * time.Hour, "brief": 10 * time.Minute,
	}
	var got map[string]time.Duration
	s.eventually("all four are in their afterlife", func() bool {
		got = s.lifespans()
		return len(got) == len(want)
	})
	if !maps.Equal(got, want) {
		t.Errorf("afterlives %v, want %v", got, want)
	}
}

// lifespans are those of what waits on the node, by the names of the pods.
func (s *scratch) lifespans() map[string]time.Duration {
	s.Helper()
	list := decode[v1.VolumeList](s.world,
		s.must(0, "volume", "list", "--driver-namespace", s.namespace, "-o", "json"))
	lifespans := map[string]time.Duration{}
	for _, v := range list.Items {
		lifespans[v.Pod] = time.Duration(v.LifespanSeconds * float64(time.Second))
	}
	return lifespans
}
