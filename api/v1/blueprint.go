package v1

// Resolution is what a user string means.
type Resolution struct {
	TypeMeta
	Form Form `json:"form"`
	// Fields are those that were given, and the username.
	Fields Fields `json:"fields"`
	// Key is the canonical key; empty for a named workspace, which has none.
	Key string `json:"key"`
	ID  string `json:"id"`
	// Canonical is the canonical user string.
	Canonical string `json:"canonical"`
	// Identity is who the user is; absent when resolved offline.
	Identity *Identity `json:"identity,omitempty"`
	// Blueprint is what the workspace is made of; absent when resolved offline, and for forms of which notice says why.
	Blueprint *Blueprint `json:"blueprint,omitempty"`
	// Notice says what could not be resolved, and why.
	Notice string `json:"notice,omitempty"`
}

// Form is the form of a user string.
type Form string

// The forms.
const (
	FormImplicit Form = "implicit"
	FormExplicit Form = "explicit"
	FormNamed    Form = "named"
	FormRepo     Form = "repo"
)

// Fields are the parts of a user string, by the names that they have in it.
type Fields struct {
	Username  string `json:"username"`
	Blueprint string `json:"blueprint,omitempty"`
	// Repo is the owner and the name of a repository.
	Repo string `json:"repo,omitempty"`
	// Ref is the branch, tag or commit as typed; the key has it in lower case.
	Ref string `json:"ref,omitempty"`
	// User is the user to be inside of the workspace.
	User string `json:"user,omitempty"`
	Pod  string `json:"pod,omitempty"`
	// Ns is the namespace of a workload or of a named workspace.
	Ns string `json:"ns,omitempty"`
	// Workload is the kind and the name of a workload to inject into.
	Workload string `json:"workload,omitempty"`
}

// Identity is who a username is.
type Identity struct {
	Username string `json:"username"`
	Fullname string `json:"fullname,omitempty"`
	Email    string `json:"email,omitempty"`
	// Organization is the one that the provider vouches for.
	Organization string   `json:"organization,omitempty"`
	Roles        []string `json:"roles,omitempty"`
	UID          int      `json:"uid"`
	GID          int      `json:"gid"`
	// Blueprints are those that the user may use; * is all.
	Blueprints []string `json:"blueprints,omitempty"`
	Sudo       bool     `json:"sudo,omitempty"`
	// Status is active: others do not get this far.
	Status string `json:"status,omitempty"`
	// Provider is the one that knew the user.
	Provider string `json:"provider"`
}

// Blueprint is a blueprint with everything inherited.
type Blueprint struct {
	TypeMeta
	Name string `json:"name"`
	// IsTemplate is true for one that is there to inherit from.
	IsTemplate bool `json:"isTemplate,omitempty"`
	// From is the file and line that it was read from.
	From string `json:"from"`
	// Lineage is the name and its ancestors, nearest first.
	Lineage []string `json:"lineage"`
	// Spec are the fields as docs/schema/blueprints.json describes them.
	Spec map[string]any `json:"spec"`
	// Origins says of each field of spec, by its dotted path, which layer set it: the blueprint's name, file and line.
	Origins map[string]string `json:"origins,omitempty"`
	// Expressions are the fields of spec whose values depend on the user, by their dotted paths. Where a text can be,
	// spec has the expression behind !cel; as YAML, each is tagged, as it is in a file.
	Expressions map[string]string `json:"expressions,omitempty"`
}

// BlueprintList is the blueprints that there are, as they are written: what they inherit is not shown.
type BlueprintList struct {
	TypeMeta
	Items []BlueprintSummary `json:"items"`
}

// BlueprintSummary is one of them.
type BlueprintSummary struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Template is the blueprint that it inherits from.
	Template   string `json:"template,omitempty"`
	IsTemplate bool   `json:"isTemplate,omitempty"`
	// From is the file and line that it was read from.
	From string `json:"from"`
}

// BlueprintCheck says that blueprints have been looked at and are fine.
type BlueprintCheck struct {
	TypeMeta
	Files      []string `json:"files"`
	Blueprints int      `json:"blueprints"`
}

// BlueprintConversion is what has become of blueprints of k8shell.
type BlueprintConversion struct {
	TypeMeta
	Files []ConvertedFile `json:"files"`
	// Blueprints is how many there are in the files.
	Blueprints int               `json:"blueprints"`
	Changes    []BlueprintChange `json:"changes"`
}

// ConvertedFile is a file that has been read.
type ConvertedFile struct {
	From string `json:"from"`
	// To is the file that has been written; left out if none has.
	To string `json:"to,omitempty"`
}

// BlueprintChange is what has been changed in a file, or was left and means something else to berth.
type BlueprintChange struct {
	File string `json:"file"`
	// Line in the file as it was.
	Line int `json:"line"`
	// Blueprint that has the field; left out for what concerns the whole file, or a custom blueprint.
	Blueprint string `json:"blueprint,omitempty"`
	// Field is a dotted path; left out for what concerns the whole file.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Differs is true for what was left as it is, and means something else to berth: it is to be looked at.
	Differs bool `json:"differs,omitempty"`
}
