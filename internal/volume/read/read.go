// Package read is how users without access to the driver's pods read what their own pods have left on scratch volumes:
// HTTPS to the driver of each node, which asks the API server who they are and what they may. Inside it, server/ is the
// driver's side.
package read

import (
	"net/url"
	"strings"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume"
)

// Resource is what is asked about, in the group of berth. It exists in Roles alone.
const Resource = "scratchvolumes"

// The paths of requests: the volumes of a namespace, one of them, and what is in it.
const (
	PathVolumes = namespaces + "{" + KeyNamespace + "}/" + Resource
	PathVolume  = PathVolumes + "/{" + KeyID + "}"
	PathList    = PathVolume + "/list"
	PathFile    = PathVolume + "/file"
	PathArchive = PathVolume + "/archive"

	namespaces = "/apis/" + kube.Group + "/v1/namespaces/"
)

// The keys of paths and of queries. A name is that of NameOf.
const (
	KeyNamespace = "namespace"
	KeyID        = "id"
	KeyPath      = "path"
	KeyName      = "name"
)

// NameOf is by which name of an object somebody may read a volume: the workspace, if its pod has said one, or the pod.
// The author of a pod has chosen what it says: that lets others read what is the author's, and never the reverse.
func NameOf(v volume.Volume) string {
	if v.Workspace != "" {
		return v.Workspace
	}
	return v.Pod
}

// pathOf is where a driver has the volumes of a namespace, one of them, or what is in it.
func pathOf(namespace string, parts ...string) string {
	at := namespaces + url.PathEscape(namespace) + "/" + Resource
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(append([]string{at}, parts...), "/")
}
