// Package secret holds text that must not be shown: whatever prints a value
// that has one in it, prints three stars.
package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Text is a password or a token. Only Reveal gives it away.
type Text string

const hidden = "***"

// Reveal is the text itself, for the one place that hands it on.
func (t Text) Reveal() string { return string(t) }

// String hides the text.
func (Text) String() string { return hidden }

// Format hides the text from every verb, %d and %#v included.
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
