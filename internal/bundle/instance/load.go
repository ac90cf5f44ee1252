package instance

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Load reads content as what a class says it is; if the class is empty, as what it looks
// like. Templates of charts see the cluster.
func (r Reconciler) Load(ctx context.Context, c *content.Content, instance, class string, conf v1alpha1.Config) (*format.Package, error) {
	o := format.Options{Format: formatOf(class), Instance: instance, Namespace: r.namespaceOf(conf), Values: []byte(conf.Values)}
	var err error
	if o.Format == "" {
		if o.Format, err = format.Recognize(c.FS()); err != nil {
			return nil, err
		}
	}
	if o.Format == format.Helm {
		if err := r.ofCluster(ctx, &o); err != nil {
			return nil, err
		}
	}
	return format.Load(ctx, c.FS(), o)
}

// ofCluster lets a chart ask the cluster.
func (r Reconciler) ofCluster(ctx context.Context, o *format.Options) error {
	current, err := r.records().Latest(ctx, o.Instance)
	if err != nil {
		return err
	}
	if current != nil {
		o.Upgrade, o.Revision = true, current.Version+1
	}
	if o.Capabilities, err = r.capabilities(ctx); err != nil {
		return err
	}
	o.Lookup = r.lookup
	return nil
}

// required says what is missing on the cluster in the words of this API.
func required(err error) string {
	f := fault.From(err)
	if f.Reason == apply.ReasonKindMissing || kube.IsNamespaceMissing(err) || fault.CodeOf(err) == fault.NotFound {
		return "required resource not found: " + why(err)
	}
	return why(err)
}

// strictly reads JSON that must have no other fields.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
