package cmdutil

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/terminal/printer"
)

// EnumVar adds a flag whose value is one of a few words, in upper or lower case.
func EnumVar[T ~string](cmd *cobra.Command, value *T, name, usage string, allowed ...T) {
	addEnum(cmd, name, usage, &enum[T]{
		allowed: allowed, typ: "string",
		set: func(words []T) error {
			if len(words) != 1 {
				return mustBe(allowed)
			}
			*value = words[0]
			return nil
		},
		get: func() []T { return []T{*value} },
	})
}

// EnumSliceVar adds a flag whose values are some of a few words, separated by
// commas or given by repeating the flag.
func EnumSliceVar[T ~string](cmd *cobra.Command, values *[]T, name, usage string, allowed ...T) {
	addEnum(cmd, name, usage, &enum[T]{
		allowed: allowed, typ: "strings",
		set: func(words []T) error {
			*values = append(*values, words...)
			return nil
		},
		get: func() []T { return *values },
	})
}

func addEnum[T ~string](cmd *cobra.Command, name, usage string, e *enum[T]) {
	cmd.Flags().Var(e, name, usage+": "+join(e.allowed))
	_ = cmd.RegisterFlagCompletionFunc(name, completeList(func(*cobra.Command) ([]T, error) { return e.allowed, nil }))
}

// enum is a pflag.Value.
type enum[T ~string] struct {
	allowed []T
	typ     string
	set     func([]T) error
	get     func() []T
}

// Set reads one or several words, with commas between.
func (e *enum[T]) Set(text string) error {
	var chosen []T
	for word := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(e.allowed, func(a T) bool { return strings.EqualFold(string(a), strings.TrimSpace(word)) })
		if i < 0 {
			return mustBe(e.allowed)
		}
		chosen = append(chosen, e.allowed[i])
	}
	return e.set(chosen)
}

func (e *enum[T]) String() string { return join(e.get()) }

// Type is what help shows as the value.
func (e *enum[T]) Type() string { return e.typ }

func mustBe[T ~string](allowed []T) error { return fmt.Errorf("must be one of: %s", join(allowed)) }

func join[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// AddOutputFlag adds --output with the formats that a command has; one that ends
// in = takes an expression. The value is checked when it is parsed.
func AddOutputFlag(cmd *cobra.Command, format *printer.Format, allowed ...string) {
	cmd.Flags().VarP(&outputFlag{text: "text", format: format, allowed: allowed}, "output", "o", "output format: "+join(allowed))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
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
