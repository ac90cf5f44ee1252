package binaries

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKey(t *testing.T) {
	old, newest := find(t, "1.31"), find(t, "")
	sources := func(main string) map[string][]byte {
		return map[string][]byte{"go.mod": []byte("module x"), "go.sum": nil, "main.go": []byte(main)}
	}
	key := Key(newest, sources("a"), "linux", "amd64")
	if key != Key(newest, sources("a"), "linux", "amd64") {
		t.Error("the same sources have different keys")
	}
	for what, other := range map[string]string{
		"sources":      Key(newest, sources("b"), "linux", "amd64"),
		"architecture": Key(newest, sources("a"), "linux", "arm64"),
		"version":      Key(old, sources("a"), "linux", "amd64"),
	} {
		if other == key {
			t.Errorf("another %s has the same key", what)
		}
	}
	if !strings.HasPrefix(key, newest.Full+"-") {
		t.Errorf("key %q does not begin with the version", key)
	}
}

func find(t *testing.T, minor string) Version {
	t.Helper()
	v, err := Find(minor)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The version that the programs say they have is the one they are built from.
func TestVersions(t *testing.T) {
	for _, v := range Versions() {
		data, err := os.ReadFile(filepath.Join("..", "..", "kubernetes", v.Module))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "k8s.io/kubernetes "+v.Full+"\n") {
			t.Errorf("kubernetes/%s does not require k8s.io/kubernetes %s", v.Module, v.Full)
		}
		if !strings.HasPrefix(v.Full, "v"+v.Minor+".") {
			t.Errorf("%s is asked for as %s", v.Full, v.Minor)
		}
	}
	if v := find(t, ""); v.Minor != Newest || !v.AtLeast("1.34") || find(t, "1.31").AtLeast("1.34") {
		t.Errorf("versions are out of order, or %s is not the newest", v.Minor)
	}
	const want = `there is no test cluster of Kubernetes "1.30": name one of 1.31, 1.34, 1.36`
	if _, err := Find("1.30"); err == nil || err.Error() != want {
		t.Errorf("1.30: %v, want %s", err, want)
	}
}
