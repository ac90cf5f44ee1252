package bundle

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/source"
)

// Forget removes what was made of the argument.
func (o *SourceOptions) Forget() { o.target = source.Target{} }

// Compare is what a diff has of a change.
func Compare(c apply.Change) (v1.BundleDiffObject, error) { return compare(c) }
