// Package topics is the pages of `berth help` that are about no single command.
package topics

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
)

// New makes the pages.
func New() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "Exit statuses and error codes", Long: exitCodes()},
		{Use: "user-strings", Short: "How workspaces are named", Long: userStrings},
		{Use: "output", Short: "Output formats, and what scripts can rely on", Long: output},
		{Use: "environment", Short: "Configuration file and environment variables", Long: environment},
		{Use: "rbac", Short: "The permissions that each command needs", Long: permissions()},
		{Use: "policies", Short: "What counts as a failure, and when", Long: policies},
	}
}

// exitCodes is the table of codes.
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
	b.WriteString("\nA command on several workspaces exits with 3 if any of them failed, with 5 if some only\n" +
		"timed out, and with 6 if some only ran already; each one's own code is in the document.\n")
	b.WriteString("\n`berth exec` exits with the status of the command that it ran; its own failures\n" +
		"exit with 125, a program that the container does not have with 127, and one that cannot\n" +
		"be executed with 126. If the pod or the container ends before the command, it exits with\n" +
		"137, and says so if the cluster says so within a few seconds. A command whose output is\n" +
		"not read any further, as by head, exits with 141 and prints no error.")
	return b.String()
}

const userStrings = `A user string names a workspace: whose it is, and what it is made from.

  alice                      alice's workspace, from the default blueprint
  alice~dev                  from the blueprint dev
  alice~dev+user=root        the same workspace, entered as another user
  alice~repo=org/proj        from the .k8shell.yaml of a repository; +ref=BRANCH
  alice~pod=NAME             an existing workspace, by the name of its pod
  alice~dev+workload=deployment/web+ns=shop
                             in the pods of a Deployment, StatefulSet or DaemonSet
                             that runs in the namespace shop, beside its containers

The same user string always names the same workspace: its canonical ID, such as
alice-2bd806c, is derived from it. Commands that look up a workspace also accept its
ID; id/alice-2bd806c is always an ID. With "compat: k8shell" in the configuration, it
is the ID that k8shell gives the workspace; see docs/k8shell.md.

USER is the whole name of a user, such as alice@example.com, alice.smith or müller. It
is read in lower case; capitals, and all but letters, digits and . _ - @, have to be
percent-encoded: %41lice is Alice, system%3Aserviceaccount%3Aci%3Adeploy an account of
a namespace. No two users have the same one; docs/identity.md has a table.

Inside a value, write @ ~ + and = as %40 %7E %2B and %3D. Where such characters are a
problem, as in editors and scp, write a whole user string as b64- and its base64url
form. No shell needs quotes around any of these: bash, fish and zsh, also with its
option EXTENDED_GLOB, take them as they are.`

const environment = `The configuration is read from $XDG_CONFIG_HOME/berth/config.yaml (usually
~/.config/berth/config.yaml). Environment variables take precedence over it, and
flags over both.

  file               variable                  flag
  blueprints         BERTH_BLUEPRINTS          --blueprints
  blueprintConfigMaps (a list of namespace and name, in the file only)
  blueprintVariables (a list of names, in the file only: the variables that
                     expressions of platform blueprints may read with env)
  defaultBlueprint   BERTH_DEFAULT_BLUEPRINT
  defaultRegistry    BERTH_DEFAULT_REGISTRY
  injectNamespaces                              (where workspaces may be injected)
  controlNamespace                              (where k8shell's proxy and API server
                                                run, which may come to agents)
  apiServer                                     (the address of that API server, which
                                                agents report to with the token of
                                                Secret <id>-pat, which k8shell makes)
  compat             BERTH_COMPAT                (k8shell: IDs, locks and events are
                                                those of k8shell; see docs/k8shell.md)
  policy                                              (see berth help policies)
                     BERTH_CONFIG              (another file)
                     BERTH_RELEASES            (a mirror of berth's releases)

In the file only:

  registry:                  the private registry of images; its credentials
    server: HOST             become the namespace's pull secret
    username: NAME
    passwordEnv: VARIABLE    or passwordFile, or password
  repositories:
    url: https://github.com/{owner}/{name}.git  (where they are cloned from)
    credentials:             for cloning the repository of a workspace, by address
      - url: https://github.com
        username: NAME
        passwordEnv: VARIABLE
        inWorkspace: false   (true: workspaces can read them, to push; see
                             docs/blueprints.md)
  certificate:               a cert-manager certificate for each workspace
    enabled: true
    issuer: {name: NAME, kind: ClusterIssuer}
  jobs:                      the records of provisionings
    store: auto              NATS if it is configured, else the cluster; or nats,
    retention: 48h           cluster, none
    nats:
      url: nats://HOST:4222  or service: {namespace: NS, name: NAME, port: 4222},
      user: NAME             which is reached through a forwarded port
      password: !file PATH   or token, or credentials: FILE
      tls: {ca: FILE, cert: FILE, key: FILE, serverName: NAME}
  limits:                    of workspaces; what is left out is not limited
    maxActiveHours: 36       unless their blueprint says something else, which counts
    maxStoppedHours: 744     where limits are enforced; see docs/blueprints.md
    maxAgeHours: 8760
    workspacesPerUser: 3     how many there may be in a namespace; one more is not
    workspaces: 100          created
  bundles:                   by whom they have to be signed; see docs/bundles.md
    verify: required         of each; otherwise where --verify says so
    keys: [FILE]             public keys of cosign, or their texts: !file PATH
    keyring: FILE            OpenPGP keys, for the provenance of charts
    identities:              those that count without a key, with a certificate
    - subject: ADDRESS       or subjectRegExp, which matches the whole
      issuer: https://HOST   or issuerRegExp
    trustedRoot: FILE        trusted_root.json; otherwise that of sigstore's public instance
  gateways:                  what berth exec and cp --gateway NAME go through
    - name: NAME
      url: https://HOST      the credential is sent there, and nowhere else
      ca: FILE               of its certificate's authority, unless the system knows it
      namespace: NS          of the workspaces, unless --namespace is given
      credential:            exactly one of these
        tokenFile: FILE
        command: [PROGRAM, ARG]         which prints a token
        certificate: {cert: FILE, key: FILE}
        kubeconfig: true     the credentials of the kubeconfig's current context
  volumes:                   where berth volume list, read and cp ask for what pods have left
    readURL: https://HOST:PORT   each address of the host is that of a node's driver
    readCA: FILE             of its certificate's authority, unless the system knows it
    credential: {kubeconfig: true}   or another one, as for a gateway

In the file, ${NAME} is replaced by an environment variable, and !file PATH by the
content of a file.

identity.providers is the list of identity providers, in the order in which they are
asked; see docs/identity.md. The default is

  identity:
    providers:
    - {kind: kubernetes}
    - {kind: git}    # the .k8shell.yaml of repositories at github.com

KUBECONFIG and kubectl's own flags choose the cluster. NO_COLOR, CLICOLOR_FORCE,
TERM=dumb and CI are honoured: without a terminal, or with one of the latter two,
progress is printed as plain lines with timestamps.`
