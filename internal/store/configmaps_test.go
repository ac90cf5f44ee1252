package store_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

func configMaps(client kube.Interface, now func() time.Time) store.ConfigMaps {
	return store.ConfigMaps{
		Client: client, Namespace: "team", NamePrefix: "test-", DataKey: "text", KeyLabel: "example.com/key",
		Keep: time.Hour, ExpiryLabel: "example.com/expires", Now: now,
	}
}

func TestConfigMapsConform(t *testing.T) {
	s := configMaps(newCluster(), time.Now)
	storetest.Conform(t, s)
	s.Keep, s.ExpiryLabel, s.Now, s.Labels = 0, "", nil, map[string]string{"example.com/kind": "desired"}
	storetest.Conform(t, s)
}

func TestConfigMapHasItsLabels(t *testing.T) {
	now := time.Unix(1000, 0)
	s := configMaps(newCluster(), func() time.Time { return now })
	s.Labels = map[string]string{"mine": "true"}
	_, err := s.Put(t.Context(), store.Document{Key: "a", Value: []byte("x"), Labels: map[string]string{"of": "alice"}})
	check(t, err)
	object, err := s.Client.CoreV1().ConfigMaps("team").Get(t.Context(), "test-a", metav1.GetOptions{})
	check(t, err)
	l := object.Labels
	if l["example.com/key"] != "a" || l["example.com/expires"] != "4600" || l["mine"] != "true" || l["of"] != "alice" ||
		object.Data["text"] != "x" {
		t.Errorf("%+v", object)
	}
	for value, want := range map[string]int{"true": 1, "false": 0} {
		s.Labels["mine"] = value
		if all, err := s.List(t.Context()); err != nil || len(all) != want {
			t.Errorf("of those with mine=%s %d are listed, want %d: %v", value, len(all), want, err)
		}
	}
}

// What has expired is hidden before it is deleted, and each write counts.
func TestConfigMapsExpire(t *testing.T) {
	now := time.Unix(1000, 0)
	s := configMaps(newCluster(), func() time.Time { return now })
	_, err := s.Put(t.Context(), store.Document{Key: "a"})
	check(t, err)
	now = now.Add(59 * time.Minute)
	_, err = s.Put(t.Context(), store.Document{Key: "b"})
	check(t, err)
	now = now.Add(2 * time.Minute)
	if all, err := s.List(t.Context()); err != nil || len(all) != 1 || all[0].Key != "b" {
		t.Errorf("listed %+v, %v", all, err)
	}
	if _, err := s.Get(t.Context(), "a"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an expired document is read: %v", err)
	}
	if _, err := s.Get(t.Context(), "b"); err != nil {
		t.Error(err)
	}
}

// What is kept for ever is not swept.
func TestConfigMapsAreKept(t *testing.T) {
	s := configMaps(newCluster(), nil)
	s.Keep, s.ExpiryLabel = 0, ""
	_, err := s.Put(t.Context(), store.Document{Key: "a"})
	check(t, err)
	check(t, s.Sweep(t.Context()))
	_, err = s.Get(t.Context(), "a")
	check(t, err)
}

// In all namespaces, a key says which of them a document is in.
func TestConfigMapsOfAllNamespaces(t *testing.T) {
	here := configMaps(newCluster(), time.Now)
	there, everywhere := here, here
	there.Namespace, everywhere.Namespace = "other", ""
	for _, s := range []store.ConfigMaps{here, there} {
		_, err := s.Put(t.Context(), store.Document{Key: "a"})
		check(t, err)
	}
	all, err := everywhere.List(t.Context())
	check(t, err)
	keys := []string{all[0].Key, all[1].Key}
	slices.Sort(keys)
	if !slices.Equal(keys, []string{"other.a", "team.a"}) {
		t.Errorf("listed %v", keys)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
