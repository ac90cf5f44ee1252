// Package secret has a text that is never printed: any format of a value that contains one shows three asterisks.
package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Text is a password or a token. Only Reveal returns it.
type Text string

const hidden = "***"

// Reveal returns the text, for the request that needs it.
func (t Text) Reveal() string { return string(t) }

// String hides the text.
func (Text) String() string { return hidden }

// Format hides the text from every verb, including %d and %#v.
func (Text) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// MarshalJSON hides the text.
func (Text) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }

// MarshalYAML hides the text.
func (Text) MarshalYAML() (any, error) { return hidden, nil }

// MarshalText hides the text from every other encoding.
func (Text) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// MarshalLog hides the text from klog and logr.
func (Text) MarshalLog() any { return hidden }

// LogValue hides the text.
func (Text) LogValue() slog.Value { return slog.StringValue(hidden) }
