package exec

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/remotecommand"
)

// hanging is an executor that never returns.
type hanging struct{}

type options = remotecommand.StreamOptions

func (hanging) Stream(options) error                             { select {} }
func (hanging) StreamWithContext(context.Context, options) error { select {} }

// A command ends with the context, whatever hangs.
func TestStreamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := stream(ctx, hanging{}, options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
