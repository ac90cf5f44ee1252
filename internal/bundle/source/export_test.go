package source

import "github.com/berthdev/berth/api/bundle/v1alpha1"

// Check is what Fetch finds out first.
func Check(s v1alpha1.Source) error { return check(s) }
