package apply

import "context"

// applyAndReport applies one object, and tells what was done with it.
func (r *run) applyAndReport(ctx, waiting context.Context, it *item) error {
	err := r.apply(ctx, waiting, it)
	if r.Report == nil || err != nil || it.change == nil || it.deferred != nil {
		return err
	}
	r.reporting.Lock()
	defer r.reporting.Unlock()
	r.Report(*it.change)
	return nil
}
