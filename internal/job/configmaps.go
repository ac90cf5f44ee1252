package job

import (
	"context"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	apply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/berthdev/berth/internal/kube"
)

// The ConfigMap of a record.
const (
	namePrefix = "k8shell-job-"
	recordKey  = "record"

	// LabelExpires is when the record expires, in seconds since 1970.
	LabelExpires = "k8shell.io/job-expires"
	// LabelPendingMove is on what belongs into NATS and could not be written there.
	LabelPendingMove = "k8shell.io/job-pending-move"
)

// ConfigMaps keeps records in a namespace of the cluster.
type ConfigMaps struct {
	Client    kube.Interface
	Namespace string
	// Keep is how long a record outlives its last change.
	Keep time.Duration
	Now  func() time.Time
	// PendingMove marks what is written as belonging into NATS.
	PendingMove bool
}

// Put writes the record in one request, whether there is one already or not.
func (c ConfigMaps) Put(ctx context.Context, r Record) error {
	text, err := r.Fit(MaxSize).Encode()
	if err != nil {
		return err
	}
	labels := map[string]string{
		kube.LabelJobID:       kube.LabelValue(r.ID),
		kube.LabelCanonicalID: kube.LabelValue(r.WorkspaceName),
		LabelExpires:          strconv.FormatInt(r.UpdatedAt.Add(c.Keep).Unix(), 10),
	}
	if c.PendingMove {
		labels[LabelPendingMove] = "true"
	}
	object := apply.ConfigMap(namePrefix+r.ID, c.Namespace).WithLabels(labels).WithData(map[string]string{recordKey: string(text)})
	_, err = c.Client.CoreV1().ConfigMaps(c.Namespace).Apply(ctx, object, metav1.ApplyOptions{FieldManager: kube.FieldManager, Force: true})
	return kube.Fault(err, c.call("patch", r.ID))
}

// Get reads one record.
func (c ConfigMaps) Get(ctx context.Context, id string) (Record, error) {
	object, err := c.Client.CoreV1().ConfigMaps(c.Namespace).Get(ctx, namePrefix+id, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Record{}, notFound(id)
	}
	if err != nil {
		return Record{}, kube.Fault(err, c.call("get", id))
	}
	if c.expired(object) {
		return Record{}, notFound(id)
	}
	return Decode([]byte(object.Data[recordKey]))
}

// List reads all records of the namespace.
func (c ConfigMaps) List(ctx context.Context) ([]Record, error) { return c.list(ctx, kube.LabelJobID) }

// Pending are the records that belong into NATS.
func (c ConfigMaps) Pending(ctx context.Context) ([]Record, error) {
	return c.list(ctx, LabelPendingMove)
}

func (c ConfigMaps) list(ctx context.Context, selector string) (records []Record, err error) {
	list, err := c.Client.CoreV1().ConfigMaps(c.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector + "," + LabelExpires})
	if err != nil {
		return nil, kube.Fault(err, c.call("list", ""))
	}
	for i := range list.Items {
		if c.expired(&list.Items[i]) {
			continue
		}
		// One that somebody has spoilt does not hide the others.
		if r, err := Decode([]byte(list.Items[i].Data[recordKey])); err == nil {
			records = append(records, r)
		}
	}
	return records, nil
}

// Delete removes one record.
func (c ConfigMaps) Delete(ctx context.Context, id string) error {
	err := c.Client.CoreV1().ConfigMaps(c.Namespace).Delete(ctx, namePrefix+id, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return kube.Fault(err, c.call("delete", id))
}

// Sweep removes what has expired, in one request.
func (c ConfigMaps) Sweep(ctx context.Context) error {
	old := LabelExpires + "<" + strconv.FormatInt(c.Now().Unix(), 10)
	err := c.Client.CoreV1().ConfigMaps(c.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: old})
	return kube.Fault(err, c.call("deletecollection", ""))
}

// Watch hands out a record whenever it changes; a watch that the server ends is
// opened again.
func (c ConfigMaps) Watch(ctx context.Context, id string, deliver func(Record) bool) error {
	for {
		object, err := c.Client.CoreV1().ConfigMaps(c.Namespace).Get(ctx, namePrefix+id, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return notFound(id)
		}
		if err != nil {
			return kube.Fault(err, c.call("get", id))
		}
		if r, err := Decode([]byte(object.Data[recordKey])); err != nil || deliver(r) {
			return err
		}
		done, err := c.watchFrom(ctx, object, deliver)
		if done || err != nil {
			return err
		}
	}
}

func (c ConfigMaps) watchFrom(ctx context.Context, object *corev1.ConfigMap, deliver func(Record) bool) (done bool, err error) {
	w, err := c.Client.CoreV1().ConfigMaps(c.Namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, object.Name).String(),
		ResourceVersion: object.ResourceVersion,
	})
	if err != nil {
		return false, kube.Fault(err, c.call("watch", ""))
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case e, open := <-w.ResultChan():
			changed, ok := e.Object.(*corev1.ConfigMap)
			if !open || !ok {
				return false, nil
			}
			r, err := Decode([]byte(changed.Data[recordKey]))
			if err != nil || deliver(r) {
				return true, err
			}
		}
	}
}

func (c ConfigMaps) expired(object *corev1.ConfigMap) bool {
	at, err := strconv.ParseInt(object.Labels[LabelExpires], 10, 64)
	return err == nil && c.Now().Unix() > at
}

func (c ConfigMaps) call(verb, id string) kube.Call {
	call := kube.Call{Verb: verb, Resource: "configmaps", Namespace: c.Namespace}
	if id != "" {
		call.Name = namePrefix + id
	}
	return call
}
