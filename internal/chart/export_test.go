package chart

import (
	"context"
	"text/template"
)

// Functions are those of templates, for tests that call all of them.
func Functions() template.FuncMap { return functions(context.Background(), nil) }
