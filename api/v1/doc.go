// Package v1 holds the documents and events that berth prints, and nothing
// else: what a script that reads `--output json` can rely on. Every document
// carries apiVersion and kind; the schemas in docs/schema only grow. Times are
// RFC 3339 in UTC.
package v1

// APIVersion is the version of every document in this package.
const APIVersion = "berth.dev/v1"

// The kinds of document.
const (
	KindWorkspace     = "Workspace"
	KindWorkspaceList = "WorkspaceList"
	KindDeletion      = "Deletion"
	KindVersion       = "Version"
	KindError         = "Error"
	KindDiagnosis     = "Diagnosis"
	KindEvent         = "Event"

	KindProvisionSummary = "ProvisionSummary"
	KindDeletionSummary  = "DeletionSummary"

	KindResolution     = "Resolution"
	KindBlueprint      = "Blueprint"
	KindBlueprintList  = "BlueprintList"
	KindBlueprintCheck = "BlueprintCheck"

	KindJob     = "Job"
	KindJobList = "JobList"
)

// TypeMeta says which document one is looking at.
type TypeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// Kind is the TypeMeta of a document of this version.
func Kind(kind string) TypeMeta {
	return TypeMeta{APIVersion: APIVersion, Kind: kind}
}
