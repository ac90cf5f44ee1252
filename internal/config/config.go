// Package config is the configuration: the file, the environment and flags, in
// rising order, made into one checked value.
package config

import (
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
	"github.com/berthdev/berth/internal/watch/cause"
)

// Config is what can be configured.
type Config struct {
	// Blueprints is a directory of platform blueprints.
	Blueprints string `yaml:"blueprints"`
	// BlueprintConfigMaps are ConfigMaps of platform blueprints.
	BlueprintConfigMaps []blueprint.ConfigMap `yaml:"blueprintConfigMaps"`
	// DefaultBlueprint is what a user string without one means.
	DefaultBlueprint string `yaml:"defaultBlueprint"`
	// DefaultRegistry is where images without a registry's host come from.
	DefaultRegistry string `yaml:"defaultRegistry"`
	// InjectNamespaces are the namespaces where workspaces may be injected into
	// workloads; * is all of them. Without it the cluster decides; an empty list
	// allows it nowhere. To take a workspace out again is always allowed.
	InjectNamespaces []string `yaml:"injectNamespaces"`
	// Jobs says where the records of provisionings are kept.
	Jobs job.Config `yaml:"jobs"`
	// PolicyFile is what the file says of the policy; Policy is what comes of that
	// and of everything that takes precedence over it.
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
}

// EnvPrefix begins the names of the variables that configure berth.
const EnvPrefix = "BERTH"

// keys are the scalars that variables and flags can set, with their defaults.
func keys() map[string]string {
	return map[string]string{
		"blueprints":        "",
		"default-blueprint": "default",
		"default-registry":  registry.DefaultHost,
	}
}

// Load reads the file, if there is one, and lays the environment and the flags
// that were given over it.
func Load(flags *pflag.FlagSet, getenv func(string) string) (Config, error) {
	path := getenv(EnvPrefix + "_CONFIG")
	explicit := path != ""
	if !explicit {
		path = Path(getenv)
	}
	file, err := read(path, explicit, getenv)
	if err != nil {
		return Config{}, err
	}
	v := viper.New()
	v.SetEnvPrefix(EnvPrefix)
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	for key, fallback := range keys() {
		v.SetDefault(key, fallback)
		if err := v.BindEnv(key); err != nil {
			return Config{}, fault.New(fault.Internal, "configuration: %w", err)
		}
		if flag := flags.Lookup(key); flag != nil {
			if err := v.BindPFlag(key, flag); err != nil {
				return Config{}, fault.New(fault.Internal, "configuration: %w", err)
			}
		}
	}
	if err := v.MergeConfigMap(file.scalars()); err != nil {
		return Config{}, fault.New(fault.Internal, "configuration: %w", err)
	}
	c := file // what is no scalar stands in the file alone
	c.Blueprints = v.GetString("blueprints")
	c.DefaultBlueprint = v.GetString("default-blueprint")
	c.DefaultRegistry = v.GetString("default-registry")
	c.Policy, err = file.PolicyFile.policy(flags, getenv)
	return c, err
}

func (c Config) scalars() map[string]any {
	all := map[string]any{}
	for key, value := range map[string]string{
		"blueprints":        c.Blueprints,
		"default-blueprint": c.DefaultBlueprint,
		"default-registry":  c.DefaultRegistry,
	} {
		if value != "" {
			all[key] = value
		}
	}
	return all
}

// Path is where the configuration file is looked for.
func Path(getenv func(string) string) string {
	base := getenv("XDG_CONFIG_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "berth", "config.yaml")
}

// Where says in words which file the configuration is read from.
func Where(getenv func(string) string) string {
	path := getenv(EnvPrefix + "_CONFIG")
	if path == "" {
		path = Path(getenv)
	}
	if _, err := os.Stat(path); err != nil {
		return "no file at " + path + "; none is required"
	}
	return path
}
