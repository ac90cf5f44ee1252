package cmdutil

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/fault"
)

// ClusterArguments are the flags that say which cluster is meant, for another process: all of them, one argument for
// each value. Paths are those of this directory, wherever they are used.
func ClusterArguments(cmd *cobra.Command) (arguments []string) {
	cmd.InheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed {
			return
		}
		values := []string{flag.Value.String()}
		if list, several := flag.Value.(pflag.SliceValue); several {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch flag.Name {
			case "kubeconfig", "certificate-authority", "client-certificate", "client-key":
				if at, err := filepath.Abs(value); err == nil {
					value = at
				}
			}
			arguments = append(arguments, "--"+flag.Name+"="+value)
		}
	})
	return arguments
}

// Pinned is how another process finds the cluster of this one: by the flags given to it, or else by what the kubeconfig
// of this shell says now.
func (f *Factory) Pinned(given []string) (env, flags []string, err error) {
	named := func(flag string) bool {
		return slices.ContainsFunc(given, func(word string) bool { return strings.HasPrefix(word, "--"+flag+"=") })
	}
	for _, secret := range []string{"token", "password"} {
		if named(secret) {
			return nil, nil, fault.New(fault.InvalidArgument, "--%s would be written into the configuration of ssh",
				secret).
				WithHint("put it into the kubeconfig, and name its context by --context")
		}
	}
	flags = slices.Clone(given)
	if variable := f.Getenv("KUBECONFIG"); variable != "" && !named("kubeconfig") {
		files := filepath.SplitList(variable)
		for i, file := range files {
			if files[i], err = filepath.Abs(file); err != nil {
				return nil, nil, err
			}
		}
		if len(files) == 1 {
			flags = append(flags, "--kubeconfig="+files[0])
		} else if runtime.GOOS != "windows" {
			env = []string{"KUBECONFIG=" + strings.Join(files, string(filepath.ListSeparator))}
		}
	}
	if !named("context") {
		config, err := f.Kube.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, nil, fault.New(fault.InvalidArgument, "read the kubeconfig: %w", err)
		}
		if config.CurrentContext != "" {
			flags = append(flags, "--context="+config.CurrentContext)
		}
	}
	return env, flags, nil
}
