package v1alpha1

// SourceType says which field of a Source is set.
type SourceType string

// The types of sources.
const (
	SourceImage      SourceType = "image"
	SourceGit        SourceType = "git"
	SourceHTTP       SourceType = "http"
	SourceChart      SourceType = "chart"
	SourceConfigMaps SourceType = "configMaps"
	SourceUpload     SourceType = "upload"
)

// Source is where the content of a bundle comes from: one of the fields after Type.
// As a resolved source it names exactly what was fetched.
type Source struct {
	Type       SourceType        `json:"type"`
	Image      *ImageSource      `json:"image,omitempty"`
	Git        *GitSource        `json:"git,omitempty"`
	HTTP       *HTTPSource       `json:"http,omitempty"`
	Chart      *ChartSource      `json:"chart,omitempty"`
	ConfigMaps []ConfigMapSource `json:"configMaps,omitempty"`
	Upload     *UploadSource     `json:"upload,omitempty"`
}

// ImageSource is the file system of an OCI image, or a chart as `helm push` writes it.
type ImageSource struct {
	Ref string `json:"ref"`
	// Version is a version or a range of them, in place of the tag: the newest tag that fits. A
	// resolved source has none.
	Version string `json:"version,omitempty"`
	// PullSecret is a Secret of the system namespace.
	PullSecret string `json:"pullSecret,omitempty"`
}

// GitSource is a directory of a commit of a repository.
type GitSource struct {
	Repository string         `json:"repository"`
	Directory  string         `json:"directory,omitempty"`
	Ref        GitRef         `json:"ref"`
	Auth       *Authorization `json:"auth,omitempty"`
}

// GitRef is a commit: exactly one field is set.
type GitRef struct {
	Branch string `json:"branch,omitempty"`
	Tag    string `json:"tag,omitempty"`
	Commit string `json:"commit,omitempty"`
}

// HTTPSource is an archive at a URL, a tar file that may be compressed with gzip.
type HTTPSource struct {
	URL  string         `json:"url"`
	Auth *Authorization `json:"auth,omitempty"`
	// Digest is that of the content of the archive, without what a chart in it depends on; of a resolved source it is
	// set.
	Digest string `json:"digest,omitempty"`
}

// ChartSource is a chart of a chart repository. It is resolved to an HTTPSource.
type ChartSource struct {
	// Repository is the URL that index.yaml is below.
	Repository string `json:"repository"`
	Name       string `json:"name"`
	// Version is a version or a range of them, of which the newest that fits is taken; empty is
	// the newest that is no pre-release.
	Version string         `json:"version,omitempty"`
	Auth    *Authorization `json:"auth,omitempty"`
}

// ConfigMapSource are the files of a ConfigMap of the system namespace, which has to be
// immutable.
type ConfigMapSource struct {
	ConfigMap LocalReference `json:"configMap"`
	// Path is the directory that they are put into; empty is the root.
	Path string `json:"path,omitempty"`
}

// UploadSource is content that was sent to the cluster by a client.
type UploadSource struct {
	// Digest is that of the content; of a resolved source it is set.
	Digest string `json:"digest,omitempty"`
}

// Authorization is how a source is asked: with the Secret's username and password, or
// its ssh-privatekey and ssh-knownhosts.
type Authorization struct {
	Secret             LocalReference `json:"secret,omitzero"`
	InsecureSkipVerify bool           `json:"insecureSkipVerify,omitempty"`
}

// LocalReference names an object of the system namespace.
type LocalReference struct {
	Name string `json:"name,omitempty"`
}
