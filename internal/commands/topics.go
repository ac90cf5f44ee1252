package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
)

// topics are the pages of `berth help` that are about no single command.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit status says", Long: exitCodes()},
		{Use: "user-strings", Short: "How workspaces are named", Long: userStrings},
		{Use: "output", Short: "What is printed, and what can be relied on", Long: output},
		{Use: "environment", Short: "Configuration file and variables", Long: environment},
		{Use: "rbac", Short: "The permissions that each command takes", Long: permissions()},
		{Use: "policies", Short: "What counts as a failure, and when", Long: policies},
	}
}

// exitCodes is the table of codes, as a page.
func exitCodes() string {
	var b strings.Builder
	b.WriteString("Every error has a code, and the code decides the exit status.\n\n")
	fmt.Fprintf(&b, "  %-5s %-35s %s\n", "exit", "code", "when")
	fmt.Fprintf(&b, "  %-5d %-35s %s\n", 0, "", "done")
	for _, m := range fault.Table() {
		codes := make([]string, len(m.Codes))
		for i, c := range m.Codes {
			codes[i] = string(c)
		}
		fmt.Fprintf(&b, "  %-5d %-35s %s\n", m.Exit, strings.Join(codes, ", "), m.When)
	}
	b.WriteString("\n`berth exec` passes on the status of the command that it ran; its own failures\nexit with 125.")
	return b.String()
}

const userStrings = `A user string says whose workspace it is and what it is made of:

  alice                      alice's workspace, from the default blueprint
  alice~dev                  from the blueprint dev
  alice~dev+user=root        the same workspace, entered as another user
  alice~repo=org/proj        from the .k8shell.yaml of a repository; +ref=BRANCH
  alice~pod=NAME             a workspace that exists, by the name of its pod

The same user string always means the same workspace: its canonical ID, such as
alice-2bd806c, follows from it. Where a workspace is looked up, its ID can be
given instead; id/alice-2bd806c leaves no doubt.

@ ~ + and = inside a value are written %40 %7E %2B and %3D. In editors and
scp, where such characters get in the way, a whole user string can be wrapped as
b64- and its base64url form.`

const environment = `The configuration is read from $XDG_CONFIG_HOME/berth/config.yaml (usually
~/.config/berth/config.yaml); variables take precedence over it, and flags over
both.

  file               variable                  flag
  blueprints         BERTH_BLUEPRINTS          --blueprints
  blueprintConfigMaps (a list of namespace and name, in the file only)
  defaultBlueprint   BERTH_DEFAULT_BLUEPRINT
  defaultRegistry    BERTH_DEFAULT_REGISTRY
  injectNamespaces                              (where workspaces may be injected)
  policy                                              (see berth help policies)
                     BERTH_CONFIG              (another file)

What only the file has:

  registry:                  the private registry that images are pulled from; its
    server: HOST             credentials become the namespace's pull secret
    username: NAME
    passwordEnv: VARIABLE    or passwordFile, or password
  repositories:
    url: https://github.com/{owner}/{name}.git  (where they are cloned from)
    credentials:             for cloning the repository of a workspace, by address
      - url: https://github.com
        username: NAME
        passwordEnv: VARIABLE
  certificate:               a certificate of cert-manager for each workspace
    enabled: true
    issuer: {name: NAME, kind: ClusterIssuer}
  jobs:                      the record of what provisionings do
    store: auto              NATS if it is configured, else the cluster; or nats,
    retention: 48h           cluster, none
    nats:
      url: nats://HOST:4222  or service: {namespace: NS, name: NAME, port: 4222},
      user: NAME             which is reached through a forwarded port
      password: !file PATH   or token, or credentials: FILE
      tls: {ca: FILE, cert: FILE, key: FILE, serverName: NAME}

In the file, ${NAME} stands for a variable of the environment, and !file PATH
for the content of a file.

identity.providers is a list of who is asked who users are, in this order; docs/identity.md
has all of it. Without it:

  identity:
    providers:
    - {kind: kubernetes}
    - {kind: git}    # the .k8shell.yaml of repositories at github.com

KUBECONFIG and kubectl's own flags say which cluster is meant. NO_COLOR,
CLICOLOR_FORCE, TERM=dumb and CI are honoured: without a terminal, or with one
of the latter two, progress is plain dated lines.`
