package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// ConfigMaps is a store in a namespace of the cluster, a ConfigMap for each document.
type ConfigMaps struct {
	Client kube.Interface
	// Namespace is empty for all of them, in which documents can be listed and watched. Their
	// keys have the namespace and a dot in front then.
	Namespace string
	// NamePrefix comes before the key in the name of a ConfigMap; DataKey is where in it the value is.
	NamePrefix, DataKey string
	// KeyLabel has the key, and distinguishes these ConfigMaps from others.
	KeyLabel string
	// Labels are set on everything that is written, and limit what is listed.
	Labels map[string]string
	// Keep is how long a document is kept after its last change; zero is for ever, and needs neither ExpiryLabel nor
	// Now. ExpiryLabel has the end of that, in seconds since 1970. What has expired is hidden, but exists until Sweep
	// deletes it.
	Keep        time.Duration
	ExpiryLabel string
	Now         func() time.Time
}

// Put writes a document in one request, whether it exists or not.
func (c ConfigMaps) Put(ctx context.Context, d Document) (string, error) {
	return c.patch(ctx, c.object(d), types.ApplyPatchType,
		metav1.PatchOptions{FieldManager: kube.FieldManager, Force: new(true)})
}

// Update writes a document in one request if it has not changed.
func (c ConfigMaps) Update(ctx context.Context, d Document) (string, error) {
	object := c.object(d)
	if d.Revision == "" {
		created, err := c.api().Create(ctx, object, metav1.CreateOptions{FieldManager: kube.FieldManager})
		return created.GetResourceVersion(), c.fault(err, "create", d.Key)
	}
	// Server-side apply would create again what was deleted.
	object.ResourceVersion = d.Revision
	revision, err := c.patch(ctx, object, types.MergePatchType, metav1.PatchOptions{FieldManager: kube.FieldManager})
	if fault.CodeOf(err) == fault.NotFound {
		err = conflict(d.Key, err)
	}
	return revision, err
}

func (c ConfigMaps) patch(ctx context.Context, object *corev1.ConfigMap, kind types.PatchType,
	options metav1.PatchOptions,
) (string, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("ConfigMap %s: %w", object.Name, err)
	}
	patched, err := c.api().Patch(ctx, object.Name, kind, text, options)
	return patched.GetResourceVersion(), c.fault(err, "patch", strings.TrimPrefix(object.Name, c.NamePrefix))
}

func (c ConfigMaps) object(d Document) *corev1.ConfigMap {
	labels := map[string]string{c.KeyLabel: kube.LabelValue(d.Key)}
	if c.Keep > 0 {
		labels[c.ExpiryLabel] = strconv.FormatInt(c.Now().Add(c.Keep).Unix(), 10)
	}
	maps.Copy(labels, d.Labels)
	maps.Copy(labels, c.Labels)
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: c.NamePrefix + d.Key, Namespace: c.Namespace, Labels: labels,
			Annotations: d.Annotations,
		},
		Data: map[string]string{c.DataKey: string(d.Value)},
	}
}

// Get reads a document.
func (c ConfigMaps) Get(ctx context.Context, key string) (Document, error) {
	if len(content.IsPathSegmentName(key)) > 0 {
		return Document{}, notFound(key)
	}
	object, err := c.api().Get(ctx, c.NamePrefix+key, metav1.GetOptions{})
	if err != nil {
		return Document{}, c.fault(err, "get", key)
	}
	if c.expired(object) {
		return Document{}, notFound(key)
	}
	return c.document(object), nil
}

// List reads all documents of the namespace.
func (c ConfigMaps) List(ctx context.Context) ([]Document, error) {
	documents, _, err := c.list(ctx, "")
	return documents, err
}

// list reads the documents, or that of a key, and the version to watch from.
func (c ConfigMaps) list(ctx context.Context, key string) (documents []Document, version string, err error) {
	list, err := c.api().List(ctx, metav1.ListOptions{LabelSelector: c.selector(key)})
	if err != nil {
		return nil, "", c.fault(err, "list", "")
	}
	for i := range list.Items {
		if c.is(&list.Items[i]) && !c.expired(&list.Items[i]) {
			documents = append(documents, c.document(&list.Items[i]))
		}
	}
	return documents, list.ResourceVersion, nil
}

// selector selects the documents of the store, or that of a key.
func (c ConfigMaps) selector(key string) string {
	terms := []string{c.KeyLabel}
	if key != "" {
		terms = []string{c.KeyLabel + "=" + kube.LabelValue(key)}
	}
	if c.Keep > 0 {
		terms = append(terms, c.ExpiryLabel)
	}
	for name, value := range c.Labels {
		terms = append(terms, name+"="+value)
	}
	return strings.Join(terms, ",")
}

// Watch delivers what changes. A watch that the API server ends is opened again where it ended.
func (c ConfigMaps) Watch(ctx context.Context, key string, deliver func(Document) (done bool)) error {
	documents, version, err := c.list(ctx, key)
	switch {
	case err != nil:
		return err
	case key != "" && len(documents) == 0:
		return notFound(key)
	case slices.ContainsFunc(documents, deliver):
		return nil
	}
	w, err := watchtools.NewRetryWatcherWithContext(ctx, version, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = c.selector(key)
			return c.api().Watch(ctx, options)
		},
	})
	if err != nil {
		return c.fault(err, "watch", "")
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		object, ok := e.Object.(*corev1.ConfigMap)
		if !ok {
			return c.fault(apierrors.FromObject(e.Object), "watch", "")
		}
		if !c.is(object) {
			continue
		}
		d := c.document(object)
		if e.Type == watch.Deleted {
			d = Document{Key: d.Key}
		}
		if deliver(d) {
			return nil
		}
	}
	return cmp.Or(ctx.Err(), error(fault.New(fault.Unavailable, "the watch of ConfigMaps ended")))
}

// Delete deletes a document.
func (c ConfigMaps) Delete(ctx context.Context, key, revision string) error {
	options := metav1.DeleteOptions{}
	if revision != "" {
		options.Preconditions = &metav1.Preconditions{ResourceVersion: &revision}
	}
	err := c.fault(c.api().Delete(ctx, c.NamePrefix+key, options), "delete", key)
	if fault.CodeOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// Sweep deletes what has expired, in one request.
func (c ConfigMaps) Sweep(ctx context.Context) error {
	if c.Keep == 0 {
		return nil
	}
	expired := c.KeyLabel + "," + c.ExpiryLabel + "<" + strconv.FormatInt(c.Now().Unix(), 10)
	return c.fault(c.api().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: expired}),
		"deletecollection", "")
}

// Expired is true if the time in an expiry label has passed.
func Expired(label string, now time.Time) bool {
	at, err := strconv.ParseInt(label, 10, 64)
	return err == nil && now.Unix() > at
}

// is reports whether an object with the label is a document: it also has the name of one, so that no key has two.
func (c ConfigMaps) is(object *corev1.ConfigMap) bool {
	return strings.HasPrefix(object.Name, c.NamePrefix)
}

func (c ConfigMaps) expired(object *corev1.ConfigMap) bool {
	return c.Keep > 0 && Expired(object.Labels[c.ExpiryLabel], c.Now())
}

func (c ConfigMaps) document(object *corev1.ConfigMap) Document {
	key := strings.TrimPrefix(object.Name, c.NamePrefix)
	if c.Namespace == "" {
		key = object.Namespace + "." + key
	}
	return Document{
		Key: key, Value: []byte(object.Data[c.DataKey]), Revision: object.ResourceVersion,
		Annotations: object.Annotations, Written: c.written(object),
	}
}

// written is who changed the value last: the API server notes which field is whose.
func (c ConfigMaps) written(object *corev1.ConfigMap) *Written {
	w := &Written{Created: object.CreationTimestamp.UTC()}
	field := []byte(strconv.Quote("f:" + c.DataKey))
	for _, entry := range object.ManagedFields {
		if entry.FieldsV1 != nil && entry.Time != nil && entry.Time.After(w.At) &&
			bytes.Contains(entry.FieldsV1.GetRawBytes(), field) {
			w.By, w.At = entry.Manager, entry.Time.UTC()
		}
	}
	return w
}

func (c ConfigMaps) api() typed.ConfigMapInterface { return c.Client.CoreV1().ConfigMaps(c.Namespace) }

func (c ConfigMaps) fault(err error, verb, key string) error {
	call := kube.Call{Verb: verb, Resource: "configmaps", Namespace: c.Namespace}
	if key != "" {
		call.Name = c.NamePrefix + key
	}
	return kube.Fault(err, call)
}
