package chart

import (
	"context"

	"github.com/berthdev/berth/third_party/template"
)

// Functions are those of templates, for tests that call all of them.
func Functions() template.FuncMap { return functions(context.Background(), nil) }
