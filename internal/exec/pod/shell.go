package pod

import (
	_ "embed"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

//go:embed shell.sh
var script string

// Shell is the command that enters a workspace when none is given: the best shell that
// the image has, as a login shell in the home directory. At a terminal, the blueprint's
// splash is shown first. Where user is not empty and the container's user may switch,
// the shell is that user's, in home, or in their own home directory if home is empty or
// theirs not to write to; where that is not possible, it says so on stderr.
func Shell(user, home string) []string {
	return []string{"/bin/sh", "-c", uncommented(script), "sh", user, home}
}

// ShellIn is the shell of the container that a request is for. In the main one of a
// workspace it is that of the OS user whom the user string names with which somebody
// enters, or else that of the workspace.
func ShellIn(p *corev1.Pod, r Request, userString string) []string {
	if !r.IsMain(p) {
		return Shell("", "")
	}
	user := ""
	for _, text := range []string{userString, userstring.FromAnnotation(p.Annotations[kube.AnnotationUserString])} {
		if u, err := userstring.Parse(text); err == nil && user == "" {
			user = u.OSUser
		}
	}
	return Shell(user, Home(p, r.Container))
}

// uncommented is a script without its comments, which need not be sent.
func uncommented(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Home is the home directory that a container has been given; empty if it is the image's.
func Home(pod *corev1.Pod, container string) string {
	for _, c := range pod.Spec.Containers {
		for _, variable := range c.Env {
			if c.Name == container && variable.Name == "HOME" {
				return variable.Value
			}
		}
	}
	return ""
}
