package identity

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Document is a list of users, in a file or in a ConfigMap.
type Document struct {
	// Users of this document.
	Users []Entry `yaml:"users"`
}

// Entry is one user, as written.
type Entry struct {
	// Username is what stands first in a user string: lower case.
	Username string `yaml:"username"`
	// UID is the number of the user inside of workspaces; 1000 if not given.
	UID *int `yaml:"uid"`
	// GID is the number of the user's group; 1000 if not given.
	GID *int `yaml:"gid"`
	// Fullname is for people.
	Fullname string `yaml:"fullname"`
	// Email is for people.
	Email string `yaml:"email"`
	// Organization is whose user this is. Network policies go by it.
	Organization string `yaml:"organization"`
	// Roles are for expressions in blueprints.
	Roles []string `yaml:"roles"`
	// Blueprints are the platform blueprints that the user may use. The text * is
	// all of them, and so is leaving it out; an empty list is none.
	Blueprints []string `yaml:"blueprints"`
	// Sudo says that the user may become root inside of workspaces.
	Sudo bool `yaml:"sudo"`
	// Status is active, locked or invalid; active if not given.
	Status Status `yaml:"status"`
	// CustomBlueprints are blueprints of the user's own, by name.
	CustomBlueprints map[string]map[string]any `yaml:"customBlueprints"`
}

// record is an entry that has been read.
type record struct {
	user    User
	customs map[string]Custom
}

// parseDocument reads a document strictly: all that is wrong with it is told
// together, each with its place.
func parseDocument(file, provider string, raw []byte) (map[string]record, error) {
	top, problems := yamldoc.Read(file, "a document of users", raw)
	s := &yamldoc.Shape{File: file, Problems: problems}
	records := map[string]record{}
	if top != nil {
		s.Check(top, reflect.TypeFor[Document]())
		readUsers(s, top, provider, records)
	}
	if len(s.Problems) == 0 {
		return records, nil
	}
	err := fault.New(fault.InvalidArgument, "the users of identity provider %s cannot be read", provider)
	err.Problems = s.Problems
	return nil, err.WithHint("mend the lines named above; the fields are described in docs/identity.md")
}

func readUsers(s *yamldoc.Shape, top *yaml.Node, provider string, records map[string]record) {
	list := yamldoc.Field(top, "users")
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	lines := map[string]int{}
	for _, node := range list.Content {
		node = yamldoc.Behind(node)
		if node.Kind != yaml.MappingNode {
			continue
		}
		var e Entry
		// What does not fit has been found by the shape; the rest is looked at.
		_ = yamldoc.Flat(node).Decode(&e)
		at := node
		if name := yamldoc.Field(node, "username"); name != nil {
			at = name
		}
		switch first, twice := lines[e.Username]; {
		case !isUsername(e.Username):
			s.Say(at, "username %q is none: lower-case letters, digits, _ and -", e.Username)
		case twice:
			s.Say(at, "user %q stands on line %d already", e.Username, first)
		}
		lines[e.Username] = at.Line
		checkEntry(s, node, e)
		records[e.Username] = e.record(s, node, provider)
	}
}

func checkEntry(s *yamldoc.Shape, node *yaml.Node, e Entry) {
	if e.Status != "" && !slices.Contains([]Status{Active, Locked, Invalid}, e.Status) {
		s.Say(yamldoc.Field(node, "status"), "status %q is none of active, locked, invalid", e.Status)
	}
	for name, id := range map[string]*int{"uid": e.UID, "gid": e.GID} {
		if id != nil && (*id < 0 || *id > 1<<31-1) {
			s.Say(yamldoc.Field(node, name), "%s %d is out of range: 0 to %d", name, *id, 1<<31-1)
		}
	}
}

func (e Entry) record(s *yamldoc.Shape, node *yaml.Node, provider string) record {
	user := newUser(e.Username, provider)
	if e.UID != nil {
		user.UID = *e.UID
	}
	if e.GID != nil {
		user.GID = *e.GID
	}
	if e.Status != "" {
		user.Status = e.Status
	}
	if e.Blueprints != nil {
		user.Blueprints = e.Blueprints
	}
	user.Fullname, user.Email, user.Organization, user.Roles, user.Sudo = e.Fullname, e.Email, e.Organization, e.Roles, e.Sudo
	r := record{user: user, customs: map[string]Custom{}}
	customs := yamldoc.Field(node, "customBlueprints")
	if customs == nil || customs.Kind != yaml.MappingNode {
		return r
	}
	s.Pairs(customs, func(key, value *yaml.Node) {
		// Kept as written: tags such as !cel are the blueprint's business.
		body, err := yaml.Marshal(yamldoc.Flat(value))
		if err != nil {
			s.Say(value, "blueprint %q: %v", key.Value, err)
			return
		}
		r.customs[strings.ToLower(key.Value)] = Custom{YAML: body, Origin: fmt.Sprintf("%s:%d", s.File, key.Line)}
	})
	return r
}

func isUsername(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}
