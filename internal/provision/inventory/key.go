package inventory

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// BelongsTo returns an error if what was found under the ID of a user string is the
// workspace of another one: an ID ends in 28 bits of a hash, so that two can have the
// same. What does not say whose it is belongs to the caller that asks for the ID.
func (f Found) BelongsTo(asked userstring.UserString) error {
	for _, text := range f.userStrings() {
		if err := collision(asked, text); err != nil {
			return err
		}
	}
	return nil
}

// UserString is the user string that what was found carries; empty if it carries none.
func (f Found) UserString() string { return cmp.Or(f.userStrings()...) }

// userStrings are those that what was found carries.
func (f Found) userStrings() (all []string) {
	add := func(annotations map[string]string) { all = append(all, UserStringOf(annotations)) }
	switch {
	case f.Pod != nil:
		add(f.Pod.Annotations)
	case f.Record != nil:
		add(wanted(f.Record).Annotations)
	}
	if f.Workload.Injected() {
		all = append(all, f.Workload.Record.UserString)
	}
	for _, pod := range f.objects.Pods {
		add(pod.Annotations)
	}
	for _, pod := range f.Leaving {
		add(pod.Annotations)
	}
	for _, object := range f.Objects {
		add(object.GetAnnotations())
	}
	return all
}

// collision compares the canonical key of a user string with that of a text that an
// object carries. An ID comes without a user string, and a text that is no user string says
// nothing.
func collision(asked userstring.UserString, text string) error {
	if asked.User == "" || text == "" {
		return nil
	}
	found, err := userstring.ParseCanonical(text)
	if err != nil {
		return nil //nolint:nilerr // what cannot be read cannot be compared
	}
	if found = found.In(asked.Scheme); found.Key() == "" || asked.Key() == "" || found.Key() == asked.Key() {
		return nil
	}
	return fault.New(fault.Conflict, "%s and %s have the same ID, %s, and it is the workspace of %s that exists", asked,
		found, asked.ID(), found).
		WithHint("address that one as %s, or choose another blueprint or name for %s", fault.Word("id/"+asked.ID()),
			asked)
}

// UserStringOf is the user string in the annotations of an object, as berth writes it; empty without one.
func UserStringOf(annotations map[string]string) string {
	text := userstring.FromAnnotation(annotations[kube.AnnotationUserString])
	if !strings.Contains(text, "%2F") { // which only k8shell encodes
		return text
	}
	u, err := userstring.ParseCanonical(text)
	if err != nil {
		return text
	}
	return u.In(userstring.K8shell).String()
}

// OwnerOf is whose the workspace of an object is, as its user string begins. The label that
// selects it has to say the same: what it cannot hold of a username is in the user string alone.
func OwnerOf(o metav1.Object) string {
	label := o.GetLabels()[kube.LabelUsername]
	if u, err := userstring.ParseCanonical(UserStringOf(o.GetAnnotations())); err == nil && isLabelOf(label, u.User) {
		return userstring.Owner(u.User)
	}
	if label == "" {
		return ""
	}
	return userstring.Owner(label)
}

// IsOwnedBy reports whether the workspace of an object is a user's.
func IsOwnedBy(o metav1.Object, username string) bool {
	label := o.GetLabels()[kube.LabelUsername]
	u, err := userstring.ParseCanonical(UserStringOf(o.GetAnnotations()))
	if err != nil {
		return label == userstring.OwnerLabel(username)
	}
	return u.User == username && isLabelOf(label, username)
}

// isLabelOf is true for the label of the user of a user string, also for that of workspaces
// which were made when a username ended in a shorter hash there.
func isLabelOf(label, username string) bool {
	return label == userstring.OwnerLabel(username) || label == kube.LabelValue(username)
}

// checkPods is BelongsTo of pods alone.
func checkPods(asked userstring.UserString, pods []*corev1.Pod) error {
	return Found{Leaving: pods}.BelongsTo(asked)
}
