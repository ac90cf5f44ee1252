package manifest

import (
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
	got, homes := Injectable(b)
	if strings.Join(homes, " ") != "a b c home" || len(got.Storages) != 2 || len(b.Storages) != 6 {
		t.Errorf("left out: %s; kept: %v", homes, got.Storages)
	}
}
