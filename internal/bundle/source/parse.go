package source

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/pattern"
	parts "github.com/berthdev/berth/internal/registry/image"
)

// Flags are what is given beside a SOURCE argument.
type Flags struct {
	Branch, Tag, Commit, Directory string // of a repository
	Version                        string // of a chart: one, or a range
	Secret                         string // with the login, of whatever is fetched from a server
}

// Target is what a SOURCE argument names: a path on this machine, or a source.
type Target struct {
	Path   string // see Local; empty if there is a source
	Source *v1alpha1.Source
}

const argumentHint = "write oci://HOST/REPOSITORY:TAG, git+https://HOST/REPOSITORY.git//DIRECTORY?tag=TAG, " +
	"ssh://git@HOST/REPOSITORY.git, " +
	"repo+https://HOST/PATH//CHART, https://HOST/FILE.tgz, https://HOST/FILE.yaml, configmap/NAME, " + localSources

// Parse reads a SOURCE argument. All that is wrong is reported together; what is
// reported never has a password in it.
//
//	oci://host/repository:tag              an image, or a chart that helm has pushed
//	git+https://host/repository.git        a commit of a repository; also git+ssh:// and ssh://;
//	  //directory?ref=v1                   ref, branch, tag or commit choose it, as the flags do
//	repo+https://host/charts//name         a chart of a repository, with a version or without
//	https://host/file.tgz                  an archive, or a file of YAML or JSON
//	configmap/one,configmap/two=dir        the files of ConfigMaps, in a directory
//	anything else                          a directory, an archive, a file of YAML or JSON, or - for standard input;
//	  directory//part                      a part of a directory
//
// A ref that is a full hash is a commit, one that looks like a version is a tag (v1,
// 1.2.3-rc.1), and any other is a branch.
func Parse(arg string, flags Flags) (Target, error) {
	p := &parser{}
	target := p.parse(arg, flags)
	if flags.Version != "" {
		p.version(target.Source, flags.Version)
	}
	if flags.Secret != "" {
		p.secret(target.Source, flags.Secret)
	}
	if err := together(p.problems, argumentHint); err != nil {
		return Target{}, err
	}
	return target, nil
}

type parser struct{ problems []string }

func (p *parser) wrong(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

func (p *parser) parse(arg string, flags Flags) Target {
	scheme, rest, isURL := strings.Cut(arg, "://")
	switch {
	case arg == "":
		p.wrong("SOURCE is empty")
	case strings.HasPrefix(arg, "configmap/"), strings.HasPrefix(arg, "configmaps/"), strings.HasPrefix(arg, "cm/"):
		p.gitOnly(flags)
		return Target{Source: p.configMaps(arg)}
	case !isURL || strings.Trim(scheme, schemeCharacters) != "":
		p.gitOnly(flags)
		if scp.MatchString(arg) {
			p.wrong("SOURCE has the form that git uses for SSH: write ssh://git@HOST/REPOSITORY.git")
		}
		return Target{Path: arg}
	case scheme == "oci":
		p.gitOnly(flags)
		return Target{Source: p.image(rest)}
	case strings.HasPrefix(scheme, "repo+"):
		p.gitOnly(flags)
		return Target{Source: p.chart(strings.TrimPrefix(arg, "repo+"))}
	case strings.HasPrefix(scheme, "git+"), scheme == "ssh", scheme == "git", isRepository(scheme, arg):
		return Target{Source: p.git(strings.TrimPrefix(arg, "git+"), flags)}
	case scheme == "https", scheme == "http":
		p.gitOnly(flags)
		return Target{Source: p.http(arg)}
	default:
		p.wrong("SOURCE has the unknown scheme %q", scheme)
	}
	return Target{}
}

const schemeCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."

// scp is git's other way to write a repository, which the local path with a colon that
// it may be as well does not have before its first slash.
const scp pattern.Expr = `^[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+:[^/]`

// isRepository recognizes the address that one copies from a page to clone it.
func isRepository(scheme, arg string) bool {
	address, err := url.Parse(arg)
	return err == nil && (scheme == "https" || scheme == "http") &&
		strings.HasSuffix(strings.TrimSuffix(address.Path, "/"), ".git")
}

func (p *parser) gitOnly(flags Flags) {
	for _, flag := range []struct{ name, value string }{
		{"--branch", flags.Branch}, {"--tag", flags.Tag}, {"--commit", flags.Commit}, {"--directory", flags.Directory},
	} {
		if flag.value != "" {
			p.wrong("%s is for git: write git+https://HOST/REPOSITORY.git", flag.name)
		}
	}
}

// secret names the Secret with the login of a source, in the field of its type.
func (p *parser) secret(s *v1alpha1.Source, name string) {
	if !objectName.MatchString(name) {
		p.wrong("--source-secret %q is not the name of a Secret", name)
	}
	auth := &v1alpha1.Authorization{Secret: v1alpha1.LocalReference{Name: name}}
	switch {
	case len(p.problems) > 0: // there may be no source
	case s != nil && s.Image != nil:
		s.Image.PullSecret = name
	case s != nil && s.Git != nil:
		s.Git.Auth = auth
	case s != nil && s.HTTP != nil:
		s.HTTP.Auth = auth
	case s != nil && s.Chart != nil:
		s.Chart.Auth = auth
	default:
		p.wrong("--source-secret is for what is fetched from a server: an image, a repository or an archive at a URL")
	}
}

// version sets which version of a chart is wanted, in the field of its type.
func (p *parser) version(s *v1alpha1.Source, wanted string) {
	switch {
	case len(p.problems) > 0: // there may be no source
	case s != nil && s.Chart != nil:
		s.Chart.Version = p.constraint(wanted)
	case s != nil && s.Image != nil:
		if at := parts.Parse(s.Image.Ref); at.Tag != "" || at.Digest != "" {
			p.wrong("--version is given, and SOURCE has a tag or a digest")
		}
		s.Image.Version = p.constraint(wanted)
	default:
		p.wrong("--version is for a chart of a registry or a repository: write oci://HOST/REPOSITORY " +
			"or repo+https://HOST/PATH//NAME")
	}
}

func (p *parser) constraint(wanted string) string {
	if _, err := constraint(wanted); err != nil {
		p.wrong("--version %q is neither a version nor a range of versions", wanted)
	}
	return wanted
}

// chart reads the address of a chart repository, which ends in the name of a chart.
func (p *parser) chart(text string) *v1alpha1.Source {
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "https" && scheme != "http" {
		p.wrong("SOURCE has the unknown scheme %q: a chart repository is read over https and http", "repo+"+scheme)
		return nil
	}
	if p.url(text, false) == nil {
		return nil
	}
	repository, name, _ := strings.Cut(rest, "//")
	switch {
	case strings.ContainsAny(rest, "?#"):
		p.wrong("SOURCE has a part after ? or #: a version is chosen with --version")
	case !chartName.MatchString(name):
		p.wrong("SOURCE does not name a chart: write repo+https://HOST/PATH//NAME")
	}
	return &v1alpha1.Source{
		Type:  v1alpha1.SourceChart,
		Chart: &v1alpha1.ChartSource{Repository: scheme + "://" + strings.TrimSuffix(repository, "/"), Name: name},
	}
}

func (p *parser) http(arg string) *v1alpha1.Source {
	if address := p.url(arg, false); address == nil {
		return nil
	}
	return &v1alpha1.Source{Type: v1alpha1.SourceHTTP, HTTP: &v1alpha1.HTTPSource{URL: arg}}
}

// url reads an address without a login; over SSH, a username is none.
func (p *parser) url(text string, ssh bool) *url.URL {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		p.wrong("SOURCE is not a valid URL") // what is wrong with it may be in its password
		return nil
	case address.Hostname() == "":
		p.wrong("SOURCE has no host")
	}
	if address.User == nil {
		return address
	}
	switch _, password := address.User.Password(); {
	case password && ssh:
		p.wrong("SOURCE has a password in it: use a key of your SSH agent, or --source-secret with ssh-privatekey")
	case !ssh:
		p.wrong("SOURCE has a login in it, which everybody could read: leave it out, and name a Secret " +
			"with --source-secret")
	}
	return address
}

// image takes a reference as registries write it; that it is valid is for the registry
// to say.
func (p *parser) image(ref string) *v1alpha1.Source {
	host, repository, ok := strings.Cut(ref, "/")
	switch {
	case strings.Contains(host, "@"):
		p.wrong("SOURCE has a login in it, which everybody could read: leave it out, and log in with `docker login`, " +
			"or name a Secret with --source-secret")
	case !ok || host == "" || strings.Trim(repository, "/") == "":
		p.wrong("SOURCE does not name a registry: write oci://HOST/REPOSITORY:TAG")
	case strings.ContainsAny(ref, " \t\r\n?#"):
		p.wrong("SOURCE is not a valid image: it has spaces or one of ?#")
	}
	return &v1alpha1.Source{Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: ref}}
}

// configMaps reads names with the directory that each is put into.
func (p *parser) configMaps(arg string) *v1alpha1.Source {
	s := &v1alpha1.Source{Type: v1alpha1.SourceConfigMaps}
	for part := range strings.SplitSeq(arg, ",") {
		kind, rest, _ := strings.Cut(part, "/")
		name, dir, _ := strings.Cut(rest, "=")
		if kind != "configmap" && kind != "configmaps" && kind != "cm" || name == "" || !objectName.MatchString(name) {
			p.wrong("%q is no ConfigMap: write configmap/NAME or configmap/NAME=DIRECTORY", part)
			continue
		}
		if dir != "" && !isInside(dir) {
			p.wrong("directory %q of configmap/%s is not below the root of the bundle", dir, name)
		}
		s.ConfigMaps = append(s.ConfigMaps,
			v1alpha1.ConfigMapSource{ConfigMap: v1alpha1.LocalReference{Name: name}, Path: dir})
	}
	return s
}

const objectName pattern.Expr = `^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`

// isInside reports whether a path stays below where it starts.
func isInside(dir string) bool {
	clean := path.Clean(dir)
	return !path.IsAbs(clean) && clean != ".." && !strings.HasPrefix(clean, "../")
}
