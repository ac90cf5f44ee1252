package job

// Secret is a text that is never printed.
type Secret string

const hidden = "***"

// String hides it from every verb that prints strings.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString hides it from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides it from JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// reveal is for who hands it to the server.
func (s Secret) reveal() string { return string(s) }
