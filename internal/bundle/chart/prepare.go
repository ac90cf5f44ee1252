package chart

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/berthdev/berth/internal/bundle/chart/budget"
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
	// done has the templates that are prepared, and how deep their blocks are.
	done map[*parse.Tree]int
}

// all prepares the templates that have been parsed since the last time, which it gives.
func (p preparation) all(t *template.Template) (added []*parse.Tree, err error) {
	for _, named := range t.Templates() {
		if named.Tree == nil {
			continue
		}
		if _, done := p.done[named.Tree]; done {
			continue
		}
		p.done[named.Tree] = 0
		added = append(added, named.Tree)
		if err := p.list(named.Tree, named.Root, 0); err != nil {
			return added, fmt.Errorf("%s: %w", named.ParseName, err)
		}
	}
	return added, nil
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
				node.Pipe.Cmds = append(node.Pipe.Cmds, call(outFunction).Pipe.Cmds...)
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
