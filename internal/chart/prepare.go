package chart

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/third_party/template"
)

// The names of functions that are put into templates: a step of a loop, what is printed, what a
// loop is over, and the execution of a template by its name.
const (
	tickFunction     = "berth_tick"
	outFunction      = "berth_out"
	rangeFunction    = "berth_range"
	templateFunction = "berth_template"
)

// maxNesting is how deep blocks and pipelines of one template may be inside each other.
const maxNesting = 200

// preparation puts calls of functions into templates, where text/template asks nobody: a
// loop may have no end, a value that is printed no bound, and templates may call each other
// for as long as there is a stack.
type preparation struct {
	// done has the templates that are prepared, and how deep their blocks are; nil to prepare nothing.
	done map[*parse.Tree]int
	out  []*parse.CommandNode // what is printed passes through it; the same for all
}

func newPreparation() preparation {
	return preparation{map[*parse.Tree]int{}, call(outFunction).Pipe.Cmds}
}

// all prepares the templates that have been parsed since the last time, which it gives.
func (p preparation) all(t *template.Template) (added []*parse.Tree, err error) {
	if p.done == nil {
		return nil, nil
	}
	for _, named := range t.Templates() {
		if named.Tree == nil {
			continue
		}
		if _, done := p.done[named.Tree]; done {
			continue
		}
		added = append(added, named.Tree)
		if err := p.one(named.Tree); err != nil {
			return added, err
		}
	}
	return added, nil
}

// one prepares a template.
func (p preparation) one(tree *parse.Tree) error {
	if p.done == nil {
		return nil
	}
	p.done[tree] = 0
	if err := p.list(tree, tree.Root, 0); err != nil {
		return fmt.Errorf("%s: %w", tree.ParseName, err)
	}
	return nil
}

// forget drops templates that are not used any more.
func (p preparation) forget(trees []*parse.Tree) {
	for _, tree := range trees {
		delete(p.done, tree)
	}
}

func (p preparation) list(tree *parse.Tree, list *parse.ListNode, depth int) error {
	if list == nil {
		return nil
	}
	if depth > maxNesting {
		return errNesting()
	}
	p.done[tree] = max(p.done[tree], depth)
	for i, node := range list.Nodes {
		var err error
		switch node := node.(type) {
		case *parse.ActionNode:
			if err = p.pipeline(tree, node.Pipe, depth); err == nil && len(node.Pipe.Decl) == 0 {
				node.Pipe.Cmds = append(node.Pipe.Cmds, p.out...)
			}
		case *parse.IfNode:
			err = p.branch(tree, &node.BranchNode, depth)
		case *parse.WithNode:
			err = p.branch(tree, &node.BranchNode, depth)
		case *parse.RangeNode:
			if err = p.branch(tree, &node.BranchNode, depth); err == nil {
				node.Pipe.Cmds = append(node.Pipe.Cmds, placed(tree, node.Line, rangeFunction).Pipe.Cmds...)
				node.List.Nodes = append([]parse.Node{placed(tree, node.Line, tickFunction)}, node.List.Nodes...)
			}
		case *parse.TemplateNode:
			if err = p.pipeline(tree, node.Pipe, depth); err == nil {
				list.Nodes[i] = execution(tree, node)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func errNesting() error {
	return budget.LimitError(fmt.Sprintf("blocks and pipelines nested more than %d deep", maxNesting))
}

func (p preparation) branch(tree *parse.Tree, node *parse.BranchNode, depth int) error {
	if err := p.pipeline(tree, node.Pipe, depth); err != nil {
		return err
	}
	if err := p.list(tree, node.List, depth+1); err != nil {
		return err
	}
	return p.list(tree, node.ElseList, depth+1)
}

// pipeline checks how deep a pipeline is, and prepares the methods that it calls.
func (p preparation) pipeline(tree *parse.Tree, node parse.Node, depth int) error {
	if depth > maxNesting {
		return errNesting()
	}
	switch node := node.(type) {
	case *parse.PipeNode:
		if node == nil {
			return nil
		}
		for _, command := range node.Cmds {
			for _, arg := range command.Args {
				if err := p.pipeline(tree, arg, depth+1); err != nil {
					return err
				}
			}
		}
		p.methods(tree, node)
	case *parse.ChainNode:
		return p.pipeline(tree, node.Node, depth+1)
	}
	return nil
}

// execution is {{ template "name" pipeline }} as a call of a function. Errors have its line.
func execution(tree *parse.Tree, node *parse.TemplateNode) *parse.ActionNode {
	action := placed(tree, node.Line, templateFunction+" "+strconv.Quote(node.Name))
	if node.Pipe != nil {
		command := action.Pipe.Cmds[0]
		command.Args = append(command.Args, node.Pipe)
	}
	action.Line, action.Pos = node.Line, node.Pos
	return action
}

// placed is an action that stands in a line of a template.
func placed(tree *parse.Tree, line int, text string) *parse.ActionNode {
	if line > maxPlace {
		return call(text)
	}
	return callAt(tree.ParseName, line, text)
}

// maxPlace is the last line whose number is in an error of {{ template }}: it takes as many
// lines to be parsed.
const maxPlace = 2000

// ownName is that of templates which are put into others: their place says nothing.
const ownName = "berth"

// call is an action that calls a function.
func call(text string) *parse.ActionNode { return callAt(ownName, 1, text) }

// callAt is an action in a line of a template.
func callAt(name string, line int, text string) *parse.ActionNode {
	function := map[string]any{}
	for _, name := range []string{
		tickFunction, outFunction, rangeFunction, templateFunction, methodFunction,
		layoutFunction, pathFunction,
	} {
		function[name] = reflect.ValueOf
	}
	trees, err := parse.Parse(name, strings.Repeat("\n", line-1)+"{{"+text+"}}", "", "", function)
	if err != nil {
		panic(err) // the text is made here
	}
	nodes := trees[name].Root.Nodes
	action, _ := nodes[len(nodes)-1].(*parse.ActionNode)
	return action
}

// The names of functions that are put in front of methods, which text/template calls without
// asking anybody, and of their arguments.
const (
	methodFunction = "berth_method"
	layoutFunction = "berth_layout"
	pathFunction   = "berth_path"
)

// makers are the methods that make something of what they belong to: files, values and times.
func makers() []string {
	return []string{"AsConfig", "AsSecrets", "Get", "Glob", "Lines", "YAML", methodFormat, methodAppend}
}

// The methods that make something of their argument.
const (
	methodFormat = "Format"
	methodAppend = "AppendFormat"
)

// methods lets the receivers of methods pass through a function: .Files.AsConfig becomes
// (.Files | berth_method "AsConfig").AsConfig.
func (p preparation) methods(tree *parse.Tree, pipe *parse.PipeNode) {
	for i := 0; i < len(pipe.Cmds); i++ {
		command := pipe.Cmds[i]
		for j, arg := range command.Args {
			command.Args[j] = through(tree, pipe.Line, arg)
		}
		function := ofArguments(command.Args[0])
		if function == "" {
			continue
		}
		for j, arg := range command.Args[1:] {
			command.Args[j+1] = checked(tree, pipe.Line, function, arg)
		}
		if i > 0 {
			pipe.Cmds = slices.Insert(pipe.Cmds, i, placed(tree, pipe.Line, function).Pipe.Cmds...)
			i++
		}
	}
}

// ofArguments is the function that the arguments of a method pass through, empty for none.
func ofArguments(node parse.Node) string {
	_, fields := parted(node)
	if len(fields) == 0 {
		return ""
	}
	switch fields[len(fields)-1] {
	case methodFormat, methodAppend:
		return layoutFunction
	case "Table", "PathValue": // what is not found is quoted in an error
		return pathFunction
	}
	return ""
}

// through is a node whose methods are called on what has passed through the function.
func through(tree *parse.Tree, line int, node parse.Node) parse.Node {
	receiver, fields := parted(node)
	start, found := 0, false
	for i, name := range fields {
		if !slices.Contains(makers(), name) {
			continue
		}
		if i > start {
			receiver = chained(receiver, fields[start:i])
		}
		receiver = checked(tree, line, methodFunction+" "+strconv.Quote(name), receiver)
		start, found = i, true
	}
	if !found {
		return node
	}
	return chained(receiver, fields[start:])
}

// parted is what a chain of fields begins with, and the fields.
func parted(node parse.Node) (receiver parse.Node, fields []string) {
	switch node := node.(type) {
	case *parse.FieldNode:
		return &parse.DotNode{NodeType: parse.NodeDot, Pos: node.Pos}, node.Ident
	case *parse.VariableNode:
		return &parse.VariableNode{NodeType: parse.NodeVariable, Pos: node.Pos, Ident: node.Ident[:1]}, node.Ident[1:]
	case *parse.ChainNode:
		return node.Node, node.Field
	}
	return node, nil
}

// chained are fields of a node.
func chained(node parse.Node, fields []string) parse.Node {
	return &parse.ChainNode{NodeType: parse.NodeChain, Pos: node.Position(), Node: node, Field: fields}
}

// checked is a node that passes through a function.
func checked(tree *parse.Tree, line int, function string, node parse.Node) parse.Node {
	pipe := placed(tree, line, ". | "+function).Pipe
	pipe.Cmds[0].Args[0] = node
	return pipe
}
