// Package diagnose explains: how a workspace, a pod or a workload stands, what
// a cause means, what to do about it, and what the failing container said last.
package diagnose

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// Hint says what a cause means and what to do about it, for somebody who does
// not know Kubernetes well. Empty if there is nothing to say.
func Hint(cause *v1.Cause, about About) string {
	if cause == nil {
		return ""
	}
	text := strings.NewReplacer(
		"{spec}", about.spec(),
		"{image-field}", about.field(cause, "image", "image"),
		"{memory-field}", about.field(cause, "resources.memory", "resources.limits.memory"),
		"{requests-field}", about.field(nil, "resources", "resources.requests"),
		"{class-field}", about.class(),
		"{command-field}", about.command(),
		"{again}", about.again(),
		"{retried}", about.retried(),
		"{anew}", about.anew(),
		"{name}", name(cause),
		"{ns}", about.option(),
		"{container}", container(cause),
		"{limit}", about.limit(),
		"{image}", about.image(),
		"{exit}", exitText(cause.ExitCode),
		"{last-words}", about.lastWords(cause),
		"{quota}", quotaText(cause.Message, about),
		"{refused}", refusedText(cause.Message, about),
		"{nodes}", nodesText(cause.Message, about.Requests),
		"{room}", roomText(cause.Message, about),
		"{missing}", missingText(cause.Message, about.option()),
		"{probe}", about.probe(),
		"{probed}", about.probed(cause),
	).Replace(hints()[cause.Code])
	return strings.Join(strings.Fields(text), " ")
}

// spec is where the thing to change stands.
func (a About) spec() string {
	switch {
	case a.Blueprint == "":
		return "the pod's spec"
	case a.Origin == "" || strings.HasPrefix(a.Origin, "built in"):
		return "blueprint " + a.Blueprint
	}
	return fmt.Sprintf("blueprint %s (%s)", a.Blueprint, a.Origin)
}

// field names a field of the blueprint, or the one of the pod that it is.
func (a About) field(cause *v1.Cause, ofBlueprint, ofPod string) string {
	if a.Blueprint != "" {
		return fmt.Sprintf("%q in %s", ofBlueprint, a.spec())
	}
	if cause != nil && cause.Container != "" {
		return fmt.Sprintf("%q of container %s in %s", ofPod, cause.Container, a.spec())
	}
	return fmt.Sprintf("%q in %s", ofPod, a.spec())
}

func (a About) class() string {
	if a.Blueprint != "" {
		return `"storageClassName" of the storage's claimSpec in ` + a.spec()
	}
	return `"storageClassName" of a new claim (that of an old one cannot be changed)`
}

// command says what to do about a program that is not there.
func (a About) command() string {
	if a.Blueprint != "" {
		return "a workspace needs a /bin/sh. Use another image: " + a.field(nil, "image", "image")
	}
	return `correct "command" in the pod's spec, or use an image that has the program`
}

// again is how a change takes effect.
func (a About) again() string {
	switch {
	case a.Blueprint != "":
		return "Then " + a.provision() + "."
	case a.Controlled:
		return "Then apply what the pod is made from again."
	}
	return "Then delete the pod and create it again."
}

// retried is who makes a pod that was refused once it may be made.
func (a About) retried() string {
	if a.Controlled {
		return "It is tried again by itself."
	}
	return a.again()
}

// anew is what to do about a pod that is over, without any change.
func (a About) anew() string {
	switch {
	case a.Blueprint != "":
		return "If you still need it, " + a.provision() + "."
	case a.Controlled:
		return "Its controller makes another one."
	}
	return "If it is still needed, create it again."
}

func (a About) provision() string {
	if a.UserString == "" {
		return "provision again"
	}
	return "run `berth provision " + a.UserString + "` again"
}

// option is the namespace as kubectl wants to hear it.
func (a About) option() string {
	if a.Namespace == "" {
		return ""
	}
	return " --namespace " + a.Namespace
}

func (a About) image() string {
	if a.Image == "" {
		return "the image"
	}
	return a.Image
}

func (a About) limit() string {
	if a.Memory == "" {
		return "more memory than the node could give it"
	}
	return "more memory than its limit of " + a.Memory
}

func (a About) probe() string {
	if a.Probe == "" {
		return "The probe that looks after it gets no good answer."
	}
	return "The probe asks for " + a.Probe + " and gets no good answer."
}

// probed is what a probe has to do with the end of a container.
func (a About) probed(cause *v1.Cause) string {
	if !strings.Contains(cause.Message, "probe failed") {
		return ""
	}
	return "It is ended because of its probe. " + a.probe()
}

func (a About) lastWords(cause *v1.Cause) string {
	pod, ok := strings.CutPrefix(cause.Object, "pod/")
	if !ok || cause.Container == "" {
		return "What it said last tells why."
	}
	previous := ""
	if cause.Restarts != nil && *cause.Restarts > 0 {
		previous = " --previous"
	}
	return fmt.Sprintf("What it said last tells why (`kubectl logs %s --container %s%s%s`).", pod, cause.Container, a.option(), previous)
}

func container(cause *v1.Cause) string {
	if cause.Container == "" {
		return "The container"
	}
	return "Container " + cause.Container
}

// name is that of the object that the cause is about.
func name(cause *v1.Cause) string {
	return cause.Object[strings.Index(cause.Object, "/")+1:]
}
