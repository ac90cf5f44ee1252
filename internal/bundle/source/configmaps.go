package source

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
)

// configMaps makes a file of each key of ConfigMaps, which have to be immutable, or the
// content of a bundle could change; and not those of an upload, whose content not everybody
// who names sources may read. All that is wrong is reported together.
func (f Fetcher) configMaps(ctx context.Context, sources []v1alpha1.ConfigMapSource) (*content.Content, error) {
	return f.build(ctx, func(b *content.Builder) error {
		origins := map[string][]string{}
		var problems []string
		f.tell(v1.Progress{Message: "Fetching ConfigMaps", Total: int64(len(sources))})
		done := int64(0)
		err := inOrder(ctx, len(sources), func(ctx context.Context, i int) (*corev1.ConfigMap, error) {
			found, err := f.Cluster.configMap(ctx, sources[i].ConfigMap.Name)
			if fault.CodeOf(err) == fault.NotFound {
				return nil, nil // a problem among others
			}
			return found, err
		}, func(i int, found *corev1.ConfigMap) error {
			done++
			f.tell(v1.Progress{Message: "Fetching ConfigMaps", Done: done, Total: int64(len(sources))})
			name := sources[i].ConfigMap.Name
			switch {
			case found == nil:
				problems = append(problems, fmt.Sprintf("configmap/%s does not exist in namespace %s", name,
					f.Cluster.Namespace))
				return nil
			case isUpload(found):
				problems = append(problems, fmt.Sprintf("configmap/%s is of the upload of a bundle, which belongs "+
					"to that one alone", name))
				return nil
			case found.Immutable == nil || !*found.Immutable:
				problems = append(problems, fmt.Sprintf("configmap/%s is not immutable", name))
				return nil
			}
			wrong, err := addKeys(b, found, sources[i].Path, origins)
			problems = append(problems, wrong...)
			return err
		})
		if err != nil {
			return err
		}
		for _, file := range slices.Sorted(maps.Keys(origins)) {
			if from := origins[file]; len(from) > 1 {
				problems = append(problems, fmt.Sprintf("%s comes from more than one ConfigMap: %s", file,
					strings.Join(from, ", ")))
			}
		}
		return together(problems, "name ConfigMaps of the system namespace with `immutable: true`, and give those "+
			"with the same keys different paths")
	})
}

// addKeys takes the keys of a ConfigMap, each of which can be text or not, unless
// another has the same file already; origins has who has which.
func addKeys(b *content.Builder, found *corev1.ConfigMap, dir string, origins map[string][]string) (problems []string,
	err error,
) {
	data := make(map[string][]byte, len(found.Data)+len(found.BinaryData))
	for key, text := range found.Data {
		data[key] = []byte(text)
	}
	maps.Copy(data, found.BinaryData)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		file := key
		if dir != "" {
			file = dir + "/" + key // not joined: what is wrong with a path must be seen
		}
		clean := path.Clean(file)
		origins[clean] = append(origins[clean], found.Name)
		if len(origins[clean]) > 1 {
			continue
		}
		err := b.Add(file, int64(len(data[key])), bytes.NewReader(data[key]))
		if fault.ReasonOf(err) == content.ReasonRefused {
			problems, err = append(problems, fmt.Sprintf("configmap/%s: %v", found.Name, err)), nil
		}
		if err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// parallel is how many objects are under way at once, each of which may have a MiB.
const parallel = 4

// inOrder gets n things, a few at once, and hands them over one at a time in their
// order.
func inOrder[T any](ctx context.Context, n int, get func(context.Context, int) (T, error),
	use func(int, T) error,
) error {
	group, inner := errgroup.WithContext(ctx)
	results := make([]chan T, n)
	start := func(i int) {
		if i >= n {
			return
		}
		result := make(chan T, 1)
		results[i] = result
		group.Go(func() error {
			got, err := get(inner, i)
			if err == nil {
				result <- got
			}
			return err
		})
	}
	for i := range parallel {
		start(i)
	}
	for i := range n {
		select {
		case got := <-results[i]:
			results[i] = nil
			if err := use(i, got); err != nil {
				group.Go(func() error { return err })
				return group.Wait()
			}
			start(i + parallel)
		case <-inner.Done():
			if err := group.Wait(); err != nil {
				return err
			}
			return ctx.Err()
		}
	}
	return group.Wait()
}
