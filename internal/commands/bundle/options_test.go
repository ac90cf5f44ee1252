package bundle_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/commands/bundle"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	type cases = map[string]cmdtest.Case[bundle.ContentOptions]
	forget := func(o *bundle.ContentOptions) { o.IO, o.Sources = terminal.Streams{}, nil; o.Forget() }
	from := func(arg string) bundle.SourceOptions { return bundle.SourceOptions{Arg: arg} }
	const rendering = 20 * time.Second
	rendered := func(o bundle.SourceOptions) bundle.SourceOptions { o.RenderTimeout = rendering; return o }
	cmdtest.Options(t, bundle.NewUnpack, forget, cases{
		"an archive": {Args: "b.tgz dir", Want: bundle.ContentOptions{SourceOptions: from("b.tgz"), Directory: "dir"}},
		"a repository": {
			Args: "git+https://git.example.com/shop.git dir --tag v1",
			Want: bundle.ContentOptions{SourceOptions: bundle.SourceOptions{
				Arg: "git+https://git.example.com/shop.git",
				Tag: "v1",
			}, Directory: "dir"},
		},
		"to nowhere":    {Args: "b.tgz", Err: "requires a source and a directory, got 1"},
		"an odd format": {Args: "b.tgz dir -o wide", Err: "must be one of: text, json"},
	})
	cmdtest.Options(t, bundle.NewValidate, forget, cases{
		"a directory": {Args: "shop", Want: bundle.ContentOptions{SourceOptions: rendered(from("shop"))}},
		"a chart": {
			Args: "shop --format helm --values v.yaml",
			Want: bundle.ContentOptions{SourceOptions: bundle.SourceOptions{
				Arg: "shop", Format: format.Helm,
				ValuesFiles: []string{"v.yaml"}, RenderTimeout: rendering,
			}},
		},
		"two from stdin": {
			Args: "- --values -",
			Err:  "standard input can be read only once, as SOURCE or as a file of --values",
		},
		"two":               {Args: "a b", Err: "requires one source, got 2"},
		"an unknown format": {Args: "a --format tarball", Err: "must be one of: plain+v0, helm, registry+v1"},
	})
	forgetInstall := func(o *bundle.InstallOptions) { o.IO, o.Open, o.Flags = terminal.Streams{}, nil, nil; o.Forget() }
	type installs = map[string]cmdtest.Case[bundle.InstallOptions]
	cmdtest.Options(t, bundle.NewInstall, forgetInstall, installs{
		"a directory": {
			Args: "shop ./shop",
			Want: bundle.InstallOptions{Name: "shop", SourceOptions: rendered(from("./shop")), System: "berth-system"},
		},
		"much": {
			Args: "shop ./shop --force-conflicts --no-wait --timeout 5m --dry-run server --system-namespace s",
			Want: bundle.InstallOptions{
				Name: "shop", SourceOptions: rendered(from("./shop")), System: "s",
				ForceConflicts: true, NoWait: true, Timeout: 5 * time.Minute, DryRun: apply.DryRunServer,
			},
		},
		"a private source": {
			Args: "shop oci://h/r:v1 --source-secret login",
			Want: bundle.InstallOptions{
				Name:          "shop",
				SourceOptions: bundle.SourceOptions{Arg: "oci://h/r:v1", Secret: "login", RenderTimeout: rendering},
				System:        "berth-system",
			},
		},
		"a local secret": {
			Args: "shop ./shop --source-secret login",
			Err:  "--source-secret is for what is fetched from a server",
		},
		"no source":            {Args: "shop", Err: "requires a name and a source, got 1"},
		"a bad name":           {Args: "Shop ./shop", Err: `"Shop" cannot be the name of an instance`},
		"a tag of a directory": {Args: "shop ./shop --tag v1", Err: "--tag"},
		"no time":              {Args: "shop ./shop --timeout -1s", Err: "--timeout must not be negative"},
	})
}
