package v1

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
	// Origins says of each field of spec, by its dotted path, which layer set
	// it: the blueprint's name, file and line.
	Origins map[string]string `json:"origins,omitempty"`
	// Expressions are the fields of spec whose values depend on the user, by their
	// dotted paths. Where a text can be, spec has the expression behind !cel; as
	// YAML, each is tagged, as it is in a file.
	Expressions map[string]string `json:"expressions,omitempty"`
}

// BlueprintList is the blueprints that there are, as they are written: what
// they inherit is not shown.
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
