package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// PolicyFile is the section policy of the file: what counts as a failure, and when. What is left out is as
// cause.DefaultPolicy has it.
type PolicyFile struct {
	Name               string   `yaml:"name"`
	CrashLoopThreshold *int     `yaml:"crashLoopThreshold"`
	PullDelay          string   `yaml:"pullDelay"`
	GracePeriod        string   `yaml:"gracePeriod"`
	StuckAfter         string   `yaml:"stuckAfter"`
	IgnoreReasons      []string `yaml:"ignoreReasons"`
	// place names a key and where it is written.
	place func(key string) string
}

// policy lays the environment and the flags that were given over the file and checks the whole; it reports all problems
// at once, each with its origin.
func (f PolicyFile) policy(defaults cause.Policy, flags *pflag.FlagSet, getenv func(string) string) (cause.Policy,
	error,
) {
	s := settings{flags: flags, getenv: getenv, place: f.place}
	p := f.lay(&s, defaults)
	return p, s.err()
}

func (f PolicyFile) lay(s *settings, p cause.Policy) cause.Policy {
	if v, ok := s.find("policy", "name", f.Name); ok {
		p.Name = s.name(v)
	}
	threshold := ""
	if f.CrashLoopThreshold != nil {
		threshold = strconv.Itoa(*f.CrashLoopThreshold)
	}
	if v, ok := s.find("crash-loop-threshold", "crashLoopThreshold", threshold); ok {
		p.CrashLoopThreshold = s.count(v)
	}
	if v, ok := s.find("pull-delay", "pullDelay", f.PullDelay); ok {
		p.PullDelay = s.duration(v)
	}
	if v, ok := s.find("grace-period", "gracePeriod", f.GracePeriod); ok {
		p.GracePeriod = s.duration(v)
		if v.flag && p.Name == cause.Fast {
			s.problem("%s requires --policy %s: %s does not wait", v.origin, cause.Patient, cause.Fast)
		}
	}
	if v, ok := s.find("stuck-after", "stuckAfter", f.StuckAfter); ok {
		p.StuckAfter, p.StuckAfterOrigin = s.duration(v), v.origin
	}
	p.IgnoreReasons = s.reasons(f.IgnoreReasons)
	return p
}

// problems are those of the file alone, whatever takes precedence over it.
func (f PolicyFile) problems() []string {
	s := settings{
		flags: pflag.NewFlagSet("", pflag.ContinueOnError), getenv: func(string) string { return "" },
		place: func(key string) string { return "policy." + key },
	}
	_ = f.lay(&s, cause.DefaultPolicy())
	return s.problems
}

// settings looks for values where they are given, and keeps what is wrong.
type settings struct {
	flags    *pflag.FlagSet
	getenv   func(string) string
	place    func(key string) string // of a key of the file
	problems []string
	unknown  bool // a reason that there is not
}

// setting is a value and where it was given.
type setting struct {
	text   string
	origin string
	flag   bool
}

// find gives the value that takes precedence: the flag's if it was given, else the variable's, else the file's.
func (s *settings) find(flag, key, inFile string) (setting, bool) {
	if f := s.flags.Lookup(flag); f != nil && f.Changed {
		return setting{text: f.Value.String(), origin: "--" + flag, flag: true}, true
	}
	variable := variableOf(flag)
	if text := s.getenv(variable); text != "" {
		return setting{text: text, origin: variable}, true
	}
	if inFile == "" {
		return setting{}, false
	}
	return setting{text: inFile, origin: s.place(key)}, true
}

func variableOf(flag string) string {
	return EnvPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (s *settings) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

func (s *settings) name(v setting) string {
	for _, name := range cause.Policies() {
		if strings.EqualFold(name, v.text) {
			return name
		}
	}
	s.problem("%s %q: must be one of %s", v.origin, v.text, strings.Join(cause.Policies(), ", "))
	return ""
}

func (s *settings) count(v setting) int {
	n, err := strconv.Atoi(v.text)
	switch {
	case err != nil:
		s.problem("%s %q: must be a number", v.origin, v.text)
	case n < 0:
		s.problem("%s must not be negative, got %d", v.origin, n)
	}
	return n
}

// maxDuration is a year.
const maxDuration = 365 * 24 * time.Hour

func (s *settings) duration(v setting) time.Duration {
	d, err := time.ParseDuration(v.text)
	switch {
	case err != nil:
		s.problem("%s %q: must be a duration, such as 30s or 10m", v.origin, v.text)
	case d < 0:
		s.problem("%s must not be negative, got %s", v.origin, d)
	case d > maxDuration:
		s.problem("%s must be at most %s, got %s", v.origin, maxDuration, d)
	}
	return d
}

// reasons are those to ignore, in their proper spelling: of the flag, which can be repeated, else of the variable, with
// commas between them, else of the file.
func (s *settings) reasons(inFile []string) (proper []string) {
	const flag = "ignore-reason"
	given, origin := inFile, ""
	if len(inFile) > 0 {
		origin = s.place("ignoreReasons")
	}
	variable := variableOf(flag) + "S"
	if text := s.getenv(variable); text != "" {
		given, origin = strings.Split(text, ","), variable
	}
	if f := s.flags.Lookup(flag); f != nil && f.Changed {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given, origin = list.GetSlice(), "--"+flag
		}
	}
	for _, name := range given {
		known, ok := catalog.Reason(strings.TrimSpace(name))
		if !ok {
			s.problem("%s: unknown reason %q", origin, name)
			s.unknown = true
		}
		proper = append(proper, known)
	}
	return proper
}

func (s *settings) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "invalid policy: %s", s.problems[0])
	if len(s.problems) > 1 {
		err = fault.New(fault.InvalidArgument, "invalid policy")
		err.Problems = s.problems
	}
	if s.unknown {
		codes, kubernetes := catalog.Reasons()
		return err.WithHint("the causes are %s; Kubernetes' own reasons are %s", strings.Join(codes, ", "),
			strings.Join(kubernetes, ", "))
	}
	return err.WithHint("see `berth help policies`")
}
