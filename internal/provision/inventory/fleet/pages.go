package fleet

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pageSize is how many objects one answer holds at most: kubectl's number, too.
const pageSize = 500

// eachPage reads a list page by page and keeps none of them. It takes one
// request a page.
func eachPage[L metav1.ListInterface](
	ctx context.Context, opts metav1.ListOptions,
	list func(context.Context, metav1.ListOptions) (L, error), use func(L),
) error {
	opts.Limit = pageSize
	for {
		page, err := list(ctx, opts)
		if next := expired(err); next != "" && opts.Continue != "" {
			opts.Continue = next
			continue
		}
		if err != nil {
			return err
		}
		use(page)
		if opts.Continue = page.GetContinue(); opts.Continue == "" {
			return nil
		}
	}
}

// expired is the token with which a list can be continued whose first pages were of
// a version that the server no longer has: what follows is of now. The server sends
// it with the refusal of the old one.
func expired(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}
