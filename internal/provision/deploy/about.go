package deploy

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
)

// About is what is known about the pod that a cause is about, for hints.
type About func(*v1.Cause) cause.About

// SetByFlags are the fields of a blueprint that flags have set, with the flags, by the origins of
// all fields; nil if these are not known.
func SetByFlags(origins map[string]string) map[string]string {
	if origins == nil {
		return nil
	}
	set := map[string]string{}
	for path, origin := range origins {
		if strings.HasPrefix(origin, "--") {
			set[path] = origin
		}
	}
	return set
}

// AboutPods knows what the pods of a workspace say of themselves. In those of a workload there are
// also containers that no blueprint is responsible for.
func AboutPods(id, namespace, userString string, pods []*corev1.Pod) About {
	if len(pods) == 0 {
		return AboutPod(namespace, userString, "")
	}
	return func(c *v1.Cause) cause.About {
		pod := pods[0] // they are alike
		about := cause.About{Namespace: namespace, Controlled: metav1.GetControllerOf(pod) != nil}
		if len(pods) == 1 {
			about.Pod = pod.Name
		}
		if !about.Controlled || c != nil && strings.HasPrefix(c.Container, id+"-") {
			about.UserString, about.Blueprint = userString, pod.Labels[kube.LabelBlueprint]
		}
		return about.Of(pod.Spec, c)
	}
}

// AboutPod knows of a pod nothing but its namespace, and of which workspace and blueprint it is
// if that is known.
func AboutPod(namespace, userString, blueprint string) About {
	about := cause.About{Namespace: namespace, UserString: userString, Blueprint: blueprint}
	return func(c *v1.Cause) cause.About { return about.Of(corev1.PodSpec{}, c) }
}

// Hint says what to do about the cause of a reading; it is empty without one.
func (a About) Hint(s v1.Snapshot) string {
	if a == nil || s.Cause == nil {
		return ""
	}
	return cause.Hint(s.Cause, a(s.Cause))
}

// Explain is the reading with a hint at its cause.
func (a About) Explain(s v1.Snapshot) v1.Snapshot {
	if s.Cause != nil {
		explained := *s.Cause // the reading is the follower's
		explained.Hint = a.Hint(s)
		s.Cause = &explained
	}
	return s
}

// ReasonStuck is the reason of an error that ends the waiting for what only a person
// can change. Nothing has failed: it may still be changed, and what was created stays.
const ReasonStuck = "STUCK"

// Failure is the error of a workspace that will not run, or is not waited for any longer.
func (a About) Failure(s v1.Snapshot, p cause.Policy) error {
	err := fault.New(fault.Failed, "the workspace is %s", s.Stage)
	switch {
	case s.Cause != nil:
		err.Message = fault.Line(s.Cause.Message)
	case s.Verdict() == v1.VerdictTerminating, s.Verdict() == v1.VerdictGone:
		err.Message = "the pod was deleted while it was being provisioned"
	}
	if s.Verdict() == v1.VerdictStuck {
		err.WithReason(ReasonStuck).Problems = []string{
			fmt.Sprintf("this will not resolve by itself; waited %s for it (%s)", duration.HumanDuration(p.StuckAfter),
				p.StuckAfterOrigin),
		}
	}
	return err.WithHint("%s", a.Hint(s))
}

// AnotherBlueprint stands for differences that cannot be told apart.
const AnotherBlueprint = "its blueprint"

// shownFields is how many differences a message has.
const shownFields = 5

// Drifted says that a workspace is left as it is though it differs from what would be
// provisioned now, and what to do about it.
func Drifted(user string, fields []string) string {
	if more := len(fields) - shownFields; more > 0 {
		fields = append(fields[:shownFields:shownFields], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s keeps the settings that it was created with, which have changed since: %s; "+
		"apply them with %s",
		user, strings.Join(fields, ", "), "`"+fault.Command("berth", "update", user)+"`")
}
