package original

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/yamldoc"
)

// subject is a blueprint that is converted, with what it inherits.
type subject struct {
	*converter
	file  *file
	node  *yaml.Node
	name  string
	chain []*yaml.Node // the blueprint and its ancestors as they were, nearest first
	// missing is the template that ends the chain, as nobody has it; empty if nothing is missing.
	missing string
}

// convert converts the fields of a blueprint.
func (c *converter) convert(f *file, n *yaml.Node) {
	s := subject{converter: c, file: f, node: n, name: text(n, "name")}
	s.chain, s.missing = c.lineage(n)
	if f.custom() {
		s.name = ""
	}
	Adopt(n, func(at *yaml.Node, field, what string) { s.changed(at, field, what) })
	s.network()
	s.resources()
	s.podman()
	s.storages("storages")
	s.storages("podman", "storages")
	s.scripts()
	s.expressions("", n)
}

// lineage is a blueprint and its ancestors as they were, also those that are not among the files. missing is the
// template that ends it, as there is none of this name.
func (c *converter) lineage(n *yaml.Node) (chain []*yaml.Node, missing string) {
	chain = []*yaml.Node{yamldoc.Expand(n)}
	seen := []string{text(n, "name")}
	for {
		template := text(chain[len(chain)-1], "template")
		if template == "" || slices.Contains(seen, template) {
			return chain, ""
		}
		parent := c.written[template]
		if parent == nil && c.others != nil {
			parent = c.others(template)
		}
		if parent == nil {
			return chain, template
		}
		chain, seen = append(chain, parent), append(seen, template)
	}
}

// text is a scalar of a blueprint; empty if it is none, or an expression.
func text(n *yaml.Node, path ...string) string {
	at := slot(n, path...)
	if at == nil {
		return ""
	}
	if v := yamldoc.Resolve(*at); v.Kind == yaml.ScalarNode && !yamldoc.IsNull(v) && yamldoc.CustomTag(v) == "" {
		return v.Value
	}
	return ""
}

// inherits says whether the blueprint or one of its ancestors has something at a path.
func (s subject) inherits(path ...string) bool {
	return slices.ContainsFunc(s.chain, func(n *yaml.Node) bool { return slot(n, path...) != nil })
}

// inherited is the nearest text at a path.
func (s subject) inherited(path ...string) string {
	for _, n := range s.chain {
		if value := text(n, path...); value != "" {
			return value
		}
	}
	return ""
}

func (s subject) changed(at *yaml.Node, field, message string) {
	s.change(s.file, at, s.name, field, message)
}

func (s subject) differs(at *yaml.Node, field, message string) {
	s.changed(at, field, message)
	s.changes[len(s.changes)-1].Differs = true
}

func (s subject) network() {
	class := slot(s.node, "network", "networkPolicyClass")
	if class == nil {
		return
	}
	switch at := yamldoc.Resolve(*class); text(s.node, "network", "networkPolicyClass") {
	case blueprint.NetworkIsolated:
		at.Value = blueprint.NetworkWorkspace
		s.changed(at, "network.networkPolicyClass", "isolated is workspace: k8shell's reaches the internet and no "+
			"other workspace; berth's reaches nothing")
	case blueprint.NetworkWorkspace:
		s.differs(at, "network.networkPolicyClass", "workspaces of the same blueprint do not reach each other")
	}
}

func (s subject) resources() {
	const agent = "without an agent, cpu is asked for and not limited, and memory is asked for in full: k8shell asks " +
		"for 0.1 and 128Mi, and limits both"
	if at := slot(s.node, "resources"); at != nil && !s.inherits("k8shelld", "image") {
		s.differs(yamldoc.Resolve(*at), "resources", agent)
	}
}

func (s subject) podman() {
	if at := slot(s.node, "podman", "resources"); at != nil {
		s.differs(yamldoc.Resolve(*at), "podman.resources", "cpu is asked for and not limited, and memory is asked "+
			"for in full")
	}
	if at := slot(s.node, "podman", "enabled"); at != nil && !s.inherits("podman", "securityContext") {
		s.differs(yamldoc.Resolve(*at), "podman.enabled", "without a securityContext it runs as user and group "+
			"1000, not confined by AppArmor")
	}
}

// storages converts those at a path.
func (s subject) storages(path ...string) {
	outer := strings.Join(path, ".")
	var known []string
	for _, ancestor := range s.chain[1:] {
		known = append(known, namesAt(ancestor, path...)...)
	}
	each(s.node, func(key, storage *yaml.Node) {
		if storage.Kind == yaml.MappingNode {
			s.storage(below(outer, key.Value), key, storage, append(slices.Clone(path), key.Value))
		}
	}, path...)
	if s.missing != "" {
		undecided(s.node, known, func(key, _ *yaml.Node) {
			s.differs(key, below(outer, key.Value)+".enabled", "not given, and template "+s.missing+" is not known: "+
				"a storage that is new here is off to k8shell")
		}, path...)
		return
	}
	switchOff(s.node, known, func(at *yaml.Node, name string) {
		s.changed(at, below(outer, name)+".enabled", "a storage is off unless it is switched on")
	}, path...)
}

// storage drops what the type of a storage has no use for.
func (s subject) storage(field string, key, storage *yaml.Node, path []string) {
	var kind string
	if kind = s.inherited(append(slices.Clone(path), "type")...); kind == "" {
		return
	}
	claimed := kind == blueprint.StorageLocal || kind == blueprint.StorageShared
	has := func(name string) bool { return s.inherits(append(slices.Clone(path), name)...) }
	dropped := func(name string, unused bool, why string) {
		if at := find(storage, name); at != nil && unused {
			s.changed(yamldoc.Resolve(*at), field+"."+name, why)
			drop(storage, name)
		}
	}
	dropped("id", kind != blueprint.StorageShared, "left out: only shared storages have one")
	dropped("sizeLimit", claimed, "left out: the size of a claim is in claimSpec.resources")
	dropped("claimSpec", !claimed, "left out: type "+kind+" is no claim")
	dropped("claimSpecAnnotations", !claimed, "left out: type "+kind+" is no claim")
	dropped("existingClaim", !claimed || has("claimSpec"), "left out: k8shell makes a claim of its own, berth would "+
		"mount this one")
	if at := find(storage, "existingClaim"); at != nil {
		s.differs(yamldoc.Resolve(*at), field+".existingClaim", "this claim is mounted; k8shell ignores the field")
	}
	if find(storage, "type") != nil && !has("fsOwnerUid") && kind == blueprint.StorageLocal && !s.file.custom() &&
		s.inherited(append(slices.Clone(path), "readonly")...) != "true" && !s.inherits("k8shelld", "image") {
		s.differs(key, field, "without an agent it is given to nobody: set fsOwnerUid and fsOwnerGid; k8shell gives "+
			"it to the user")
	}
}

// badCharacter is one that names of init scripts cannot have.
var badCharacter = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// scripts gives init scripts names that they can have.
func (s subject) scripts() {
	at := slot(s.node, "initScripts")
	if at == nil || yamldoc.Resolve(*at).Kind != yaml.SequenceNode {
		return
	}
	for i, script := range yamldoc.Resolve(*at).Content {
		name := slot(script, "name")
		if name == nil || text(script, "name") == "" {
			continue
		}
		written := yamldoc.Resolve(*name)
		fits := badCharacter.ReplaceAllString(written.Value, "-")
		if strings.HasPrefix(fits, "-") || strings.HasPrefix(fits, ".") {
			fits = "_" + fits[1:]
		}
		if fits != written.Value {
			s.changed(written, fmt.Sprintf("initScripts[%d].name", i), "a name has letters, digits, _, - and . alone: "+
				fits)
			written.Value, written.Tag = fits, "!!str"
		}
	}
}

// expressions converts those of a value.
func (s subject) expressions(path string, n *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			s.expressions(below(path, n.Content[i].Value), n.Content[i+1])
		}
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			s.expressions(fmt.Sprintf("%s[%d]", path, i), item)
		}
	case layer.IsExpression(n):
		converted, notes := convertExpression(n.Value)
		if converted != n.Value {
			s.changed(n, path, "the expression is "+converted)
			n.Value = converted
		}
		for _, note := range notes {
			s.differs(n, path, note)
		}
	}
}
