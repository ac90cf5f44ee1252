package sshconfig

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// listed begins the line of a block that says which workspaces it names one by one.
const listed = "# --list: the workspaces of namespace "

// Move is a workspace that came, or that has gone.
type Move struct {
	Namespace, ID string
	Gone          bool
}

// Listed are the workspaces that a block names one by one, and their namespace; false if it names none but by its
// pattern.
func Listed(text []byte, name string) (namespace string, ids []string, ok bool) {
	blocks, _ := parseBlocks(text)
	namespace, ids, _, ok = takeApart(name, blocks[name])
	return namespace, ids, ok
}

// Follow brings the lists of berth's own file up to date, in the blocks whose proxy finds the cluster by these words
// and that list the namespace of a workspace that moved. A file in which nothing changes stays as it is, and so does
// one of somebody else.
func Follow(old []byte, cluster []string, moves []Move) []byte {
	return follow(old, func(block string) bool { return leads(block, cluster) }, moves)
}

// Follows says whether there is a list that the workspaces would change, whatever cluster it is of.
func Follows(old []byte, moves []Move) bool {
	return !bytes.Equal(follow(old, func(string) bool { return true }, moves), old)
}

func follow(old []byte, concerns func(block string) bool, moves []Move) []byte {
	blocks, err := parseBlocks(old)
	if err != nil {
		return old
	}
	changed := false
	for name, block := range maps.Clone(blocks) {
		namespace, ids, rest, ok := takeApart(name, block)
		if !ok || !concerns(block) {
			continue
		}
		if ids, moved := moveAll(ids, namespace, moves); moved {
			changed = true
			blocks[name] = Block{Name: name, Hosts: ids, Namespace: namespace}.list() + rest
		}
	}
	if !changed {
		return old
	}
	return join(blocks)
}

// moveAll are the IDs after the moves in their namespace; false if they are the same.
func moveAll(ids []string, namespace string, moves []Move) (after []string, moved bool) {
	after = slices.Clone(ids)
	for _, m := range moves {
		there := slices.Contains(after, m.ID)
		switch {
		case m.Namespace != namespace || !isHost(m.ID) || there != m.Gone:
			continue
		case m.Gone:
			after = slices.DeleteFunc(after, func(id string) bool { return id == m.ID })
		default:
			after = append(after, m.ID)
		}
		moved = true
	}
	return after, moved
}

// list are the lines of a block before its pattern.
func (b Block) list() string {
	var t strings.Builder
	if b.Namespace != "" {
		t.WriteString(listed + `"` + b.Namespace + "\"\n")
	}
	for _, host := range b.HostNames() {
		t.WriteString("Host " + host + "\n") // what is set for it is below
	}
	return t.String()
}

// takeApart divides a block into its list and the rest; false if it has no list.
func takeApart(name, block string) (namespace string, ids []string, rest string, ok bool) {
	first, rest, _ := strings.Cut(block, "\n")
	first, begins := strings.CutPrefix(first, listed+`"`)
	namespace, ends := strings.CutSuffix(first, `"`)
	if !begins || !ends || namespace == "" {
		return "", nil, block, false
	}
	for {
		line, after, _ := strings.Cut(rest, "\n")
		host, isLine := strings.CutPrefix(line, "Host ")
		id, isOurs := strings.CutSuffix(host, "."+DomainOf(name))
		if !isLine || !isOurs || !isHost(id) {
			return namespace, ids, rest, true
		}
		ids, rest = append(ids, id), after
	}
}

// isHost says whether an ID stands for itself in a line of hosts, and not for a pattern or for several.
func isHost(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._", r)
	})
}

// Leads says whether the proxy of a block is called with all these words, and finds its cluster by no other.
func Leads(text []byte, name string, words []string) bool {
	blocks, _ := parseBlocks(text)
	block, ok := blocks[name]
	return ok && leads(block, words)
}

func leads(block string, words []string) bool {
	wanted := make([]string, len(words))
	for i, word := range words {
		wanted[i] = quote(word)
	}
	called := proxyOf(block)
	for _, word := range wanted {
		if !slices.Contains(called, word) {
			return false
		}
	}
	return !slices.ContainsFunc(called, func(word string) bool {
		return decides(strings.TrimPrefix(word, `"`)) && !slices.Contains(wanted, word)
	})
}

// Deciding are those of a proxy's words that say which cluster is meant.
func Deciding(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !decides(word) })
}

func decides(word string) bool {
	return slices.ContainsFunc([]string{"KUBECONFIG=", "--kubeconfig=", "--context=", "--cluster=", "--server="},
		func(prefix string) bool { return strings.HasPrefix(word, prefix) })
}

// proxyOf are the words of the command that serves the connections of a block, as they are written there.
func proxyOf(block string) (words []string) {
	line := ""
	for l := range strings.Lines(block) { // the user's own options come first
		if command, ok := strings.CutPrefix(l, "  ProxyCommand "); ok {
			line = strings.TrimRight(command, "\n")
		}
	}
	quoted, escaped, begin := false, false, 0
	for i, r := range line + " " {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			words, begin = append(words, line[begin:i]), i+1
		}
	}
	return words
}
