package chart

import (
	"fmt"
	"reflect"
	"strconv"
	"text/template"
	"text/template/parse"
)

// The names of functions that are put into templates: a step of a loop, what is printed, and
// the execution of a template by its name.
const (
	tickFunction     = "berth_tick"
	outFunction      = "berth_out"
	templateFunction = "berth_template"
)

// maxNesting is how deep blocks and pipelines of one template may be inside each other.
const maxNesting = 200

// preparation puts calls of functions into templates, where text/template asks nobody: a
// loop may have no end, a value that is printed no bound, and templates may call each other
// for as long as there is a stack.
type preparation struct {
	done map[*parse.Tree]bool
}

// all prepares the templates that have been parsed since the last time.
func (p preparation) all(t *template.Template) error {
	for _, named := range t.Templates() {
		if named.Tree == nil || p.done[named.Tree] {
			continue
		}
		p.done[named.Tree] = true
		if err := p.list(named.Root, 0); err != nil {
			return fmt.Errorf("%s: %w", named.ParseName, err)
		}
	}
	return nil
}

func (p preparation) list(list *parse.ListNode, depth int) error {
	if list == nil {
		return nil
	}
	if depth > maxNesting {
		return limitError(fmt.Sprintf("blocks nested more than %d deep", maxNesting))
	}
	for i, node := range list.Nodes {
		var err error
		switch node := node.(type) {
		case *parse.ActionNode:
			if err = pipeline(node.Pipe, depth); err == nil && len(node.Pipe.Decl) == 0 {
				node.Pipe.Cmds = append(node.Pipe.Cmds, call(outFunction).Pipe.Cmds...)
			}
		case *parse.IfNode:
			err = p.branch(&node.BranchNode, depth)
		case *parse.WithNode:
			err = p.branch(&node.BranchNode, depth)
		case *parse.RangeNode:
			if err = p.branch(&node.BranchNode, depth); err == nil {
				node.List.Nodes = append([]parse.Node{call(tickFunction)}, node.List.Nodes...)
			}
		case *parse.TemplateNode:
			if err = pipeline(node.Pipe, depth); err == nil {
				list.Nodes[i] = execution(node)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p preparation) branch(node *parse.BranchNode, depth int) error {
	if err := pipeline(node.Pipe, depth); err != nil {
		return err
	}
	if err := p.list(node.List, depth+1); err != nil {
		return err
	}
	return p.list(node.ElseList, depth+1)
}

// pipeline checks how deep a pipeline is.
func pipeline(node parse.Node, depth int) error {
	if depth > maxNesting {
		return limitError(fmt.Sprintf("pipelines nested more than %d deep", maxNesting))
	}
	switch node := node.(type) {
	case *parse.PipeNode:
		if node == nil {
			return nil
		}
		for _, command := range node.Cmds {
			for _, arg := range command.Args {
				if err := pipeline(arg, depth+1); err != nil {
					return err
				}
			}
		}
	case *parse.ChainNode:
		return pipeline(node.Node, depth+1)
	}
	return nil
}

// execution is {{ template "name" pipeline }} as a call of a function.
func execution(node *parse.TemplateNode) *parse.ActionNode {
	action := call(templateFunction + " " + strconv.Quote(node.Name))
	if node.Pipe != nil {
		command := action.Pipe.Cmds[0]
		command.Args = append(command.Args, node.Pipe)
	}
	action.Line, action.Pos = node.Line, node.Pos
	return action
}

// call is an action.
func call(text string) *parse.ActionNode {
	function := map[string]any{tickFunction: reflect.ValueOf, outFunction: reflect.ValueOf, templateFunction: reflect.ValueOf}
	trees, err := parse.Parse("berth", "{{"+text+"}}", "", "", function)
	if err != nil {
		return &parse.ActionNode{NodeType: parse.NodeAction, Pipe: &parse.PipeNode{NodeType: parse.NodePipe}}
	}
	action, _ := trees["berth"].Root.Nodes[0].(*parse.ActionNode)
	return action
}
