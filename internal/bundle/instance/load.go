package instance

import (
	"bytes"
	"context"
	"encoding/json"

	helm "helm.sh/helm/v3/pkg/release"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Load reads the content of a request as what its class says it is, which is recognized if
// there is none. What is installed of the same is read from its record.
func (r Reconciler) Load(ctx context.Context, q *Request, k Known) error {
	if q.Class == "" {
		f, err := format.Recognize(q.Content.FS())
		if err != nil {
			return err
		}
		q.Class = ClassOf(f)
	}
	if q.KeepValues && formatOf(q.Class) == format.Helm {
		values, err := k.Values()
		if err != nil {
			return err
		}
		q.Config.Values = values
	}
	wanted, err := instanceOf(*q)
	if err != nil {
		return err
	}
	if r, err = r.As(q.ServiceAccount); err != nil {
		return err
	}
	if k.Instance != nil {
		wanted.ObjectMeta = k.Instance.ObjectMeta
		b, _, err := bundleFor(wanted, k.Bundles)
		if err != nil {
			return err
		}
		if b != nil {
			q.Package, err = recorded(k.Release, r.originOf(k.Instance, b, q.Class, q.Config))
		}
		if err != nil {
			return err
		}
	}
	if q.Package == nil {
		q.Package, err = r.read(ctx, q.Content, q.Name, q.Class, q.Config, k.Release)
	}
	return err
}

// read reads content as what a class says it is. Templates of charts see the cluster, and
// whether there is a release already.
func (r Reconciler) read(ctx context.Context, c *content.Content, instance, class string, conf v1alpha1.Config,
	current *helm.Release,
) (*format.Package, error) {
	o := format.Options{
		Format: formatOf(class), Instance: instance, Namespace: r.namespaceOf(conf),
		Values: []byte(conf.Values),
	}
	if o.Format == format.Helm {
		if err := r.ofCluster(ctx, &o, current); err != nil {
			return nil, err
		}
	}
	o.RenderTime = r.RenderTime
	if r.turns != nil {
		return r.turns.load(ctx, c.FS(), o)
	}
	return format.Load(ctx, c.FS(), o)
}

// ofCluster lets a chart ask the cluster.
func (r Reconciler) ofCluster(ctx context.Context, o *format.Options, current *helm.Release) (err error) {
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
