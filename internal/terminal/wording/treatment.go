package wording

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// TreatmentsText says what a policy makes of a cause.
func TreatmentsText(treatments []v1.Treatment) string {
	texts := make([]string, len(treatments))
	for i, t := range treatments {
		texts[i] = treatmentText(t)
	}
	text := strings.Join(texts, ", or ")
	if len(treatments) > 1 {
		return "depending on the case, " + text
	}
	return text
}

func treatmentText(t v1.Treatment) string {
	switch t {
	case v1.TreatmentFails:
		return "it fails at once"
	case v1.TreatmentSpared:
		return "it fails if this has not passed within the grace period"
	case v1.TreatmentWaits:
		return "it waits"
	}
	return string(t)
}

// Stays is said of what is waited for and only a person can change.
const Stays = "only a person can change this: berth says so after a minute, and --stuck-after ends the waiting"
