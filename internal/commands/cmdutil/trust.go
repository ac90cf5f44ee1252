package cmdutil

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/controller/guard"
)

// AddTrustFlag adds the flag by which records are believed whose authors the cluster does
// not check.
func AddTrustFlag(cmd *cobra.Command, trust *bool) {
	cmd.Flags().BoolVar(trust, "trust-records", false, "do whatever is recorded, also for those who may not do it themselves; storage is kept")
}

// Guarded asks whether the cluster checks the authors of records; nil if they are trusted. No
// admission checks those of NATS.
func Guarded(place lifecycle.Place, trust bool) (func(context.Context) error, error) {
	switch {
	case trust:
		return nil, nil
	case place.NATS != nil:
		return nil, fault.New(fault.InvalidArgument, "records in NATS do not say who wrote them").
			WithHint("use --trust-records, if everybody who may write the bucket %s may start and delete workspaces; their storage is kept", lifecycle.Bucket)
	}
	return func(ctx context.Context) error { return guard.Stands(ctx, place.Client.Dynamic) }, nil
}
