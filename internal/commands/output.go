package commands

// output is the page about what is printed.
const output = `What a command was asked for goes to standard output, everything else to
standard error: progress, warnings, errors, proposals of what to type next. So
the output of any command can be piped, and what is piped is never mixed with
what is happening.

--output (-o) chooses the format. Not every command has all of them; its help
says which.

  text            for people; may change with any version
  wide            text with more columns
  name            the names alone, one a line
  json, yaml      exactly one document, also on failure: then it is an Error
  jsonl           JSON Lines: each line is a document of its own
  jsonpath=…      what the expression finds in the document, as kubectl has it
  go-template=…   the document through a Go template

Expressions use the names that the JSON has:

  berth status alice~dev -o jsonpath='{.stage}'
  berth status -A -o jsonpath='{range .items[*]}{.id}{"\t"}{.stage}{"\n"}{end}'
  berth status -o jsonpath='{.items[?(@.stage=="Failed")].id}'
  berth status -o go-template='{{range .items}}{{.id}} {{.owner}}{{"\n"}}{{end}}'

JSON Lines come in two kinds, and the kind of a line says which:

A command at work (provision, delete) prints an Event when it happens; the
last line is no Event but the document that --output json would have printed,
an Error included. Events are numbered from 1 without gaps: a number that is
missing is a line that was lost.

A list (status) prints one Workspace a line. With --watch, in json too, that
goes on: first all that there are, then each one again whenever anything about
it has changed. No change that the API server tells is left out; of what happens
while it cannot be reached, only what has come of it is seen.
One that is gone, or no longer in a stage that --stage asks for, is printed a
last time; gone says "gone": true. Yaml is separated by ---, and expressions
are evaluated for each Workspace instead of the list. There is no last
document, since there is no end: Ctrl-C ends it with status 130.

The exit status never depends on the format: see ` + "`berth help exit-codes`" + `.

What can be relied on, as long as apiVersion is berth.dev/v1:

Every document says its apiVersion and kind. Times are RFC 3339 in UTC,
durations are seconds.

Documents only grow. A field that is there keeps its name, type and meaning;
new ones may come at any time. Read what you know and skip the rest.

A field that has nothing to say is left out, unless its table says otherwise.

Words such as stages, statuses, codes and the kinds of an Event's content may
become more. The schemas name those that are known now as x-known-values, and
allow others. Whoever reads them needs a branch for the unknown: a stage that
one does not know is neither running nor failed.

Text is for people. Do not parse it.`
