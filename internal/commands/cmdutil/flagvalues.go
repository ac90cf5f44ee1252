package cmdutil

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// EnumVar adds a flag whose value is one of a few words, in upper or lower case.
func EnumVar[T ~string](cmd *cobra.Command, value *T, name, usage string, allowed ...T) {
	addEnum(cmd, &word[T]{value, allowed}, name, usage, allowed)
}

// EnumSliceVar adds a flag whose values are some of a few words, separated by
// commas or given by repeating the flag.
func EnumSliceVar[T ~string](cmd *cobra.Command, values *[]T, name, usage string, allowed ...T) {
	addEnum(cmd, &words[T]{values, allowed}, name, usage, allowed)
}

func addEnum[T ~string](cmd *cobra.Command, value pflag.Value, name, usage string, allowed []T) {
	cmd.Flags().Var(value, name, usage+": "+join(allowed))
	_ = cmd.RegisterFlagCompletionFunc(name, CompleteList(func(*cobra.Command) ([]T, error) { return allowed, nil }))
}

// word is the pflag.Value of one word.
type word[T ~string] struct {
	value   *T
	allowed []T
}

func (w *word[T]) String() string { return string(*w.value) }

// Type is what help shows as the value.
func (w *word[T]) Type() string { return "string" }

// Set reads the word.
func (w *word[T]) Set(text string) (err error) {
	*w.value, err = choose(text, w.allowed)
	return err
}

// words is the pflag.Value of several.
type words[T ~string] struct {
	values  *[]T
	allowed []T
}

func (w *words[T]) String() string { return join(*w.values) }

// Type is what help shows as the value.
func (w *words[T]) Type() string { return "strings" }

// Set adds one or several words, with commas between.
func (w *words[T]) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		value, err := choose(part, w.allowed)
		if err != nil {
			return err
		}
		*w.values = append(*w.values, value)
	}
	return nil
}

// AddOwnerFlag adds --owner of a command that changes the workspaces of one user. Given twice, it is
// refused: the last one alone would count.
func AddOwnerFlag(cmd *cobra.Command, owner *string, usage string) {
	cmd.Flags().Var(&ownerFlag{owner: owner}, "owner", usage)
}

// ownerFlag is a pflag.Value.
type ownerFlag struct {
	owner *string
	given bool
}

func (o *ownerFlag) String() string { return *o.owner }

// Set takes the first one.
func (o *ownerFlag) Set(text string) error {
	if o.given {
		return errors.New("is given twice; run the command for one user after the other")
	}
	*o.owner, o.given = text, true
	return nil
}

// Type is what help shows as the value.
func (o *ownerFlag) Type() string { return "string" }

func choose[T ~string](text string, allowed []T) (T, error) {
	for _, word := range allowed {
		if strings.EqualFold(string(word), strings.TrimSpace(text)) {
			return word, nil
		}
	}
	return "", mustBe(allowed)
}

func mustBe[T ~string](allowed []T) error { return fmt.Errorf("must be one of: %s", join(allowed)) }

func join[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// AddOutputFlag adds --output with the formats that a command has; one that ends
// in = takes an expression. The value is checked when it is parsed. The flag is also -o, unless the command has that
// for another one, as ssh does.
func AddOutputFlag(cmd *cobra.Command, format *printer.Format, allowed ...string) {
	usage := "output format: " + join(allowed)
	if slices.Contains(allowed, "wide") {
		usage += "; wide cuts nothing, and may be wider than the terminal"
	}
	shorthand := "o"
	if cmd.Flags().ShorthandLookup(shorthand) != nil {
		shorthand = ""
	}
	cmd.Flags().VarP(&outputFlag{text: "text", format: format, allowed: allowed}, "output", shorthand, usage)
	_ = cmd.RegisterFlagCompletionFunc(
		"output", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace),
	)
}

// outputFlag is a pflag.Value.
type outputFlag struct {
	text    string
	format  *printer.Format
	allowed []string
}

func (o *outputFlag) String() string { return o.text }

// Set reads the format.
func (o *outputFlag) Set(text string) error {
	name, _, expression := strings.Cut(text, "=")
	if expression {
		name += "="
	}
	if !slices.Contains(o.allowed, name) && !slices.Contains(o.allowed, name+"=") {
		return mustBe(o.allowed)
	}
	format, err := printer.ParseFormat(text)
	if err != nil {
		return err
	}
	o.text, *o.format = text, format
	return nil
}

// Type is what help shows as the value.
func (o *outputFlag) Type() string { return "FORMAT" }

// DaysVar adds a flag whose value is a duration that may be long: 90m, 24h, 7d, 2w.
func DaysVar(cmd *cobra.Command, value *time.Duration, name, usage string) {
	cmd.Flags().Var((*days)(value), name, usage)
	_ = cmd.RegisterFlagCompletionFunc(
		name, cobra.FixedCompletions([]string{"1h", "24h", "7d", "30d"}, cobra.ShellCompDirectiveNoFileComp),
	)
}

// days is the pflag.Value of a duration with days and weeks, as Prometheus writes it.
type days time.Duration

// String is empty for no duration: help shows no default then.
func (d *days) String() string {
	if *d == 0 {
		return ""
	}
	return model.Duration(*d).String()
}

// Type is what help shows as the value.
func (d *days) Type() string { return "duration" }

// Set reads the duration.
func (d *days) Set(text string) error {
	parsed, err := model.ParseDuration(text)
	if err != nil {
		return errors.New("must be a duration, such as 90m, 24h or 7d")
	}
	*d = days(parsed)
	return nil
}

// FlagServiceAccount names a ServiceAccount that bundles are installed as.
const FlagServiceAccount = "service-account"

// AddServiceAccountFlag adds a flag whose value is a ServiceAccount; nil for none.
func AddServiceAccountFlag(cmd *cobra.Command, account **v1alpha1.ServiceAccount, name, usage string) {
	cmd.Flags().Var(&serviceAccount{account}, name, usage)
}

// serviceAccount is the pflag.Value of one.
type serviceAccount struct{ value **v1alpha1.ServiceAccount }

func (s *serviceAccount) String() string {
	if s.value == nil {
		return ""
	}
	return (*s.value).String()
}

// Type is what help shows as the value.
func (s *serviceAccount) Type() string { return "NAMESPACE/NAME" }

// Set reads it.
func (s *serviceAccount) Set(text string) (err error) {
	*s.value = nil
	if text != "" {
		*s.value, err = ParseServiceAccount(text)
	}
	return err
}

// ParseServiceAccount reads NAMESPACE/NAME.
func ParseServiceAccount(text string) (*v1alpha1.ServiceAccount, error) {
	namespace, name, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, fault.New(fault.InvalidArgument, "a ServiceAccount is NAMESPACE/NAME, got %q", text)
	}
	return &v1alpha1.ServiceAccount{Namespace: namespace, Name: name}, nil
}
