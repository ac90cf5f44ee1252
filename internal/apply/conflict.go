package apply

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// foreign is the error of an object of another owner.
func (it *item) foreign(owner Owner) error {
	return fault.New(fault.Conflict, "%s exists and does not belong to %s", it.describe(), owner.Name).
		WithHint("rename or delete it, then try again")
}

// conflict is the error of fields that other field managers have set.
func (it *item) conflict(causes []metav1.StatusCause) error {
	problems := make([]string, len(causes))
	for i, cause := range causes {
		problems[i] = fmt.Sprintf("field %s: %s", cause.Field, cause.Message)
	}
	err := fault.New(fault.Conflict, "%s conflicts with other field managers: %s", it.describe(), problems[0])
	if len(problems) > 1 {
		err.Message, err.Problems = it.describe()+" conflicts with other field managers", problems
	}
	return err.WithHint("undo their change, or delete the object, then try again; see who set what: %s --show-managed-fields", it.kubectlGet())
}

// conflicts are the fields that others than berth have set; what the API server
// says of each names the field manager.
func conflicts(err error) (others []metav1.StatusCause) {
	for _, cause := range causes(err) {
		if cause.Type == metav1.CauseTypeFieldManagerConflict &&
			!strings.HasPrefix(cause.Message, `conflict with "`+kube.FieldManager+`"`) {
			others = append(others, cause)
		}
	}
	return others
}

func isFieldConflict(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}

func causes(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}

// describe names the object in a message.
func (it *item) describe() string {
	name := kube.Object(it.Object.GetKind(), it.name)
	if it.namespace == "" {
		return name
	}
	return name + " in namespace " + it.namespace
}

// kubectlGet is the command that shows the object.
func (it *item) kubectlGet() string {
	command := "kubectl get " + it.GroupResource().String() + " " + it.name
	if it.namespace != "" {
		command += " --namespace " + it.namespace
	}
	return command + " --output yaml"
}
