package topics

const output = `The result of a command goes to standard output. Everything else goes to standard
error: progress, warnings, errors, suggestions of what to type next. So the output of
any command can be piped.

--output (-o) chooses the format. Not every command has all of them; see its help.

  text            for people; may change with any version
  wide            text with more columns, and nothing is cut: as kubectl's, it may be
                  wider than the terminal
  name            only the names, one per line
  json, yaml      exactly one document, also on failure: then it is an Error
  jsonl           JSON Lines: each line is a document
  jsonpath=…      what the expression selects from the document, as in kubectl
  go-template=…   the document through a Go template

Expressions use the field names of the JSON:

  berth status alice~dev -o jsonpath='{.stage}'
  berth status -A -o jsonpath='{range .items[*]}{.id}{"\t"}{.stage}{"\n"}{end}'
  berth status -o jsonpath='{.items[?(@.stage=="Failed")].id}'
  berth status -o go-template='{{range .items}}{{.id}} {{.owner}}{{"\n"}}{{end}}'

JSON Lines come in two kinds; the kind of a line says which:

Commands with progress (provision, delete) print an Event when it happens. The last
line is not an Event but the document that --output json would print, which may be an
Error. Events are numbered from 1 without gaps: a missing number is a lost line.

A list (status) prints one Workspace per line. With --watch, also in json, that goes
on: first all that exist, then each one again whenever anything about it changes. No
change that the API server reports is left out; of what happens while it cannot be
reached, only the result is seen. One that was deleted, or that is no longer in a
stage that --stage asks for, is printed a last time; a deleted one has "gone": true,
and one of which only the pod is gone "startable": true as well, as berth start brings it
back. YAML documents are separated by ---, and expressions are evaluated for each Workspace
instead of the list. There is no last document: Ctrl-C ends it with status 130.

The exit status never depends on the format: see ` + "`berth help exit-codes`" + `.

What scripts can rely on, as long as apiVersion is berth.dev/v1:

Every document has an apiVersion and a kind. Times are RFC 3339 in UTC, durations are
seconds.

Documents only grow. A field keeps its name, type and meaning; new ones may be added
at any time. Read the fields that you know and skip the rest.

Empty fields are left out, unless their table says otherwise.

Values such as stages, statuses, codes and the kinds of an Event's content may be
added. The schemas name the current ones as x-known-values, and allow others. Handle
unknown values: a stage that you do not know is neither running nor failed.

Text is for people. Do not parse it.`
