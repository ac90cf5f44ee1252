// Package expression evaluates the !cel expressions of blueprints. Anybody may
// write a blueprint, so their cost is bounded.
package expression

// Facts are the variables of expressions, except the blueprint that they are in.
type Facts struct {
	User          User
	WorkspaceName string
	Metadata      Metadata
}

// User is the user that a workspace is for.
type User struct {
	Username     string   `cel:"username"`
	UID          int      `cel:"uid"`
	GID          int      `cel:"gid"`
	Email        string   `cel:"email"`
	Organization string   `cel:"organization"`
	Roles        []string `cel:"roles"`
	Blueprints   []string `cel:"blueprints"`
}

// Metadata is where a blueprint comes from.
type Metadata struct {
	// Name is the blueprint's, which may be computed.
	Name string `cel:"name"`
	// RepoOwner, RepoName and Ref are empty unless it is a repository's.
	RepoOwner string `cel:"repoOwner"`
	RepoName  string `cel:"repoName"`
	Ref       string `cel:"ref"`
}

// Result is what a field accepts, named for messages.
type Result string

// The results.
const (
	Text   Result = "a string"
	Bool   Result = "a boolean"
	Number Result = "an integer"
	Float  Result = "a number"
	Scalar Result = "a string, a number or a boolean" // Kubernetes validates it
)
