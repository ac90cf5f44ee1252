package v1

// DeletedStorage is one storage of a workspace that was deleted.
type DeletedStorage struct {
	// Name is that of the blueprint's storage.
	Name string `json:"name"`
	// Claim is the name of the PersistentVolumeClaim.
	Claim string `json:"claim"`
	// Capacity is a Kubernetes quantity.
	Capacity string `json:"capacity,omitempty"`
	// Kept is true if the claim is left, for the next workspace of the same user string.
	Kept bool `json:"kept,omitempty"`
}
