package source_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

func gitSource(repository, directory string, ref v1alpha1.GitRef) source.Target {
	return source.Target{Source: &v1alpha1.Source{
		Type: v1alpha1.SourceGit,
		Git:  &v1alpha1.GitSource{Repository: repository, Directory: directory, Ref: ref},
	}}
}

func imageSource(ref string) source.Target {
	return source.Target{Source: &v1alpha1.Source{Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: ref}}}
}

func httpSource(url string) source.Target {
	return source.Target{Source: &v1alpha1.Source{Type: v1alpha1.SourceHTTP, HTTP: &v1alpha1.HTTPSource{URL: url}}}
}

// withSecret is a target whose source names a Secret.
func withSecret(t source.Target, name string) source.Target {
	auth := &v1alpha1.Authorization{Secret: v1alpha1.LocalReference{Name: name}}
	switch s := t.Source; s.Type {
	case v1alpha1.SourceImage:
		s.Image.PullSecret = name
	case v1alpha1.SourceGit:
		s.Git.Auth = auth
	default:
		s.HTTP.Auth = auth
	}
	return t
}

func configMaps(sources ...v1alpha1.ConfigMapSource) source.Target {
	return source.Target{Source: &v1alpha1.Source{Type: v1alpha1.SourceConfigMaps, ConfigMaps: sources}}
}

func configMap(name, path string) v1alpha1.ConfigMapSource {
	return v1alpha1.ConfigMapSource{ConfigMap: v1alpha1.LocalReference{Name: name}, Path: path}
}

const commit = "0123456789abcdef0123456789abcdef01234567"

func TestParse(t *testing.T) {
	main := v1alpha1.GitRef{Branch: "main"}
	for arg, test := range map[string]struct {
		flags source.Flags
		want  source.Target
	}{
		"-":                    {want: source.Target{Path: "-"}},
		"./dir":                {want: source.Target{Path: "./dir"}},
		"x.tgz":                {want: source.Target{Path: "x.tgz"}},
		`C:\bundles\x.tgz`:     {want: source.Target{Path: `C:\bundles\x.tgz`}},
		"a b://c":              {want: source.Target{Path: "a b://c"}},
		"dir/me@here:there":    {want: source.Target{Path: "dir/me@here:there"}},
		"oci://host/repo:v1":   {want: imageSource("host/repo:v1")},
		"oci://h:5000/a/b@s:1": {want: imageSource("h:5000/a/b@s:1")},
		"https://host/x.tgz":   {want: httpSource("https://host/x.tgz")},
		"http://host/x?y=z":    {want: httpSource("http://host/x?y=z")},
		"configmap/a":          {want: configMaps(configMap("a", ""))},
		"cm/a,configmaps/b=manifests,configmap/c=x/y": {want: configMaps(configMap("a", ""),
			configMap("b", "manifests"), configMap("c", "x/y"))},

		"oci://host/private:v1": {
			source.Flags{Secret: "login"},
			withSecret(imageSource("host/private:v1"), "login"),
		},
		"repo+https://host/charts//app": {
			source.Flags{Version: "^1", Secret: "login"},
			source.Target{Source: &v1alpha1.Source{Type: v1alpha1.SourceChart, Chart: &v1alpha1.ChartSource{
				Repository: "https://host/charts", Name: "app", Version: "^1",
				Auth: &v1alpha1.Authorization{Secret: v1alpha1.LocalReference{Name: "login"}},
			}}},
		},
		"repo+http://host//app": {want: source.Target{Source: &v1alpha1.Source{
			Type: v1alpha1.SourceChart, Chart: &v1alpha1.ChartSource{Repository: "http://host", Name: "app"},
		}}},
		"oci://host/chart": {
			source.Flags{Version: "~1.2"},
			source.Target{Source: &v1alpha1.Source{
				Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: "host/chart", Version: "~1.2"},
			}},
		},
		"https://host/private.tgz": {
			source.Flags{Secret: "my.login"},
			withSecret(httpSource("https://host/private.tgz"), "my.login"),
		},
		"ssh://git@host/private?branch=main": {
			source.Flags{Secret: "key"},
			withSecret(gitSource("ssh://git@host/private", "", main), "key"),
		},
		"git+https://host/private?branch=main": {
			source.Flags{Secret: "login"},
			withSecret(gitSource("https://host/private", "", main), "login"),
		},

		"git+https://host/org/repo.git": {
			source.Flags{Branch: "main"},
			gitSource("https://host/org/repo.git", "", main),
		},
		"https://host/org/repo.git": {
			source.Flags{Tag: "v1"},
			gitSource("https://host/org/repo.git", "", v1alpha1.GitRef{Tag: "v1"}),
		},
		"git+http://host/repo": {
			source.Flags{Commit: commit, Directory: "/a/b/"},
			gitSource("http://host/repo", "a/b", v1alpha1.GitRef{Commit: commit}),
		},
		"ssh://git@host:2222/org/repo.git?branch=a/b": {want: gitSource("ssh://git@host:2222/org/repo.git", "",
			v1alpha1.GitRef{Branch: "a/b"})},
		"git+ssh://host/~me/repo?ref=main": {want: gitSource("ssh://host/~me/repo", "", main)},
		"ssh://host/repo//dir/sub?ref=v1": {want: gitSource("ssh://host/repo", "dir/sub",
			v1alpha1.GitRef{Tag: "v1"})},
		"git+https://host/repo.git//dir?ref=1.2.3-rc.1": {want: gitSource("https://host/repo.git", "dir",
			v1alpha1.GitRef{Tag: "1.2.3-rc.1"})},
		"git+https://host/repo?ref=" +
			commit: {want: gitSource("https://host/repo", "", v1alpha1.GitRef{Commit: commit})},
		"git+https://host/repo?ref=release-1.2": {want: gitSource("https://host/repo", "",
			v1alpha1.GitRef{Branch: "release-1.2"})},
	} {
		t.Run(arg, func(t *testing.T) {
			got, err := source.Parse(arg, test.flags)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for arg, test := range map[string]struct {
		flags source.Flags
		want  []string
	}{
		"":                       {want: []string{"is empty"}},
		"s3://bucket/x":          {want: []string{`unknown scheme "s3"`}},
		"git+ftp://host/x?ref=1": {want: []string{`unknown scheme "git+ftp"`}},
		"git://host/x?ref=1":     {want: []string{`scheme "git", not https or ssh`}},
		"git+git://host/x?ref=1": {want: []string{`scheme "git", not https or ssh`}},
		"./dir": {
			source.Flags{Branch: "a", Directory: "b"},
			[]string{"--branch is for git", "--directory is for git"},
		},
		"./secret": {
			source.Flags{Secret: "login"},
			[]string{"--source-secret is for what is fetched from a server"},
		},
		"configmap/secret": {
			source.Flags{Secret: "login"},
			[]string{"--source-secret is for what is fetched from a server"},
		},
		"oci://host/secret:v1": {
			source.Flags{Secret: "a/b"},
			[]string{`--source-secret "a/b" is not the name of a Secret`},
		},
		"https://s3cret@host/secret": {
			source.Flags{Secret: "A"},
			[]string{"has a login in it", `--source-secret "A" is not`},
		},
		"https://host/x.tgz":         {source.Flags{Tag: "a"}, []string{"--tag is for git"}},
		"https://host/chart.tgz":     {source.Flags{Version: "1"}, []string{"--version is for a chart"}},
		"./chart":                    {source.Flags{Version: "1"}, []string{"--version is for a chart"}},
		"oci://host/chart:1":         {source.Flags{Version: "new"}, []string{"has a tag or", `"new" is neither`}},
		"repo+https://host/charts":   {want: []string{"does not name a chart"}},
		"repo+https://host//../x":    {want: []string{"does not name a chart"}},
		"repo+https://host//x?y":     {want: []string{"after ? or #"}},
		"repo+file:///x//y":          {want: []string{`unknown scheme "repo+file"`}},
		"repo+https://u:p@host//x":   {source.Flags{Tag: "a"}, []string{"--tag is for git", "has a login in it"}},
		"https://":                   {want: []string{"has no host"}},
		"https://u:s3cret@host/x":    {want: []string{"has a login in it"}},
		"https://s3cret@host/x":      {want: []string{"has a login in it"}},
		"https://u:s3cret@host:x/":   {want: []string{"not a valid URL"}},
		"oci://u:s3cret@host/x":      {want: []string{"has a login in it"}},
		"oci://image":                {want: []string{"does not name a registry"}},
		"oci://host/a b":             {want: []string{"not a valid image"}},
		"git@github.com:org/repo":    {want: []string{"write ssh://git@HOST/REPOSITORY.git"}},
		"configmap/":                 {want: []string{"is no ConfigMap"}},
		"configmap/a,x,configmap/B":  {want: []string{`"x" is no ConfigMap`, `"configmap/B" is no ConfigMap`}},
		"configmap/a=../b":           {want: []string{"not below the root"}},
		"git+https://host/repo":      {want: []string{"names no commit"}},
		"git+https://host/?ref=a":    {want: []string{"no repository"}},
		"git+https://h/r#main":       {source.Flags{Tag: "v1"}, []string{"after #"}},
		"git+https://h/r?ref=":       {want: []string{"not a name"}},
		"git+https://h/r?ref=a&x=y":  {want: []string{`unknown parameter "x"`}},
		"git+https://h/r?ref=a..b":   {want: []string{`"a..b" is not a name`}},
		"git+https://h/r?commit=abc": {want: []string{"not a full hash"}},
		"git+https://h/r//a?tag=b": {
			source.Flags{Branch: "a", Directory: "c"},
			[]string{"more than one of branch", "directory is given twice"},
		},
		"git+https://h/r//../a":      {source.Flags{Tag: "a"}, []string{`directory "../a" is not in the repository`}},
		"ssh://git:s3cret@host/repo": {source.Flags{Tag: "a"}, []string{"has a password in it"}},
		"git+https://u:s3cret@h/r":   {want: []string{"has a login in it", "names no commit"}},
	} {
		t.Run(arg, func(t *testing.T) {
			_, err := source.Parse(arg, test.flags)
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Fatal(err)
			}
			f := fault.From(err)
			problems := f.Problems
			if len(problems) == 0 {
				problems = []string{f.Message}
			}
			if len(problems) != len(test.want) || f.Hint == "" {
				t.Fatalf("%q, want %q; hint %q", problems, test.want, f.Hint)
			}
			for i, want := range test.want {
				if !strings.Contains(problems[i], want) {
					t.Errorf("%q, want %q", problems[i], want)
				}
			}
			if strings.Contains(f.Message+strings.Join(problems, ""), "s3cret") {
				t.Errorf("the message has the password: %s", f.Message)
			}
		})
	}
}

// Whatever is parsed has no login, and is taken by what fetches it.
func FuzzParse(f *testing.F) {
	for _, arg := range []string{
		"-", "./x", "oci://h/r:t", "https://h/x.tgz", "git+https://h/r.git//d?ref=v1",
		"ssh://git@h/r?branch=b", "configmap/a=b,cm/c", "git@h:r", "https://u:p@h/",
	} {
		f.Add(arg, "", "", "", "")
		f.Add(arg, "main", "v1", commit, "dir")
	}
	f.Fuzz(func(t *testing.T, arg, branch, tag, hash, directory string) {
		target, err := source.Parse(arg, source.Flags{Branch: branch, Tag: tag, Commit: hash, Directory: directory})
		switch {
		case err != nil && fault.CodeOf(err) != fault.InvalidArgument:
			t.Fatal(err)
		case err != nil:
			return
		case (target.Path == "") == (target.Source == nil):
			t.Fatalf("%q is both or neither: %+v", arg, target)
		case target.Source == nil:
			return
		}
		if err := source.Check(*target.Source); err != nil {
			t.Fatalf("%q: %v", arg, err)
		}
		if text, err := json.Marshal(target.Source); err != nil || len(text) == 0 {
			t.Fatal(err)
		}
		if git := target.Source.Git; git != nil {
			again, err := source.Parse("git+"+git.Repository,
				source.Flags{
					Branch: git.Ref.Branch, Tag: git.Ref.Tag, Commit: git.Ref.Commit,
					Directory: git.Directory,
				})
			if diff := cmp.Diff(target, again); err != nil || diff != "" {
				t.Fatalf("%q is not read in the same way again: %v %s", arg, err, diff)
			}
		}
	})
}
