package binaries

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKey(t *testing.T) {
	sources := func(main string) map[string][]byte {
		return map[string][]byte{"go.mod": []byte("module x"), "go.sum": nil, "main.go": []byte(main)}
	}
	key := Key(sources("a"), "linux", "amd64")
	if key != Key(sources("a"), "linux", "amd64") {
		t.Error("the same sources have different keys")
	}
	for what, other := range map[string]string{
		"sources":      Key(sources("b"), "linux", "amd64"),
		"architecture": Key(sources("a"), "linux", "arm64"),
	} {
		if other == key {
			t.Errorf("another %s has the same key", what)
		}
	}
	if !strings.HasPrefix(key, Version+"-") {
		t.Errorf("key %q does not begin with the version", key)
	}
}

// The version that the programs say they have is the one they are built from.
func TestVersion(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "kubernetes", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "k8s.io/kubernetes "+Version+"\n") {
		t.Errorf("kubernetes/go.mod does not require k8s.io/kubernetes %s", Version)
	}
}
