package desired

import (
	"context"
	"encoding/json"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
)

// reasonNotRecorded is the reason of the error about a workspace whose values are nowhere.
const reasonNotRecorded = "VALUES_NOT_RECORDED"

// IsNotRecorded is true for the error about a workspace whose values are nowhere.
func IsNotRecorded(err error) bool { return fault.ReasonOf(err) == reasonNotRecorded }

// Values are the chart's values that the workspace was made of, as they are recorded: an injected one has them
// in its state record only.
func (s State) Values(ctx context.Context) (map[string]any, error) {
	if !s.IsKept() {
		return valuesIn(lifecycle.Record{})
	}
	r, err := s.Read(ctx)
	switch {
	case err != nil:
		return nil, err
	case r.Desired == v1.DesiredTerminated:
		return nil, lifecycle.BeingDeleted(r)
	}
	if err := s.vouched(r); err != nil {
		return nil, err
	}
	return valuesIn(r)
}

func valuesIn(r lifecycle.Record) (values map[string]any, err error) {
	if r.Values == "" {
		return nil, fault.New(fault.Failed, "what the workspace was made of is not recorded").
			WithHint("provision it again by its user string: any storage it has is used again").
			WithReason(reasonNotRecorded)
	}
	if err := json.Unmarshal([]byte(r.Values), &values); err != nil {
		return nil, fault.New(fault.Failed, "the record of workspace %s cannot be read: %w", r.ID, err).
			WithHint("provision it again by its user string: any storage it has is used again")
	}
	return values, nil
}

// Startable returns an error for what is to be started of Helm's record, where that was written by somebody
// without the right to start it.
func (s State) Startable(found inventory.Found) error {
	if !s.IsGuarded() || found.Record == nil || release.IsGuarded(found.Record) {
		return nil
	}
	return fault.New(fault.Failed, "Helm's record of workspace %s does not say that its author may create pods", s.ID).
		WithReason(lifecycle.ReasonUnvouched).
		WithHint("make it of what its blueprint says: %s", kube.Command("update", s.ID, s.namespace()))
}
