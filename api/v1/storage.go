package v1

import "strings"

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

// String is its name and its capacity: home (20Gi).
func (s DeletedStorage) String() string {
	if s.Capacity == "" {
		return s.Name
	}
	return s.Name + " (" + s.Capacity + ")"
}

// StorageText names those of the storages that were deleted, or those that were kept,
// in a few words; it is empty without any.
func StorageText(all []DeletedStorage, kept bool) string {
	var names []string
	for _, s := range all {
		if s.Kept == kept {
			names = append(names, s.String())
		}
	}
	became := " deleted"
	if kept {
		became = " kept"
	}
	if len(names) == 0 {
		return ""
	}
	return "storage " + strings.Join(names, ", ") + became
}
