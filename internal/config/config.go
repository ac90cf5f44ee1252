// Package config is the configuration: the file, the environment and flags, in rising order, made into one checked
// value.
package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity/provider"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Config is what can be configured.
type Config struct {
	// Blueprints is a directory of platform blueprints.
	Blueprints string `yaml:"blueprints"`
	// BlueprintConfigMaps are ConfigMaps of platform blueprints.
	BlueprintConfigMaps []blueprint.ConfigMap `yaml:"blueprintConfigMaps"`
	// BlueprintVariables are the variables of the environment that expressions of platform blueprints may read.
	BlueprintVariables []string `yaml:"blueprintVariables"`
	// DefaultBlueprint is what a user string without one means.
	DefaultBlueprint string `yaml:"defaultBlueprint"`
	// DefaultRegistry is where images without a registry's host come from.
	DefaultRegistry string `yaml:"defaultRegistry"`
	// InjectNamespaces are the namespaces where workspaces may be injected into workloads; * is all of them. Without it
	// the cluster decides; an empty list allows it nowhere. To take a workspace out again is always allowed.
	InjectNamespaces []string `yaml:"injectNamespaces"`
	// ControlNamespace is where k8shell's proxy and API server run. Workspaces with an agent let these in by its port;
	// without one, nobody.
	ControlNamespace string `yaml:"controlNamespace"`
	// APIServer is the address of k8shell's API server, which agents report to; they do not without one.
	APIServer string `yaml:"apiServer"`
	// Compat is what berth works beside: k8shell, or nothing. Scheme and the policy follow from it.
	Compat string `yaml:"compat"`
	// Jobs says where the records of provisionings are kept.
	Jobs job.Config `yaml:"jobs"`
	// PolicyFile is what the file says of the policy; Policy is what comes of that and of everything that takes
	// precedence over it.
	PolicyFile PolicyFile   `yaml:"policy"`
	Policy     cause.Policy `yaml:"-"`
	// Identity is who is asked who users are.
	Identity provider.Config `yaml:"identity"`
	// Registry is the private registry that workspaces' images are pulled from.
	Registry *Registry `yaml:"registry"`
	// Repositories says how the repositories of workspaces are cloned.
	Repositories Repositories `yaml:"repositories"`
	// Certificate says whether workspaces get certificates.
	Certificate Certificate `yaml:"certificate"`
	// Limits are for how long workspaces run and are kept, and how many there are.
	Limits Limits `yaml:"limits"`
	// Bundles says by whom bundles have to be signed.
	Bundles Bundles `yaml:"bundles"`
	// Gateways are what exec can go through instead of the API server.
	Gateways []Gateway `yaml:"gateways"`
	// Volumes says where volumes of pods that are gone are read.
	Volumes Volumes `yaml:"volumes"`
}

// EnvPrefix begins the names of the variables that configure berth.
const EnvPrefix = "BERTH"

// Load reads the file, if there is one, and lays the environment and the flags that were given over it.
func Load(flags *pflag.FlagSet, getenv func(string) string) (Config, error) {
	path, named := locate(getenv)
	file, err := read(path, named, getenv)
	if err != nil {
		return Config{}, err
	}
	c := file // what is not a scalar can only be set in the file
	v := viper.New()
	v.SetEnvPrefix(EnvPrefix)
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	for key, scalar := range map[string]struct {
		value    *string // that of the file
		fallback string
	}{
		"blueprints":        {&c.Blueprints, ""},
		"default-blueprint": {&c.DefaultBlueprint, "default"},
		"default-registry":  {&c.DefaultRegistry, registry.DefaultHost},
		"compat":            {&c.Compat, ""},
	} {
		v.SetDefault(key, cmp.Or(*scalar.value, scalar.fallback))
		err := v.BindEnv(key)
		if flag := flags.Lookup(key); flag != nil && err == nil {
			err = v.BindPFlag(key, flag)
		}
		if err != nil {
			return Config{}, fault.New(fault.Internal, "configuration: %w", err)
		}
		*scalar.value = v.GetString(key)
	}
	if problem := c.checkCompat("BERTH_COMPAT"); problem != "" {
		return Config{}, fault.New(fault.InvalidArgument, "%s", problem)
	}
	if err := c.Bundles.lay(flags); err != nil {
		return Config{}, err
	}
	c.Policy, err = file.PolicyFile.policy(c.defaults(), flags, getenv)
	return c, err
}

// Scheme is how the IDs of workspaces are computed.
func (c Config) Scheme() userstring.Scheme { return userstring.Scheme(c.Compat) }

// defaults is the policy where nothing is said about it.
func (c Config) defaults() cause.Policy {
	if c.Scheme() == userstring.K8shell {
		return cause.K8shellPolicy()
	}
	return cause.DefaultPolicy()
}

// checkCompat says what is wrong with what berth is to work beside; empty if nothing is.
func (c Config) checkCompat(at string) string {
	if c.Scheme() == userstring.Own || c.Scheme() == userstring.K8shell {
		return ""
	}
	return fmt.Sprintf("%s: %q: must be %s, or left out", at, c.Compat, userstring.K8shell)
}

// locate is where the configuration file is looked for, and whether a variable names it.
func locate(getenv func(string) string) (path string, named bool) {
	if path = getenv(EnvPrefix + "_CONFIG"); path != "" {
		return path, true
	}
	dir, err := Dir(getenv)
	if err != nil {
		return "", false
	}
	return filepath.Join(dir, "config.yaml"), false
}

// Dir is the directory of the user's files of berth.
func Dir(getenv func(string) string) (string, error) {
	if base := getenv("XDG_CONFIG_HOME"); base != "" {
		return filepath.Join(base, "berth"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".config", "berth"), err
}

// Where says in words which file the configuration is read from.
func Where(getenv func(string) string) string {
	path, _ := locate(getenv)
	if _, err := os.Stat(path); err != nil {
		return "no file at " + path + ", and it is optional"
	}
	return path
}

// Limits are for how long workspaces run and are kept, unless their blueprint says something else, and how many there
// are. What is left out is not limited.
type Limits struct {
	blueprint.Limits `yaml:",inline"`
	// WorkspacesPerUser is how many workspaces a user has in a namespace; 0 is none.
	WorkspacesPerUser *int `yaml:"workspacesPerUser"`
	// Workspaces is how many workspaces a namespace has; 0 is none.
	Workspaces *int `yaml:"workspaces"`
}

// problems are what is wrong with the limits.
func (l Limits) problems() []string {
	problems := l.Validate()
	for _, limit := range []struct {
		name string
		n    *int
	}{{"workspacesPerUser", l.WorkspacesPerUser}, {"workspaces", l.Workspaces}} {
		if limit.n != nil && *limit.n < 0 {
			problems = append(problems, fmt.Sprintf("limits.%s: %d: must not be negative; leave it out for no limit",
				limit.name, *limit.n))
		}
	}
	return problems
}
