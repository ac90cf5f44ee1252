package manifest

import (
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// jsonValue is a value as unstructured objects hold it: maps, lists, texts,
// int64 and float64.
func jsonValue(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return nil // what comes from YAML and from types of the API is JSON
	}
	var out any
	if err := utiljson.Unmarshal(text, &out); err != nil {
		return nil
	}
	return out
}
