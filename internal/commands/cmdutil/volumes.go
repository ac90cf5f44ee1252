package cmdutil

import (
	"cmp"
	"context"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume/read"
)

// VolumeReaders gives the drivers of scratch volumes that let users read what their pods have left, at a URL, or where the
// configuration says; and the namespace that is meant. Found is false if neither says where they are. No API server is
// asked.
func (d *Dependencies) VolumeReaders(ctx context.Context, url, ca string) (c read.Client, namespace string, found bool,
	err error,
) {
	configured, err := Await(ctx, d.Config)
	if err != nil {
		return c, "", false, err
	}
	v := configured.Volumes
	if url = cmp.Or(url, v.ReadURL); url == "" {
		return c, "", false, nil
	}
	if v.ReadURL == "" {
		v.Credential = config.GatewayCredential{Kubeconfig: true}
	}
	if namespace = *d.Kube.Namespace; namespace == "" {
		if namespace, _, err = d.Kube.ToRawKubeConfigLoader().Namespace(); err != nil {
			return c, "", false, fault.New(fault.InvalidArgument, "the namespace is not known: %w", err).
				WithHint("set --namespace")
		}
	}
	server := d.gateway(config.Gateway{URL: url, CA: cmp.Or(ca, v.ReadCA), Credential: v.Credential})
	return read.Client{URL: url, Config: func(ctx context.Context) (*rest.Config, error) {
		config, err := server.Config(ctx, "the drivers of scratch volumes")
		if err == nil {
			config.UserAgent = "berth/" + Version().Version
		}
		return config, err
	}}, namespace, true, nil
}
