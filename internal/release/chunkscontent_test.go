package release

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes/fake"
)

// What is in a chunk is believed only if it is the release that the record is about.
func TestContentOfChunks(t *testing.T) {
	for name, test := range map[string]struct{ packed, says string }{
		"the release": {string(squeezed([]byte(`{"name":"a","version":1,"manifest":"kind: ` +
			`Pod","info":{"notes":"hello"}}`))), ""},
		"no notes":         {string(squeezed([]byte(`{"name":"a","version":1,"manifest":"kind: Pod"}`))), ""},
		"not gzip":         {"nonsense", "not gzip: "},
		"not JSON":         {string(squeezed([]byte("nonsense"))), "not JSON of a release: "},
		"another release":  {string(squeezed([]byte(`{"name":"b","version":1}`))), "it is not about release a"},
		"another revision": {string(squeezed([]byte(`{"name":"a","version":2}`))), "it is not about release a"},
		"a broken manifest": {
			string(squeezed([]byte(`{"name":"a","version":1,"manifest":"a: b: c"}`))),
			"manifest: ",
		},
		"more than it may be": {string(squeezed([]byte(strings.Repeat(" ", maxDocument+1)))), "larger than 16 MiB"},
	} {
		sum := sha256.Sum256([]byte(test.packed))
		digest := hex.EncodeToString(sum[:])
		record := &helm.Release{
			Name: "a", Version: 1, Info: &helm.Info{Status: helm.StatusFailed, Description: "no"},
			Chart: &chart.Chart{Metadata: &chart.Metadata{Annotations: map[string]string{
				labelChunks: "1",
				keyDigest:   digest,
			}}},
		}
		chunk := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: chunkName(record, digest, 0), Namespace: "ns"},
			Data:       map[string][]byte{chunkKey: []byte(test.packed)},
		}
		records := Records{Secrets: clientset.NewClientset(chunk).CoreV1().Secrets("ns"), Namespace: "ns"}
		for _, labels := range []map[string]string{nil, {"team": "red"}} {
			record.Labels, record.Info.Notes = maps.Clone(labels), ""
			found, err := records.whole(t.Context(), record)
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err != nil || found.Manifest != "kind: Pod" || found.Info.Description != "no" ||
				found.Labels["team"] != labels["team"] || !IsInChunks(found) {
				t.Errorf("%s: %+v, %v", name, found, err)
			}
			if hello := found.Info.Notes == "hello"; hello != (name == "the release") {
				t.Errorf("%s: the notes are %q", name, found.Info.Notes)
			}
		}
	}
}

// As many chunks as there may be are looked for.
func TestMostChunks(t *testing.T) {
	notes := map[string]string{labelChunks: "64", keyDigest: strings.Repeat("a", 64)}
	small := &helm.Release{
		Name: "a", Version: 1, Info: &helm.Info{},
		Chart: &chart.Chart{Metadata: &chart.Metadata{Annotations: notes}},
	}
	_, err := Records{Secrets: clientset.NewClientset().CoreV1().Secrets("ns"), Namespace: "ns"}.whole(t.Context(),
		small)
	if err == nil || err.Error() != "its chunk berth.release.v1.a.v1.aaaaaaaaaaaa.0 is missing" {
		t.Error(err)
	}
}

// What stands for a release in chunks shows what it is, and has nothing that is large.
func TestStub(t *testing.T) {
	metadata := &chart.Metadata{APIVersion: "v2", Name: "boats", Version: "1.2.3", AppVersion: "7"}
	for name, test := range map[string]struct {
		chart *chart.Chart
		want  [3]string
	}{
		"of a chart": {
			&chart.Chart{Metadata: metadata, Values: map[string]any{"a": "b"}},
			[3]string{"boats", "1.2.3", "7"},
		},
		"of no chart":            {nil, [3]string{"a", "0.0.0", ""}},
		"of one without details": {&chart.Chart{}, [3]string{"a", "0.0.0", ""}},
	} {
		whole := &helm.Release{
			Name: "a", Version: 3, Chart: test.chart, Config: map[string]any{"a": "b"},
			Hooks:    []*helm.Hook{{Name: "x"}},
			Manifest: "kind: Pod", Info: &helm.Info{Status: helm.StatusFailed, Description: "no", Notes: "hello"},
			Labels: map[string]string{"team": "red"},
		}
		small := stub(whole, 2, "digest")
		m := small.Chart.Metadata
		if got := [3]string{m.Name, m.Version, m.AppVersion}; got != test.want || len(small.Chart.Values) > 0 {
			t.Errorf("%s: %q, %v", name, got, small.Chart.Values)
		}
		if !maps.Equal(m.Annotations, map[string]string{labelChunks: "2", keyDigest: "digest"}) ||
			!maps.Equal(small.Labels, map[string]string{labelChunks: "2"}) {
			t.Errorf("%s: %v, %v", name, m.Annotations, small.Labels)
		}
		if small.Config != nil || small.Hooks != nil || small.Info.Notes != "" ||
			strings.Contains(small.Manifest, "Pod") {
			t.Errorf("%s: it has %+v", name, small)
		}
		if small.Name != "a" || small.Version != 3 || small.Info.Status != helm.StatusFailed ||
			small.Info.Description != "no" {
			t.Errorf("%s: it is %+v, %+v", name, small, small.Info)
		}
		if whole.Info.Notes != "hello" || whole.Chart != test.chart || whole.Labels["team"] != "red" {
			t.Errorf("%s: the release has become %+v", name, whole)
		}
	}
}
