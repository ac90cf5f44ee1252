package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	strictjson "sigs.k8s.io/json"
)

// has says whether objects have one of a kind and a name.
func has(objects []*unstructured.Unstructured, kind, name string) bool {
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return true
		}
	}
	return false
}

// plainObject is an object with nothing but its name.
func plainObject(version, kind, namespace, name string) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata}
}

// shorten cuts a name to a number of characters, and keeps it apart from others that begin
// the same.
func shorten(name string, most int) string {
	if len(name) <= most {
		return name
	}
	suffix := "-" + digest(name)
	return strings.TrimRight(name[:most-len(suffix)], "-.") + suffix
}

// digest is a short hash of a text, to be a part of a name.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

// generic is a value as it is read from JSON.
func generic(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = strictjson.UnmarshalCaseSensitivePreserveInts(text, &out)
	}
	if err != nil {
		return nil
	}
	return out
}
