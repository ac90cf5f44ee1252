package explain

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	v1 "github.com/berthdev/berth/api/v1"
)

// examples are made of the dumps in the test data of diagnose, by `make generate`: of each
// cause a part of its Explanation, how the policies treat it and an example.
//
//go:embed examples/*.json
var examples embed.FS

// observed completes what the catalogue says with what the dumps show.
func observed(e v1.Explanation) (v1.Explanation, error) {
	text, err := examples.ReadFile("examples/" + e.Code + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		return e, fmt.Errorf("the example of %s: %w", e.Code, err)
	}
	return e, nil
}
