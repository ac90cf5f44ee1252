package kube

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthdev/berth/internal/fault"
)

// SelfContained is a kubeconfig that works on another host: its current context alone, with
// the content of the files that it names, relative to that of the kubeconfig itself. A
// credential that is made anew on this host cannot be taken along and is refused.
func SelfContained(text []byte, file string) ([]byte, error) {
	config, err := clientcmd.Load(text)
	if err != nil {
		return nil, unusable(file, err)
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return nil, unusable(file, err)
	}
	config.Preferences, config.Extensions = clientcmdapi.Preferences{}, nil
	for name, user := range config.AuthInfos {
		if err := movable(file, name, user); err != nil {
			return nil, err
		}
		user.LocationOfOrigin = file
	}
	for _, cluster := range config.Clusters {
		cluster.LocationOfOrigin = file
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return nil, unusable(file, err)
	}
	if err := clientcmd.ConfirmUsable(*config, ""); err != nil {
		return nil, unusable(file, err)
	}
	return clientcmd.Write(*config)
}

func unusable(file string, err error) error {
	return fault.New(fault.InvalidArgument, "kubeconfig %s cannot be used: %w", file, err).
		WithHint("see `kubectl config view --kubeconfig FILE`")
}

// movable refuses a user whose credential comes from this host each time.
func movable(file, name string, user *clientcmdapi.AuthInfo) error {
	var from string
	switch {
	case user.Exec != nil:
		from = "the command " + user.Exec.Command + " (exec)"
	case user.TokenFile != "":
		from = "the file " + user.TokenFile + " (tokenFile)"
	case user.AuthProvider != nil:
		from = "the auth provider " + user.AuthProvider.Name
	default:
		return nil
	}
	return fault.New(fault.InvalidArgument, "user %s of kubeconfig %s has its credential from %s, which exists on this host only", name, file, from).
		WithHint("use a kubeconfig with a token or a client certificate, for example of a ServiceAccount of that cluster")
}
