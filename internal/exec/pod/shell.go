package pod

import (
	"cmp"
	"context"
	_ "embed"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

//go:embed shell.sh
var script string

// Login is as whom a container is entered, and where.
type Login struct {
	// User is the OS user who is asked for; empty for none.
	User string
	// Own is the one that the workspace was provisioned with. The shell is theirs if nobody
	// else is asked for; a command runs as the container does.
	Own string
	// Home is the home directory; empty for the user's own, as the image has it.
	Home string
	// Container is what messages call it.
	Container string
	// AsOwn is how one enters as the container's own user, $own, where another is refused; empty for user=$own.
	AsOwn string
}

// LoginIn is how the container of a request is entered as the OS user who is asked for, if
// any is. The workspace's own and its home directory are those of the main container.
func LoginIn(p *corev1.Pod, r Request, user string) Login {
	l := Login{User: user, Container: r.Container}
	if r.IsMain(p) {
		l.Own = OSUser(userstring.FromAnnotation(p.Annotations[kube.AnnotationUserString]))
		l.Home = Home(p, r.Container)
	}
	return l
}

// OSUser is the OS user whom a user string asks for; empty if it asks for none, or is
// something else that names a workspace.
func OSUser(text string) string {
	u, err := userstring.ParseCanonical(text)
	if err != nil {
		return ""
	}
	return u.OSUser
}

// Shell is the command that enters a workspace when no command is given: the best shell that the image has, as a login
// shell in the home directory. At a terminal, the blueprint's splash is shown first. It is the user's, in Home, or in
// their own home directory if Home is empty or not theirs to write to; if the container does not have the user, or may
// not switch, it ends with berth's own status and says why on stderr.
func (l Login) Shell() []string { return l.script(cmp.Or(l.User, l.Own)) }

// Command is a command as it has to be run to be the user's: as it is, or through the same
// script, with HOME as the shell has it.
func (l Login) Command(command []string) []string {
	if l.User == "" {
		return command
	}
	return append(l.script(l.User), command...)
}

func (l Login) script(user string) []string {
	text := uncommented(script)
	if l.AsOwn != "" && !strings.ContainsAny(l.AsOwn, "`\"\\()\n") {
		text = strings.Replace(text, ownUser, l.AsOwn+")\"", 1)
	}
	return []string{"/bin/sh", "-c", text, "sh", user, l.Home, l.Container}
}

// ownUser is where the script says how to enter as the container's own user.
const ownUser = `user=$own)"`

// As runs commands as the user; without a command it is their shell.
func (l Login) As(run exec.Runner) exec.Runner {
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		if len(command) == 0 {
			return run(ctx, l.Shell(), s)
		}
		return run(ctx, l.Command(command), s)
	}
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
