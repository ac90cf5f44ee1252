package v1

import "time"

// VolumeList is what `berth volume list` finds: the scratch volumes whose pods are gone.
type VolumeList struct {
	TypeMeta
	// Items are in the order of the nodes; on each node, the one that was deleted first comes first.
	Items []Volume `json:"items"`
	// Nodes are those that have a driver of scratch volumes.
	Nodes []VolumeNode `json:"nodes"`
}

// Volume is a scratch volume whose pod is gone, and which its node keeps for a while.
type Volume struct {
	TypeMeta
	// ID is unique on its node.
	ID   string `json:"id"`
	Node string `json:"node"`
	// Namespace, Pod and PodUID are those of the pod that had it.
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	PodUID    string `json:"podUid"`
	// Workspace, UserString and Storage are what the pod said; nobody has verified that.
	Workspace  string `json:"workspace,omitempty"`
	UserString string `json:"userString,omitempty"`
	Storage    string `json:"storage,omitempty"`
	// CreatedAt is when it was made, and DeletedAt when its pod went.
	CreatedAt time.Time `json:"createdAt"`
	DeletedAt time.Time `json:"deletedAt"`
	// LifespanSeconds is how long it is kept while there is room on the disk.
	LifespanSeconds float64 `json:"lifespanSeconds"`
	// GoesAt is when it is removed if the disk stays as full as it is.
	GoesAt time.Time `json:"goesAt"`
	// Bytes and Inodes are what it takes on the disk; absent if it is not measured yet.
	Bytes  *int64 `json:"bytes,omitempty"`
	Inodes *int64 `json:"inodes,omitempty"`
	// Failure is why it could not be removed when it was due.
	Failure string `json:"failure,omitempty"`
}

// VolumeNode is a node that has a driver of scratch volumes.
type VolumeNode struct {
	Name string `json:"name"`
	// Pod is the driver's.
	Pod string `json:"pod"`
	// Error is why the node has not answered; what else is said of it is 0 then.
	Error *Error `json:"error,omitempty"`
	// Used is how many volumes pods use, and Kept how many are kept whose pods are gone.
	Used int `json:"used"`
	Kept int `json:"kept"`
	// Factor is by how much a full disk shortens every lifespan: 1 while there is room.
	Factor float64 `json:"factor"`
	// FreeBytes and TotalBytes are those of the disk, and Headroom the part of it that is to be free.
	FreeBytes  int64   `json:"freeBytes"`
	TotalBytes int64   `json:"totalBytes"`
	Headroom   float64 `json:"headroom"`
}

// VolumeFiles is what `berth volume list VOLUME` finds: what is in a directory of a volume.
type VolumeFiles struct {
	TypeMeta
	// ID is that of the volume.
	ID string `json:"id"`
	// Path is that of the directory in the volume; empty for the volume itself.
	Path string `json:"path,omitempty"`
	// Items are in the order of their names.
	Items []VolumeFile `json:"items"`
	// More is true if the directory has more than are listed.
	More bool `json:"more,omitempty"`
}

// VolumeFile is what there is under a name.
type VolumeFile struct {
	Name string `json:"name"`
	// Type is file, directory, link, pipe, socket or device. Only files have something to be read.
	Type string `json:"type"`
	// Bytes is the size of a file.
	Bytes *int64 `json:"bytes,omitempty"`
	// Mode are the permissions, in octal.
	Mode       string    `json:"mode"`
	ModifiedAt time.Time `json:"modifiedAt"`
	// Target is where a link leads.
	Target string `json:"target,omitempty"`
}

// VolumeRestoration is what `berth volume restore` has restored.
type VolumeRestoration struct {
	TypeMeta
	// ID is that of the volume, on its Node.
	ID   string `json:"id"`
	Node string `json:"node"`
	// Workspace is the ID of the one that the files were copied into, and Namespace where it is; empty for a directory
	// of this machine.
	Workspace string `json:"workspace,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Destination is the directory that has the files now.
	Destination string `json:"destination"`
	// Files counts the names of files; Bytes are those of their contents, each once.
	Files    int64    `json:"files"`
	Bytes    int64    `json:"bytes"`
	Seconds  float64  `json:"seconds"`
	Warnings []string `json:"warnings,omitempty"`
}

// VolumePurge is what `berth volume purge` has removed.
type VolumePurge struct {
	TypeMeta
	Items []PurgedVolume `json:"items"`
	// Unasked are nodes that did not answer: what is there stays.
	Unasked []string `json:"unasked,omitempty"`
}

// PurgedVolume is a volume that was to be removed.
type PurgedVolume struct {
	ID   string `json:"id"`
	Node string `json:"node"`
	// Workspace, UserString and Storage are what its pod said.
	Workspace  string `json:"workspace,omitempty"`
	UserString string `json:"userString,omitempty"`
	Storage    string `json:"storage,omitempty"`
	// Error is why it was not removed.
	Error *Error `json:"error,omitempty"`
}
