package lifecycle

import (
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
)

// Where records are: the bucket of NATS, in which the key is NAMESPACE.ID, and the label of
// ConfigMaps. They are kept for ever.
const (
	Bucket = "workspace-states"
	Label  = "berth.dev/state-of"

	namePrefix = "berth-state-"
)

// Place is where the records of all namespaces are kept: in NATS if there is a connection,
// otherwise in each namespace of the cluster. A store that cannot be reached is never
// replaced by the other one.
type Place struct {
	Client *kube.Client
	NATS   *store.NATS
}

// Of are the records of a namespace; those of all namespaces, which can only be listed, if
// it is empty.
func (p Place) Of(namespace string) Records {
	if p.NATS != nil {
		bucket := p.NATS.Bucket(Bucket, "What workspaces are meant to be", 0)
		if namespace != "" {
			bucket = bucket.Under(namespace)
		}
		return Records{Store: bucket}
	}
	return Records{Store: store.ConfigMaps{
		Client: p.Client, Namespace: namespace, NamePrefix: namePrefix, DataKey: "record", KeyLabel: Label,
	}}
}
