package v1

// BundleDiff is the answer to `berth bundle diff`: what an installation would change.
type BundleDiff struct {
	TypeMeta
	Name  string             `json:"name"`
	Items []BundleDiffObject `json:"items"`
}

// BundleDiffObject is an object that would change.
type BundleDiffObject struct {
	Object    string `json:"object"` // kind/name
	Namespace string `json:"namespace,omitempty"`
	// Action is create, update or delete.
	Action string `json:"action"`
	// Diff are the lines that would change, as diff --unified has them. What Secrets hold
	// is masked.
	Diff string `json:"diff,omitempty"`
}
