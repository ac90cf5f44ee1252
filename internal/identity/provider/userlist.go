package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// userList knows the users of a document, which is read with the first question,
// and again with the next one if that failed.
type userList struct {
	kind string
	load func(ctx context.Context) (file string, raw []byte, err error)

	mu      sync.Mutex
	records map[string]record
}

// fileList is the document in a file.
func fileList(path string) *userList {
	return &userList{kind: KindFile, load: func(context.Context) (string, []byte, error) {
		raw, err := yamldoc.ReadFile(path)
		return path, raw, err
	}}
}

// configMapList is the document under a key of a ConfigMap.
func configMapList(client kube.Interface, namespace, name, key string) *userList {
	return &userList{kind: KindConfigMap, load: func(ctx context.Context) (string, []byte, error) {
		origin := fmt.Sprintf("configmap %s/%s[%s]", namespace, name, key)
		m, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			err = kube.Fault(err, kube.Call{Verb: "get", Resource: "configmaps", Namespace: namespace, Name: name})
			if fault.CodeOf(err) == fault.NotFound {
				err = errors.New(err.Error()) // the list is missing, not a user
			}
			return origin, nil, err
		}
		text, ok := m.Data[key]
		if !ok {
			return origin, nil, fmt.Errorf("%s: key not found", origin)
		}
		return origin, []byte(text), nil
	}}
}

// Resolve looks the user up.
func (l *userList) Resolve(ctx context.Context, username string) (identity.User, error) {
	r, ok, err := l.find(ctx, username)
	if err == nil && !ok {
		err = identity.Unknown(username, l.kind)
	}
	return r.user, err
}

// Caller is not known from a list.
func (*userList) Caller(context.Context) (string, error) { return "", nil }

// Custom is the blueprint that the user owns by that name.
func (l *userList) Custom(ctx context.Context, u userstring.UserString) (*blueprint.Source, error) {
	if u.Form() != userstring.Explicit {
		return nil, identity.ErrNotResponsible
	}
	r, _, err := l.find(ctx, u.User)
	if err != nil {
		return nil, err
	}
	if custom, ok := r.customs[u.Blueprint]; ok {
		return &custom, nil
	}
	return nil, identity.ErrNotResponsible
}

func (l *userList) find(ctx context.Context, username string) (record, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.records == nil {
		file, raw, err := l.load(ctx)
		if err != nil {
			return record{}, false, err
		}
		if l.records, err = parseDocument(file, l.kind, raw); err != nil {
			return record{}, false, err
		}
	}
	r, ok := l.records[username]
	return r, ok, nil
}

// Document is a list of users, in a file or in a ConfigMap.
type Document struct {
	// Users of this document.
	Users []Entry `yaml:"users"`
}

// Entry is one user as written.
type Entry struct {
	// Username is the first part of a canonical user string, as `berth resolve` prints it.
	Username string `yaml:"username"`
	// UID is the number of the user in workspaces; 1000 if not given.
	UID int `yaml:"uid"`
	// GID is the number of the user's group; 1000 if not given.
	GID int `yaml:"gid"`
	// Fullname is for people.
	Fullname string `yaml:"fullname"`
	// Email is for people.
	Email string `yaml:"email"`
	// Organization is the one that the user belongs to; network policies depend on it.
	Organization string `yaml:"organization"`
	// Roles are for expressions in blueprints.
	Roles []string `yaml:"roles"`
	// Blueprints are the platform blueprints that the user may use. The text * is
	// all of them, as is leaving it out; an empty list allows none.
	Blueprints []string `yaml:"blueprints"`
	// Sudo lets the user become root in workspaces.
	Sudo bool `yaml:"sudo"`
	// Status is active, locked or invalid; active if not given.
	Status identity.Status `yaml:"status"`
	// CustomBlueprints are blueprints of the user's own, by name.
	CustomBlueprints map[string]map[string]any `yaml:"customBlueprints"`
}

// record is what is known of a user.
type record struct {
	user    identity.User
	customs map[string]blueprint.Source
}

// parseDocument reads a document strictly. The problems of the error are all that is wrong with it, with their places.
func parseDocument(file, kind string, raw []byte) (map[string]record, error) {
	top, problems := yamldoc.Read(file, raw)
	s := &yamldoc.Checker{File: file, Problems: problems}
	records := map[string]record{}
	if top != nil {
		s.Check(top, reflect.TypeFor[Document]())
		readUsers(s, top, kind, records)
	}
	if len(s.Problems) == 0 {
		return records, nil
	}
	err := fault.New(fault.InvalidArgument, "invalid users of identity provider %s", kind)
	err.Problems = yamldoc.Report(s.Problems, nil)
	return nil, err.WithHint("correct the lines above; docs/identity.md describes the fields")
}

func readUsers(s *yamldoc.Checker, top *yaml.Node, kind string, records map[string]record) {
	list := yamldoc.Field(top, "users")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	lines := map[string]int{}
	for _, node := range list.Content {
		node = yamldoc.Resolve(node)
		if node.Kind != yaml.MappingNode {
			continue
		}
		defaults := identity.NewUser("", kind)
		e := Entry{UID: defaults.UID, GID: defaults.GID}
		_ = yamldoc.Expand(node).Decode(&e) // Check has reported what does not fit
		at := place(node, "username")
		username, legal := usernameIn(e.Username)
		switch first, duplicate := lines[username]; {
		case !legal:
			s.Problemf(at, "invalid username %q: use lower-case letters, digits, . _ - and @, and write all else as "+
				"in a canonical user string", e.Username)
		case duplicate:
			s.Problemf(at, "duplicate user %q (first on line %d)", e.Username, first)
		}
		e.Username, lines[username] = username, at.Line
		e.check(s, node)
		own := customs(s, yamldoc.Field(node, "customBlueprints"))
		records[e.Username] = record{user: e.user(defaults), customs: own}
	}
}

// usernameIn is the username that a document has written as a canonical user string has it.
func usernameIn(text string) (username string, legal bool) {
	isSimple := func(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '-' }
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !isSimple(r) }) < 0 {
		return text, true
	}
	u, err := userstring.Parse(text)
	return u.User, err == nil && u.Form() == userstring.Implicit && u.String() == text
}

func (e Entry) check(s *yamldoc.Checker, node *yaml.Node) {
	if e.Status != "" && !slices.Contains([]identity.Status{identity.Active, identity.Locked, identity.Invalid},
		e.Status) {
		s.Problemf(yamldoc.Field(node, "status"), "status %q: must be one of active, locked, invalid", e.Status)
	}
	for name, id := range map[string]int{"uid": e.UID, "gid": e.GID} {
		if id < 0 || id > math.MaxInt32 {
			s.Problemf(yamldoc.Field(node, name), "%s %d is out of range: must be from 0 to %d", name, id,
				math.MaxInt32)
		}
	}
}

// user is the user, from one that has the defaults.
func (e Entry) user(user identity.User) identity.User {
	if e.Blueprints != nil {
		user.Blueprints = e.Blueprints
	}
	user.Status = cmp.Or(e.Status, user.Status)
	user.Username, user.UID, user.GID = e.Username, e.UID, e.GID
	user.Fullname, user.Email, user.Organization, user.Roles, user.Sudo = e.Fullname, e.Email, e.Organization, e.Roles,
		e.Sudo
	return user
}

// customs are the blueprints that a user owns, by name. They stay as written:
// tags such as !cel are evaluated with the blueprint.
func customs(s *yamldoc.Checker, node *yaml.Node) map[string]blueprint.Source {
	all := map[string]blueprint.Source{}
	if node == nil || node.Kind != yaml.MappingNode {
		return all
	}
	s.Pairs(node, func(key, value *yaml.Node) {
		text, err := yaml.Marshal(yamldoc.Expand(value))
		if err != nil {
			s.Problemf(value, "blueprint %q: %v", key.Value, err)
			return
		}
		all[strings.ToLower(key.Value)] = blueprint.Source{Name: fmt.Sprintf("%s:%d", s.File, key.Line), Text: text}
	})
	return all
}
