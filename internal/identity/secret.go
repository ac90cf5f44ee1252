package identity

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that is never printed: however it is formatted, marshalled
// or logged, it is an ellipsis. Only a conversion to string gives it away.
type Secret string

const hidden = "…"

// String hides it.
func (Secret) String() string { return hidden }

// GoString hides it from %#v.
func (Secret) GoString() string { return hidden }

// Format hides it from every verb, %x among them.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// MarshalText hides it from YAML and other encodings of texts.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalJSON hides it from JSON.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalLog hides it from klog and logr.
func (Secret) MarshalLog() any { return hidden }

// LogValue hides it from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
