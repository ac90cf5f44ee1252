// Package expression evaluates the expressions of blueprints: what stands behind
// !cel. They come from whoever writes a blueprint, so that what they may cost is
// bounded.
package expression

// User is what an expression knows of the user that a workspace is for.
type User struct {
	Username     string   `cel:"username"`
	UID          int      `cel:"uid"`
	GID          int      `cel:"gid"`
	Email        string   `cel:"email"`
	Organization string   `cel:"organization"`
	Roles        []string `cel:"roles"`
	Blueprints   []string `cel:"blueprints"`
}

// Metadata is what an expression knows of where a blueprint comes from.
type Metadata struct {
	// Name is the blueprint's, which may be computed.
	Name string `cel:"name"`
	// RepoOwner, RepoName and Ref are empty where there is no repository.
	RepoOwner string `cel:"repoOwner"`
	RepoName  string `cel:"repoName"`
	Ref       string `cel:"ref"`
}

// Facts are all that expressions know, but for the blueprint they stand in.
type Facts struct {
	User          User
	WorkspaceName string
	Metadata      Metadata
}

// Result is what a field can take.
type Result string

// The results.
const (
	Text   Result = "a string"
	Bool   Result = "a boolean"
	Number Result = "an integer"
	Scalar Result = "a string, a number or a boolean" // Kubernetes validates it
)
