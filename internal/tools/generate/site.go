package main

import (
	"fmt"
	"strconv"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// sourceURL is where the files of the checkout are to be seen.
const sourceURL = "https://github.com/berthdev/berth/blob/main/"

// causePages are the site's pages about causes: one for each, and an index of them.
func causePages(dir string) (files, error) {
	dumps, err := dumps()
	if err != nil {
		return nil, err
	}
	all := files{}
	var index strings.Builder
	index.WriteString("# Causes\n\nWhat keeps a workspace, a pod or a workload from running. Kubernetes' own words " +
		"for it are in brackets.\n")
	family := ""
	for _, e := range observed(dumps) {
		if e.Family != family {
			family = e.Family
			fmt.Fprintf(&index, "\n## %s\n\n", strings.ToUpper(family[:1])+family[1:])
		}
		name := strings.ToLower(e.Code)
		fmt.Fprintf(&index, "- [%s](./%s.md): %s", e.Code, name, markdown(e.Title))
		if len(e.Reasons) > 0 {
			fmt.Fprintf(&index, " (`%s`)", strings.Join(e.Reasons, "`, `"))
		}
		index.WriteString("\n")
		text, err := causePage(e, dumps[catalog.Lookup(e.Code).Example].File)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Code, err)
		}
		all[dir+"/"+name+".md"] = []byte(text)
	}
	all[dir+"/index.md"] = []byte(index.String())
	return all, nil
}

// causePage is the page about one cause. Its title has Kubernetes' own words, which people type into a search box.
func causePage(e v1.Explanation, dump string) (string, error) {
	title := e.Title
	if len(e.Reasons) > 0 {
		title = strings.Join(e.Reasons, ", ") + ": " + title
	}
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: %s\ndescription: %s\n---\n\n# %s\n\nberth calls this `%s`: `berth explain %s`.\n",
		strconv.Quote(title), strconv.Quote(e.Meaning), markdown(title), e.Code, e.Code)
	b.WriteString(listed("## What it looks like", e.Signs))
	fmt.Fprintf(&b, "\n## Why\n\n%s\n", markdown(e.Meaning))
	if e.Passes != "" {
		fmt.Fprintf(&b, "\nPasses by itself: %s\n", markdown(e.Passes))
	}
	b.WriteString(listed("## How to mend it", e.Remedies))
	b.WriteString(listed("## What becomes of the workspace", result.Explanation{Explanation: e}.Treatments()))
	example, err := exampleOf(e)
	if example != "" {
		b.WriteString("\n## What berth says\n" + example)
		fmt.Fprintf(&b, "\nThis is of a [dump](%s%s) that berth is tested with.\n", sourceURL, dump)
	}
	return b.String(), err
}
