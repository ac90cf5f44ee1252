// Package guard keeps records from doing what their authors could not do themselves: an
// admission policy, and whether the cluster has it. What it admits is what a loop believes.
package guard

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/serve/manifest"
)

// Role and Name are those of the policy: manifest.PolicyName makes lifecycle.Guard of them.
const (
	Role = "workspaces"
	Name = "records"
)

// Policy guards what a loop acts upon: ConfigMaps that record what workspaces are meant to
// be, found by their label or their name, and Secrets with Helm's record of a workspace, by
// a label that such a record loses only by the hand of somebody who may create pods. It does
// not read documents; it checks that what the object says beside them is true of its author.
// And it guards the ConfigMaps that workspaces run their scripts from.
func Policy() manifest.Policy {
	forbidden := metav1.StatusReasonForbidden
	check := func(expression, message string) admissionv1.Validation {
		return admissionv1.Validation{Expression: expression, Message: message, Reason: &forbidden}
	}
	ofRecord := func(expression string) string { return "!variables.record || variables.deleted || " + expression }
	return manifest.Policy{
		Name: Name,
		Rules: []admissionv1.RuleWithOperations{{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete},
			Rule: admissionv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"},
				Resources: []string{"configmaps", "secrets"},
			},
		}},
		Conditions: []admissionv1.MatchCondition{{Name: "records", Expression: fmt.Sprintf(
			`request.resource.resource == 'secrets' ? %s : (%s || %s)`, either(labelled(release.LabelGuarded)),
			either(isRecord()), either(isContent()))}},
		Variables: []admissionv1.Variable{
			{Name: "deleted", Expression: `request.operation == 'DELETE'`},
			{Name: "secret", Expression: `request.resource.resource == 'secrets'`},
			{Name: "record", Expression: `!variables.secret && ` + either(isRecord())},
			{Name: "vouched", Expression: annotation("object", lifecycle.AnnotationVouched)},
			{Name: "rights", Expression: `variables.vouched == '' ? [] : variables.vouched.split(',')`},
			{Name: "workload", Expression: annotation("object", lifecycle.AnnotationWorkload)},
			{Name: "made", Expression: annotation("object", lifecycle.AnnotationMade)},
			{Name: "before", Expression: `oldObject == null ? '' : ` +
				annotation("oldObject", lifecycle.AnnotationMade)},
		},
		Checks: []admissionv1.Validation{
			check(`!variables.secret || variables.deleted || `+may("pods", "create"),
				"Helm's record of a workspace is written by those who may create pods"),
			check(`!variables.secret || !variables.deleted || `+may("pods", "delete"),
				"Helm's record of a workspace is deleted by those who may delete pods"),
			check(`variables.secret || variables.record || `+content("object"), runs),
			check(`variables.secret || variables.record || `+content("oldObject"), runs),
			check(`!variables.record || `+may("pods", "delete"),
				"the desired state of a workspace is recorded by those who may delete pods"),
			// One without a record is adopted as meant to run.
			check(`!variables.record || !variables.deleted || `+may("pods", "create"),
				"deleting the state record of a workspace takes the right to create pods, as the "+
					"workspace is started then"),
			check(ofRecord(`variables.rights.all(r, r in `+rights()+`)`), "an annotation names an unknown right"),
			check(ofRecord(vouches(lifecycle.RightStart, true, may("pods", "create"))),
				"the record vouches for a start, and its author may not create pods"),
			check(ofRecord(vouches(lifecycle.RightDelete, true, may("secrets", "delete"))),
				"the record vouches for a deletion, and its author may not delete secrets"),
			check(ofRecord(vouches(lifecycle.RightStorage, false, may("persistentvolumeclaims", "delete"))),
				"the record vouches for the deletion of storage, and its author may not delete persistentvolumeclaims"),
			check(ofRecord(`variables.workload == '' || variables.workload.matches(`+
				`'^(deployment|statefulset|daemonset)/[a-z0-9.-]+$') && `+mayPatchWorkload),
				"the record vouches for a workload that its author may not patch"),
			check(ofRecord(`variables.made == variables.before || variables.workload != '' || `+may("pods",
				"create")+` || `+
				may("persistentvolumeclaims", "delete")),
				"what the limits of a workspace are made of is changed by those who may create pods or delete "+
					"persistentvolumeclaims"),
		},
	}
}

// isRecord is true for a ConfigMap that says the desired state of a workspace.
func isRecord() func(o string) string {
	return func(o string) string {
		return fmt.Sprintf("%s.metadata.name.startsWith('%s') || %s", o, lifecycle.NamePrefix,
			labelled(lifecycle.Label)(o))
	}
}

// isContent is true for a ConfigMap that the pod of a workspace mounts: by its labels, which
// records of jobs do not have all of, or by its name, as the one that Helm's marks say it is of.
func isContent() func(o string) string {
	const of = "meta.helm.sh/release-name"
	return func(o string) string {
		return fmt.Sprintf("%s && %s || %s.matches('-[0-9a-f]{7}$') && %s.metadata.name in ['-config', "+
			"'-init-scripts', '-ext-files'].map(s, %s + s)",
			labelled(kube.LabelCanonicalID)(o), labelled(kube.LabelUsername)(o), annotation(o, of), o,
			annotation(o, of))
	}
}

const runs = "what a workspace runs is changed by those who may create pods, or patch the workload that it is in, " +
	"and deleted by those who may delete pods"

// content is true if the author may change what the pod of a workspace mounts, as it is before or
// after the write. Each question to the authorizer costs so much that no expression has three.
func content(o string) string {
	inWorkload := labelled(kube.LabelWorkloadKind)(o) + " && " + labelled(kube.LabelWorkloadName)(o)
	label := func(name string) string { return fmt.Sprintf("%s.metadata.labels['%s']", o, name) }
	patch := fmt.Sprintf("authorizer.group('apps').resource(%s + 's').namespace(request.namespace)."+
		"name(%s).check('patch').allowed()",
		label(kube.LabelWorkloadKind), label(kube.LabelWorkloadName))
	return fmt.Sprintf("%s == null || (%s ? %s in ['deployment', 'statefulset', 'daemonset'] && %s || %s : "+
		"variables.deleted ? %s : %s)",
		o, inWorkload, label(kube.LabelWorkloadKind), patch, may("pods", "create"), may("pods", "delete"),
		may("pods", "create"))
}

// mayPatchWorkload is evaluated for what names a workload.
const mayPatchWorkload = `authorizer.group('apps').resource(variables.workload.split('/')[0] + ` +
	`'s').namespace(request.namespace).name(variables.workload.split('/')[1]).check('patch').allowed()`

func may(resource, verb string) string {
	return fmt.Sprintf(`authorizer.group('').resource('%s').namespace(request.namespace).check('%s').allowed()`,
		resource, verb)
}

// vouches is true unless an author vouches for a right and does not have it. Some rights are
// those of who may patch the workload.
func vouches(r lifecycle.Right, byWorkload bool, may string) string {
	expression := fmt.Sprintf("!('%s' in variables.rights) || ", r)
	if byWorkload {
		expression += "variables.workload != '' || "
	}
	return expression + may
}

func rights() string {
	var quoted []string
	for _, r := range lifecycle.Rights() {
		quoted = append(quoted, "'"+string(r)+"'")
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// either is true if the object that is written is such a one, or was before.
func either(is func(o string) string) string {
	of := func(o string) string { return fmt.Sprintf("(%s != null && (%s))", o, is(o)) }
	return "(" + of("object") + " || " + of("oldObject") + ")"
}

// labelled is true for an object that has a label.
func labelled(label string) func(o string) string {
	return func(o string) string {
		return fmt.Sprintf("(has(%s.metadata.labels) && '%s' in %s.metadata.labels)", o, label, o)
	}
}

// annotation is the text of an annotation; empty without it.
func annotation(object, name string) string {
	return fmt.Sprintf("(has(%[1]s.metadata.annotations) && '%[2]s' in %[1]s.metadata.annotations ? "+
		"%[1]s.metadata.annotations['%[2]s'] : '')", object, name)
}
