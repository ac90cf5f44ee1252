package bundle_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/chart"
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
	type validations = map[string]cmdtest.Case[bundle.ValidateOptions]
	forgetSources := func(o *bundle.ValidateOptions) { forget(&o.ContentOptions); o.Open = nil }
	render := bundle.RenderOptions{Release: "release-name"}
	cmdtest.Options(t, bundle.NewValidate, forgetSources, validations{
		"a directory": {Args: "shop", Want: bundle.ValidateOptions{
			ContentOptions: bundle.ContentOptions{SourceOptions: rendered(from("shop"))}, RenderOptions: render,
		}},
		"a chart": {
			Args: "shop --format helm --values v.yaml --set a=1 --set-string b=2 --set-file c=d --set-json e=[]",
			Want: bundle.ValidateOptions{ContentOptions: bundle.ContentOptions{SourceOptions: bundle.SourceOptions{
				Arg: "shop", Format: format.Helm,
				ValuesFiles: []string{"v.yaml"}, RenderTimeout: rendering,
				Set: chart.Set{
					Values: []string{"a=1"}, Strings: []string{"b=2"}, Files: []string{"c=d"},
					JSON: []string{"e=[]"},
				},
			}}, RenderOptions: render},
		},
		"an operator of some namespaces": {
			Args: "op --watch-namespaces a,b --watch-namespaces c",
			Want: bundle.ValidateOptions{ContentOptions: bundle.ContentOptions{SourceOptions: bundle.SourceOptions{
				Arg: "op", Watch: []string{"a", "b", "c"}, RenderTimeout: rendering,
			}}, RenderOptions: render},
		},
		"an operator as it is by itself": {
			Args: "op --watch-namespaces=",
			Want: bundle.ValidateOptions{ContentOptions: bundle.ContentOptions{SourceOptions: bundle.SourceOptions{
				Arg: "op", Watch: []string{}, RenderTimeout: rendering,
			}}, RenderOptions: render},
		},
		"a chart for a cluster": {
			Args: "shop --kube-version 1.31 --api-versions a/v1 --api-versions b/v1/C --release-name r",
			Want: bundle.ValidateOptions{
				ContentOptions: bundle.ContentOptions{SourceOptions: rendered(from("shop"))},
				RenderOptions: bundle.RenderOptions{
					Release: "r", KubeVersion: "1.31",
					APIVersions: []string{"a/v1", "b/v1/C"},
				},
			},
		},
		"on the current cluster": {
			Args: "shop --dry-run server --release-name shop --timeout 1m",
			Want: bundle.ValidateOptions{
				ContentOptions: bundle.ContentOptions{SourceOptions: rendered(from("shop"))},
				RenderOptions:  bundle.RenderOptions{Release: "shop"}, DryRun: apply.DryRunServer, Timeout: time.Minute,
			},
		},
		"on a cluster, for another": {
			Args: "shop --dry-run server --kube-version 1.31",
			Err:  "--kube-version and --api-versions are for a chart that is rendered without a cluster",
		},
		"on a cluster, by no name": {
			Args: "shop --dry-run server --release-name A_B", Err: "cannot be the name of an instance",
		},
		"a client's dry run": {Args: "shop --dry-run client", Err: "must be one of: server"},
		"two from stdin": {
			Args: "- --values -",
			Err:  "standard input can be read only once, as SOURCE or as a file of --values",
		},
		"two": {Args: "a b", Err: "requires one source, got 2"},
		"an unknown format": {Args: "a --format tarball", Err: "must be one of: plain+v0, yaml, kustomize, helm, " +
			"registry+v1"},
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
	type rollbacks = map[string]cmdtest.Case[bundle.RollbackOptions]
	forgetRollback := func(o *bundle.RollbackOptions) { forgetInstall(&o.InstallOptions) }
	followed := func(o bundle.InstallOptions) bundle.InstallOptions {
		o.Name, o.System, o.RenderTimeout = "shop", "berth-system", rendering
		return o
	}
	cmdtest.Options(t, bundle.NewRollback, forgetRollback, rollbacks{
		"to the one before": {Args: "shop", Want: bundle.RollbackOptions{
			InstallOptions: followed(bundle.InstallOptions{}),
		}},
		"to a revision": {
			Args: "shop 3 --no-wait --force-conflicts --dry-run=server", Want: bundle.RollbackOptions{
				Revision: 3, InstallOptions: followed(bundle.InstallOptions{
					NoWait: true, ForceConflicts: true, DryRun: apply.DryRunServer,
				}),
			},
		},
		"to no number":    {Args: "shop v1", Err: `invalid revision "v1"`},
		"to none":         {Args: "shop 0", Err: `invalid revision "0"`},
		"of nothing":      {Args: "", Err: "requires a bundle and at most one revision, got 0"},
		"to two":          {Args: "shop 1 2", Err: "requires a bundle and at most one revision, got 3"},
		"of a bad name":   {Args: "Shop", Err: `"Shop" cannot be the name of an instance`},
		"a source's flag": {Args: "shop --tag v1", Err: "unknown flag: --tag"},
	})
	type contents = map[string]cmdtest.Case[bundle.ContentsOptions]
	forgetContents := func(o *bundle.ContentsOptions) { o.IO, o.Open = terminal.Streams{}, nil }
	cmdtest.Options(t, bundle.NewContent, forgetContents, contents{
		"into a directory": {Args: "shop dir --system-namespace s", Want: bundle.ContentsOptions{
			ClusterOptions: bundle.ClusterOptions{Name: "shop", System: "s"}, Directory: "dir",
		}},
		"into none":     {Args: "shop", Err: "requires a bundle and a directory, got 1"},
		"of a bad name": {Args: "Shop dir", Err: `"Shop" cannot be the name of an instance`},
	})
}
