package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// maxReads is how many ConfigMaps are read concurrently.
const maxReads = 8

// ReadConfigMaps reads ConfigMaps of blueprints concurrently. One that does not
// exist is an error: a workspace must not be made of less than was configured.
func ReadConfigMaps(ctx context.Context, client kube.Interface, all []blueprint.ConfigMap) ([]blueprint.Source, error) {
	found := make([][]blueprint.Source, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxReads)
	for i, c := range all {
		group.Go(func() (err error) {
			found[i], err = readConfigMap(ctx, client, c)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	sources, total := slices.Concat(found...), 0
	for _, source := range sources {
		if total += len(source.Text); total > maxTotal {
			return nil, invalid("invalid blueprints",
				[]string{fmt.Sprintf("%s: the ConfigMaps of blueprints exceed %d MiB in total", source.Name, maxTotal>>20)})
		}
	}
	return sources, nil
}

func readConfigMap(ctx context.Context, client kube.Interface, c blueprint.ConfigMap) (sources []blueprint.Source,
	err error,
) {
	read, err := client.CoreV1().ConfigMaps(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	if err = kube.Fault(err, kube.Call{
		Verb: "get", Resource: "configmaps", Namespace: c.Namespace,
		Name: c.Name,
	}); err != nil {
		if fault.CodeOf(err) == fault.NotFound {
			return nil, fault.New(fault.NotFound,
				"configmap %s/%s not found; blueprintConfigMaps in the configuration names it", c.Namespace, c.Name).
				WithHint("create it, or correct blueprintConfigMaps in the configuration")
		}
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(read.Data)) {
		if isYAML(key) {
			sources = append(sources, blueprint.Source{
				Name: fmt.Sprintf("configmap/%s/%s:%s", c.Namespace, c.Name, key),
				Text: []byte(read.Data[key]),
			})
		}
	}
	return sources, nil
}
