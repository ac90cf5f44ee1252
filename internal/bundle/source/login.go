package source

import (
	"context"
	"net/url"
	"strings"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/git"
	"github.com/berthdev/berth/internal/secret"
)

// secretOf is the name of the Secret with the login; empty if none is named.
func secretOf(auth *v1alpha1.Authorization) string {
	if auth == nil {
		return ""
	}
	return auth.Secret.Name
}

// login is the username and password of a Secret for a host; nil if none is named.
func (f Fetcher) login(ctx context.Context, address *url.URL, auth *v1alpha1.Authorization) (*credential.Source,
	error,
) {
	name := secretOf(auth)
	if name == "" {
		return nil, nil
	}
	found, err := f.Cluster.secret(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := f.allow(found, address); err != nil {
		return nil, err
	}
	data := found.Data
	login := credential.Credential{
		Username: string(data["username"]), Token: secret.Text(strings.TrimRight(string(data["password"]), "\r\n")),
		From: "secret/" + name,
	}
	if login.Anonymous() {
		return nil, fault.New(fault.InvalidArgument, "secret/%s in namespace %s has no password", name, f.Cluster.Namespace).
			WithHint("create it with the keys username and password: kubectl create secret generic NAME --namespace %s --type kubernetes.io/basic-auth --from-literal username=USER --from-file password=FILE", f.Cluster.Namespace)
	}
	return &credential.Source{Command: func(context.Context) (credential.Credential, error) { return login, nil }}, nil
}

// sshKey is an SSH client with the key of a Secret for a host.
func (f Fetcher) sshKey(ctx context.Context, address *url.URL, auth v1alpha1.Authorization) (command []string,
	remove func(), err error,
) {
	found, err := f.Cluster.secret(ctx, auth.Secret.Name)
	if err != nil {
		return nil, nil, err
	}
	if err := f.allow(found, address); err != nil {
		return nil, nil, err
	}
	key, known := found.Data["ssh-privatekey"], found.Data["ssh-knownhosts"]
	switch {
	case len(key) == 0:
		return nil, nil, fault.New(fault.InvalidArgument, "secret/%s in namespace %s has no ssh-privatekey",
			auth.Secret.Name, f.Cluster.Namespace).
			WithHint("create it with the keys ssh-privatekey and ssh-knownhosts: kubectl create secret generic NAME --namespace %s --type kubernetes.io/ssh-auth --from-file ssh-privatekey=FILE --from-file ssh-knownhosts=FILE", f.Cluster.Namespace)
	case len(known) == 0 && !auth.InsecureSkipVerify:
		return nil, nil, fault.New(fault.InvalidArgument, "secret/%s in namespace %s has no ssh-knownhosts",
			auth.Secret.Name, f.Cluster.Namespace).
			WithHint("add the key of the host, as `ssh-keyscan` prints it: compare it with what its administrator publishes")
	}
	return git.SSHKey(key, known, auth.InsecureSkipVerify)
}
