package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/fault"
)

// secretWith is a Secret that Helm takes for the first record of a release.
func secretWith(data []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "sh.helm.release.v1.a.v1", Namespace: "ns",
			Labels: map[string]string{"owner": "helm", "name": "a", "version": "1", "status": "deployed"},
		},
		Type: recordType,
		Data: map[string][]byte{recordKey: data},
	}
}

func packed(text []byte) []byte {
	return []byte(base64.StdEncoding.EncodeToString(squeezed(text)))
}

// squeezed is what compress does, in less time.
func squeezed(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Bytes()
}

// whole is a record as berth writes it, changed.
func whole(t testing.TB, change func(map[string]any)) []byte {
	t.Helper()
	c, err := Chart()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(NewRecord("a", "ns", &Rendered{Chart: c, Manifest: manifest}, time.Unix(1795218685, 0)))
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	change(record)
	if text, err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	return text
}

// A record that cannot be read is an error that names its Secret, says what is wrong
// with it and what to do, and takes no more memory than a good one may.
func TestUnreadableRecords(t *testing.T) {
	good := packed(whole(t, func(map[string]any) {}))
	set := func(key string, value any) []byte {
		return packed(whole(t, func(r map[string]any) { r[key] = value }))
	}
	inSecret := func(change func(*corev1.Secret)) *corev1.Secret {
		s := secretWith(good)
		change(s)
		return s
	}
	for name, test := range map[string]struct {
		secret *corev1.Secret
		says   string
	}{
		"nothing":             {secretWith(nil), "it has no release"},
		"no data at all":      {inSecret(func(s *corev1.Secret) { s.Data = nil }), "it has no release"},
		"not base64":          {secretWith([]byte("{}")), "not base64"},
		"not gzip":            {secretWith([]byte(base64.StdEncoding.EncodeToString([]byte("{}")))), "not gzip"},
		"cut off":             {secretWith(good[:len(good)/2/4*4]), "unexpected EOF"},
		"an empty document":   {secretWith(packed(nil)), "not JSON"},
		"an empty object":     {secretWith(packed([]byte("{}"))), "it is not about release a"},
		"null":                {secretWith(packed([]byte("null"))), "it is not about release a"},
		"a list":              {secretWith(packed([]byte("[]"))), "not JSON of a release"},
		"no info":             {secretWith(set("info", nil)), "it has no status"},
		"a number for a text": {secretWith(set("manifest", 7)), "not JSON of a release"},
		"another release":     {secretWith(set("name", "b")), "it is not about release a"},
		"another version":     {secretWith(set("version", 2)), "it is not about release a"},
		"another type":        {inSecret(func(s *corev1.Secret) { s.Type = "Opaque" }), "its type is Opaque"},
		"an odd version": {inSecret(func(s *corev1.Secret) {
			s.Labels["version"] = "x"
			s.Name = "sh.helm.release.v1.a.vx"
		}), "it is not about release a"},
		"a manifest of rubble": {secretWith(set("manifest", "a: b: c")), "manifest"},
		"a manifest of texts":  {secretWith(set("manifest", "- a\n- b\n")), "manifest"},
		"a huge document": {
			secretWith(packed(bytes.Repeat([]byte(" "), 64<<20))),
			"larger than 16 MiB when unpacked",
		},
		"a huge text": {
			secretWith(packed([]byte(`{"name":"` + strings.Repeat("a", 64<<20) + `"}`))),
			"larger than 16 MiB when unpacked",
		},
		"many values": {secretWith(packed([]byte(`{"config":{"a":[` + strings.Repeat("{},", 5_000_000) +
			`{}]}}`))), "more than 100000 values"},
		"a manifest of values": {secretWith(set("manifest", strings.Repeat("- {}\n", 1_000_000))), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			records := Records{Secrets: clientset.NewClientset(test.secret).CoreV1().Secrets("ns"), Namespace: "ns"}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found, err := records.Latest(t.Context(), "a")
			runtime.ReadMemStats(&after)
			if found != nil || fault.CodeOf(err) != fault.Failed || fault.ReasonOf(err) != ReasonUnreadable {
				t.Fatalf("%+v, %v", found, err)
			}
			if !strings.Contains(err.Error(), "Secret ns/"+test.secret.Name) ||
				!strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want it to say %q", err, test.says)
			}
			if !strings.Contains(fault.From(err).Hint, "berth delete id/a") {
				t.Errorf("the hint is %q", fault.From(err).Hint)
			}
			if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 150<<20 {
				t.Errorf("%d MB were allocated", bytes>>20)
			}
		})
	}
}

// What a record may have at most is read within the same memory.
func TestTheLargestRecord(t *testing.T) {
	text := whole(t, func(r map[string]any) {
		r["manifest"] = "a: [" + strings.Repeat("{},", maxMarks/2-2) + "{}]\n"
		r["config"] = map[string]any{"a": strings.Repeat("x", 10<<20), "b": make([]int, 80_000)}
	})
	records := Records{
		Secrets:   clientset.NewClientset(secretWith(packed(text))).CoreV1().Secrets("ns"),
		Namespace: "ns",
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := records.Latest(t.Context(), "a")
	runtime.ReadMemStats(&after)
	if err != nil || found == nil {
		t.Fatal(err)
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 200<<20 {
		t.Errorf("%d MB were allocated", bytes>>20)
	}
}

// What is older than a record that can be read is of no interest; what is newer is.
func TestTheNewestRecordCounts(t *testing.T) {
	good, older, newer := secretWith(packed(whole(t, func(map[string]any) {}))), secretWith(nil), secretWith(nil)
	older.Name, older.Labels = "older", map[string]string{"owner": "helm", "name": "a", "version": "0"}
	newer.Name, newer.Labels = "newer", map[string]string{"owner": "helm", "name": "a", "version": "10"}
	records := Records{Secrets: clientset.NewClientset(good, older).CoreV1().Secrets("ns"), Namespace: "ns"}
	if found, err := records.Latest(t.Context(), "a"); err != nil || found == nil || found.Version != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	records.Secrets = clientset.NewClientset(good, newer).CoreV1().Secrets("ns")
	if _, err := records.Latest(t.Context(), "a"); fault.ReasonOf(err) != ReasonUnreadable ||
		!strings.Contains(err.Error(), "ns/newer") {
		t.Errorf("%v", err)
	}
}

// Whatever a Secret holds, it is a record that everything can work with, or an error
// that names it.
func FuzzRecord(f *testing.F) {
	f.Add(whole(f, func(map[string]any) {}))
	for _, seed := range []string{
		"", "{}", "null", "[]", `{"name":"a","version":1,"info":{}}`,
		`{"name":"a","version":1,"info":{"status":"failed","description":"Refused by the cluster: ` +
			`x"},"manifest":"kind: Pod"}`,
		`{"name":"a","version":1,"info":{"first_deployed":""},"manifest":"--- \n---"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, data := range [][]byte{packed(text), text} {
			records := Records{
				Secrets:   clientset.NewClientset(secretWith(data)).CoreV1().Secrets("ns"),
				Namespace: "ns",
			}
			found, err := records.Latest(t.Context(), "a")
			if err != nil {
				if found != nil || fault.ReasonOf(err) != ReasonUnreadable ||
					!strings.Contains(err.Error(), "ns/sh.helm.release.v1.a.v1") {
					t.Errorf("%+v, %v", found, err)
				}
				continue
			}
			if _, err := Objects(found.Manifest); err != nil || key(found) != "sh.helm.release.v1.a.v1" {
				t.Errorf("%s: %v", key(found), err)
			}
			RefusedSince(nil, found)
			if _, err := (Records{}).encode(found, createdAt); err != nil {
				t.Errorf("%v", err)
			}
			Deployed(found, time.Now())
		}
	})
}
