package bundle

import "github.com/berthdev/berth/internal/bundle/source"

// Forget removes what was made of the argument.
func (o *SourceOptions) Forget() { o.target = source.Target{} }
