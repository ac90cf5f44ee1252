package ssh

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/commands/attach"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/forward"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/exec/remotefs"
	"github.com/berthdev/berth/internal/exec/sshd"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/sshconfig"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// finder finds the workspace of a connection, for each channel: its pod may have been replaced since.
type finder struct {
	workspaces func() (inventory.Reader, error)
	states     func(context.Context) (lifecycle.Place, func(), error)
	flags      []string
	asOwn      string // how one enters as the container's own user, $own
	name       Name
	mender     mender

	mu    sync.Mutex
	ports *forward.Dialer // of the pod that was found last
	uid   string
	ahead chan located // what was looked up before it was asked for; nil for nothing

	lives   context.Context //nolint:containedctx // that of the connection, longer than that of a channel
	channel atomic.Int32    // how many have been opened
	watched watched
}

// located is a workspace as it was at a time.
type located struct {
	client  *kube.Client // of its namespace
	pod     *corev1.Pod
	request pod.Request
	version string // of the list in which it was; empty for one that is in a workload
	err     error
	at      time.Time
}

// aheadFor is how long what was looked up ahead holds.
const aheadFor = 2 * time.Second

// begin looks the workspace up while the client still introduces itself. The context is that of the connection.
func (f *finder) begin(ctx context.Context) {
	f.lives = ctx
	ahead := make(chan located, 1)
	f.ahead = ahead
	go func() {
		l := f.locate(ctx)
		l.at = time.Now()
		ahead <- l
	}()
}

// located is where the workspace is. From its second channel on, a connection is one of many commands, and worth a
// watch.
func (f *finder) located(ctx context.Context) located {
	if l, known := f.watched.get(); known {
		return l
	}
	l := f.asked(ctx)
	if f.channel.Add(1) > 1 && l.err == nil && f.lives != nil {
		f.watched.follow(f.lives, l) //nolint:contextcheck // the watch outlives the channel
	}
	return l
}

// asked is what was looked up ahead, if that was a moment ago, or else what is looked up now.
func (f *finder) asked(ctx context.Context) located {
	f.mu.Lock()
	ahead := f.ahead
	f.ahead = nil
	f.mu.Unlock()
	if ahead == nil {
		return f.locate(ctx)
	}
	select {
	case l := <-ahead:
		if time.Since(l.at) < aheadFor {
			return l
		}
	case <-ctx.Done():
		return located{err: context.Cause(ctx)}
	}
	return f.locate(ctx)
}

// find finds the place, as it is now. What starts is waited for, and what is stopped is started if that is wanted; say
// tells the client why it waits.
func (f *finder) find(ctx context.Context, user string, say func(string)) (p sshd.Place, err error) {
	err = f.mender.until(ctx, f.name, say, func() error {
		p, err = f.look(ctx, user)
		return err
	})
	return p, err
}

// look finds the place, as it is now.
func (f *finder) look(ctx context.Context, user string) (sshd.Place, error) {
	l := f.located(ctx)
	if l.err != nil {
		return sshd.Place{}, l.err
	}
	return f.place(l, f.login(l.pod, l.request, user)), nil
}

// locate asks where the workspace is.
func (f *finder) locate(ctx context.Context) (l located) {
	arg, err := inventory.ParseArgument(f.name.Workspace)
	if err != nil {
		return located{err: err}
	}
	reader, err := cmdutil.Await(ctx, f.workspaces)
	if err != nil {
		return located{err: err}
	}
	reader.Client.Ready.Keep()
	if f.name.Namespace != "" {
		reader = reader.In(f.name.Namespace)
	}
	target, err := reader.Find(ctx, arg)
	if err != nil {
		return located{err: err}
	}
	pods, err := reader.PodsFound(ctx, target)
	var r pod.Request
	if err == nil {
		r, err = pod.Place{Ready: true}.In(pods)
	}
	if err != nil {
		return located{err: cmdutil.OrStopped(ctx, f.states, f.flags, target, f.name.Workspace, err)}
	}
	for _, p := range pods {
		if p.Name == r.Pod {
			l := located{client: reader.Client.In(target.Namespace), pod: p, request: r}
			if target.Found.Workload == nil {
				l.version = target.Found.Version
			}
			return l
		}
	}
	return located{err: fault.New(fault.Internal, "pod %s is not among those of the workspace", r.Pod)}
}

// login is as whom a session runs: the user that the client names, unless that is the one of the configuration.
func (f *finder) login(p *corev1.Pod, r pod.Request, user string) pod.Login {
	l := pod.LoginIn(p, r, osUser(pod.OSUser(f.name.Workspace), user))
	l.AsOwn = f.asOwn
	return l
}

// osUser is the OS user that is asked for: the one that the client names, or else that of the workspace's name.
func osUser(named, user string) string {
	if user != sshconfig.User && user != "" {
		return user
	}
	return named
}

// place is what a session can do in a pod.
func (f *finder) place(l located, login pod.Login) sshd.Place {
	place, seen := where(pod.Runner(l.client, l.request), login), pod.See(l.client, l.pod, l.request)
	run := place.Run
	place.Run = func(ctx context.Context, c sshd.Command, s exec.Session) (int, error) {
		status, err := run(ctx, c, s)
		return seen.Ended(ctx, status, err)
	}
	place.Names = []string{l.pod.Name, l.pod.Status.PodIP}
	place.Dial = func(ctx context.Context, port uint16) (io.ReadWriteCloser, error) {
		return f.portsOf(l.client, l.pod).Dial(ctx, port)
	}
	return place
}

// where is a place in which commands are run.
func where(run exec.Runner, login pod.Login) sshd.Place {
	return sshd.Place{
		Run: func(ctx context.Context, c sshd.Command, s exec.Session) (int, error) {
			command := login.Line(c.Line, c.Env, c.Rows, c.Columns)
			return pod.Announced(ctx, run, command, s, func(pid int) {
				c.Started(pid)
				if s.TTY {
					go pod.Accompany(ctx, run, pid)
				}
			})
		},
		Files: func(ctx context.Context, stream io.ReadWriteCloser) error {
			return remotefs.Serve(ctx, login.Theirs(run), stream)
		},
		Signal: func(ctx context.Context, pid int, signal string) error { return pod.Signal(ctx, run, pid, signal) },
		Relay: func(ctx context.Context, address string, unix bool) (io.ReadWriteCloser, error) {
			return exec.Relay(ctx, login.Theirs(run), address, unix)
		},
	}
}

// portsOf is the connection with the ports of a pod, one for all channels.
func (f *finder) portsOf(client *kube.Client, p *corev1.Pod) *forward.Dialer {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ports == nil || f.uid != string(p.UID) {
		name := p.Name
		f.uid, f.ports = string(p.UID), &forward.Dialer{Connect: func(ctx context.Context) (httpstream.Connection,
			error,
		) {
			return client.DialPorts(ctx, client.Namespace, name)
		}}
	}
	return f.ports
}

// Explain is how an error reads at a client.
func Explain(err error) (text string, status int) { return hints{}.explain(err) }

// hints are for somebody at a client of ssh, which has no flags of berth.
type hints struct {
	flags  []string // that say which cluster is meant
	suffix string   // of the host name that was typed; empty for none
	// instead is what is meant, where there is no such workspace; empty if that is not known.
	instead string
}

// explain is how an error reads at a client.
func (h hints) explain(err error) (text string, status int) {
	if _, printed := errors.AsType[cmdutil.ExitError](err); printed {
		return "", attach.ExitStatus(err)
	}
	f := fault.From(err)
	text = "berth: " + f.Message + "\n"
	if hint := h.of(f); hint != "" {
		text += "hint: " + hint + "\n"
	}
	return text, attach.ExitStatus(err)
}

// of is the hint of an error, with the flags that led here in its commands.
func (h hints) of(f *fault.Error) string {
	hint, reason := f.Hint, fault.ReasonOf(f)
	missing := fault.CodeOf(f) == fault.NotFound && reason != inventory.ReasonPodGone
	switch {
	case missing && h.instead != "":
		return h.instead
	case h.suffix != "" && reason == inventory.ReasonNoNamespace:
		hint = "a host name with the namespace is ID.NAMESPACE." + h.suffix +
			"; `berth status --all-namespaces` lists them"
	case h.suffix != "" && missing:
		hint = strings.Replace(hint, inventory.Elsewhere, "ID.NAMESPACE."+h.suffix+" is one of another namespace", 1)
	}
	located := wording.Title{Flags: h.flags}.Located
	before, command, unquoted := strings.Cut(hint, ": berth ")
	cluster := strings.Join(wording.WithoutNamespace(h.flags), " ")
	if unquoted && !strings.Contains(hint, "`") && !strings.Contains(command, cluster) {
		return before + ": " + strings.Trim(located("`berth "+command+"`"), "`")
	}
	return located(hint)
}
