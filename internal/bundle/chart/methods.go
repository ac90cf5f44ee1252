package chart

import (
	"slices"
	"strconv"
	"text/template/parse"
)

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
